import { requireSupportedCdk } from './construct/supported-cdk';

requireSupportedCdk();

export type { BaseBundledFunctionOptions, BundledFunctionOptions, IBundledFunction } from './function/bundled-function';
export type { IQueryFunction } from './function/query-function';
export { CqlType } from './keyspaces/cql-type';
export {
  type KeyspacesAutoscaledCapacityOptions,
  KeyspacesBilling,
  KeyspacesCapacity,
  type KeyspacesProvisionedThroughput,
} from './keyspaces/keyspaces-billing';
export {
  type IKeyspacesFanOutQueryFunction,
  KeyspacesFanOutQueryFunction,
  type KeyspacesFanOutQueryFunctionProps,
} from './keyspaces/keyspaces-fan-out-query-function';
export {
  type IShardedKeyspacesTable,
  type KeyspacesTableBindingOptions,
  ShardedKeyspacesTable,
  type ShardedKeyspacesTableAttributes,
} from './keyspaces/sharded-keyspaces-table';
export { ShardedKeyspacesTableGrants } from './keyspaces/sharded-keyspaces-table-grants';
export {
  ClusteringOrder,
  KeyspacesChangeView,
  type KeyspacesClusteringColumn,
  type KeyspacesColumn,
  type ShardedKeyspacesTableOptions,
  type ShardedKeyspacesTableProps,
} from './keyspaces/sharded-keyspaces-table-options';
export type { WatchedAlarms } from './monitoring/alarm-definition';
export {
  type ConsumerAlarms,
  type ConsumerMonitoringOptions,
  StreamConsumerMetrics,
} from './monitoring/consumer-monitoring';
export type { DaxAlarms, DaxMonitoringOptions } from './monitoring/dax-monitoring';
export type { ProducerAlarms, ProducerMonitoringOptions } from './monitoring/function-monitoring';
export type { IndexAlarms, IndexMonitoringOptions } from './monitoring/index-monitoring';
export type { IndexKeeperAlarms, IndexKeeperMonitoringOptions } from './monitoring/keeper-monitoring';
export type { OutboxAlarms, OutboxMonitoringOptions } from './monitoring/outbox-monitoring';
export type { QueryAlarms, QueryMonitoringOptions } from './monitoring/query-monitoring';
export type { DeadLetterQueueAlarms, DeadLetterQueueMonitoringOptions } from './monitoring/queue-monitoring';
export { ShardMonitoring, type ShardMonitoringProps } from './monitoring/shard-monitoring';
export type { StreamAlarms, StreamMonitoringOptions } from './monitoring/stream-monitoring';
export { StreamShardMetrics } from './monitoring/stream-shard-metrics';
export type { TableAlarms, TableMonitoringOptions } from './monitoring/table-monitoring';
export { OutboxRelayDatabase, type OutboxRelayDatabaseOptions } from './outbox/outbox-relay-database';
export {
  type IOutboxRelayFunction,
  type OutboxCloudEventsOptions,
  OutboxRelayFunction,
  type OutboxRelayFunctionProps,
} from './outbox/outbox-relay-function';
export {
  type IOrderedStreamConsumer,
  OrderedStreamConsumer,
  type OrderedStreamConsumerAttributes,
  type OrderedStreamConsumerProps,
} from './stream/consumer/ordered-stream-consumer';
export {
  type IOrderedProducerFunction,
  OrderedProducerFunction,
  type OrderedProducerFunctionProps,
} from './stream/producer/ordered-producer-function';
export { ProducerFifoQueue, type ProducerFifoQueueOptions } from './stream/producer/producer-fifo-queue';
export type { ProducerTableStreamOptions } from './stream/producer/table-stream-source';
export {
  HashKeyRegistry,
  type HashKeyRegistryAttributes,
  type HashKeyRegistryProps,
  type IHashKeyRegistry,
} from './stream/registry/hash-key-registry';
export { HashKeyRegistryGrants } from './stream/registry/hash-key-registry-grants';
export {
  type IStreamAutoScaling,
  StreamAutoScaling,
  type StreamAutoScalingAttributes,
  type StreamAutoScalingOptions,
  type StreamAutoScalingProps,
} from './stream/scaling/stream-auto-scaling';
export {
  type IStreamReconciliation,
  StreamReconciliation,
  type StreamReconciliationAttributes,
  type StreamReconciliationOptions,
  type StreamReconciliationProps,
} from './stream/scaling/stream-reconciliation';
export { StreamResharding, type StreamReshardingProps } from './stream/scaling/stream-resharding';
export {
  type IStreamReshardingProvider,
  StreamReshardingProvider,
  type StreamReshardingProviderAttributes,
  type StreamReshardingProviderProps,
} from './stream/scaling/stream-resharding-provider';
export type { ExpectedStreamTraffic } from './stream/stream-advice';
export { StreamProduceGrants, StreamReshardGrants } from './stream/stream-grants';
export {
  type IUniformStream,
  UniformStream,
  type UniformStreamAttributes,
  type UniformStreamProps,
} from './stream/uniform-stream';
export {
  AdaptiveShardCountController,
  type AdaptiveShardCountControllerAttributes,
  type AdaptiveShardCountControllerProps,
  type IAdaptiveShardCountController,
} from './table/adaptive/adaptive-shard-count-controller';
export { DaxCluster, type DaxClusterAttributes, type DaxClusterProps, type IDaxCluster } from './table/dax-cluster';
export { type AdaptiveShardCountsOptions, ShardCounts } from './table/index/shard-counts';
export {
  type IShardedIndex,
  ShardedIndex,
  type ShardedIndexAttributes,
  type ShardedIndexBindingOptions,
} from './table/index/sharded-index';
export { ShardedIndexGrants } from './table/index/sharded-index-grants';
export {
  type BaseShardedIndexOptions,
  type ExpectedIndexTraffic,
  KeyLayout,
  type ShardedIndexOptions,
  ShardingStrategy,
} from './table/index/sharded-index-options';
export { type IIndexKeeper, IndexKeeper, type IndexKeeperProps } from './table/keeper/index-keeper';
export {
  type IKeyShardedTable,
  KeyShardedTable,
  type KeyShardedTableAttributes,
  type KeyShardedTableProps,
} from './table/key-sharded/key-sharded-table';
export { KeyShardedTableGrants } from './table/key-sharded/key-sharded-table-grants';
export type { KeyShardingOptions } from './table/key-sharded/key-sharding-settings';
export { IndexItemMover, type IndexItemMoverProps } from './table/movers/index-item-mover';
export type { ItemMoverOptions } from './table/movers/item-mover';
export { ItemVersion, TableItemMover, type TableItemMoverProps } from './table/movers/table-item-mover';
export {
  FanOutQueryFunction,
  type FanOutQueryFunctionProps,
  type IFanOutQueryFunction,
} from './table/query/fan-out-query-function';
export { type ShardFormatOptions, ShardPlacement } from './table/shard-format';
export { ShardedTable, type ShardedTableProps } from './table/sharded-table';
