export type { BaseBundledFunctionOptions, BundledFunctionOptions, IBundledFunction } from './function/bundled-function';
export type { IQueryFunction } from './function/query-function';
export { CqlType } from './keyspaces/cql-type';
export type { IKeyspacesQueryFunction } from './keyspaces/i-keyspaces-query-function';
export type { IShardedKeyspacesTable } from './keyspaces/i-sharded-keyspaces-table';
export type { IShardedKeyspacesTableRef } from './keyspaces/i-sharded-keyspaces-table-ref';
export { KeyspacesBilling, type KeyspacesProvisionedThroughput } from './keyspaces/keyspaces-billing';
export { type KeyspacesAutoscaledCapacityOptions, KeyspacesCapacity } from './keyspaces/keyspaces-capacity';
export { KeyspacesChangeView } from './keyspaces/keyspaces-change-view';
export { ClusteringOrder, type KeyspacesClusteringColumn, type KeyspacesColumn } from './keyspaces/keyspaces-column';
export { KeyspacesQueryFunction, type KeyspacesQueryFunctionProps } from './keyspaces/keyspaces-query-function';
export type { KeyspacesTableBindingOptions } from './keyspaces/keyspaces-table-binding-options';
export { ShardedKeyspacesTable } from './keyspaces/sharded-keyspaces-table';
export type { ShardedKeyspacesTableAttributes } from './keyspaces/sharded-keyspaces-table-attributes';
export { ShardedKeyspacesTableBase } from './keyspaces/sharded-keyspaces-table-base';
export { ShardedKeyspacesTableGrants } from './keyspaces/sharded-keyspaces-table-grants';
export type { ShardedKeyspacesTableOptions } from './keyspaces/sharded-keyspaces-table-options';
export type { ShardedKeyspacesTableProps } from './keyspaces/sharded-keyspaces-table-props';
export type { ConsumerAlarms } from './monitoring/consumer-alarms';
export type { DaxAlarms } from './monitoring/dax-alarms';
export type { IndexAlarms } from './monitoring/index-alarms';
export type {
  ConsumerMonitoringOptions,
  DaxMonitoringOptions,
  DeadLetterQueueMonitoringOptions,
  IndexMonitoringOptions,
  OutboxMonitoringOptions,
  ProducerMonitoringOptions,
  StreamMonitoringOptions,
  TableMonitoringOptions,
} from './monitoring/monitoring-options';
export type { OutboxAlarms } from './monitoring/outbox-alarms';
export type { ProducerAlarms } from './monitoring/producer-alarms';
export type { DeadLetterQueueAlarms } from './monitoring/queue-alarms';
export { ShardMonitoring, type ShardMonitoringProps } from './monitoring/shard-monitoring';
export type { StreamAlarms } from './monitoring/stream-alarms';
export { StreamConsumerMetrics } from './monitoring/stream-consumer-metrics';
export { StreamShardMetrics } from './monitoring/stream-shard-metrics';
export type { TableAlarms } from './monitoring/table-alarms';
export { OutboxRelayDatabase, type OutboxRelayDatabaseOptions } from './outbox/outbox-relay-database';
export {
  type IOutboxRelayFunction,
  OutboxRelayFunction,
  type OutboxRelayFunctionProps,
} from './outbox/outbox-relay-function';
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
  StreamAutoScaling,
  type StreamAutoScalingOptions,
  type StreamAutoScalingProps,
} from './stream/scaling/stream-auto-scaling';
export {
  StreamReconciliation,
  type StreamReconciliationOptions,
  type StreamReconciliationProps,
} from './stream/scaling/stream-reconciliation';
export { StreamResharding, type StreamReshardingProps } from './stream/scaling/stream-resharding';
export {
  StreamReshardingProvider,
  type StreamReshardingProviderProps,
} from './stream/scaling/stream-resharding-provider';
export type { ExpectedStreamTraffic } from './stream/stream-advice';
export { StreamProduceGrants, StreamReshardGrants } from './stream/stream-grants';
export { UniformStream, type UniformStreamProps } from './stream/uniform-stream';
export { ShardCountController, type ShardCountControllerProps } from './table/adaptive/shard-count-controller';
export { DaxCluster, type DaxClusterProps } from './table/dax-cluster';
export type { AdaptiveShardCountsOptions } from './table/index/adaptive-shard-counts-options';
export type { BaseShardedIndexOptions } from './table/index/base-sharded-index-options';
export type { ExpectedIndexTraffic } from './table/index/expected-index-traffic';
export type { IShardedIndex } from './table/index/i-sharded-index';
export type { IShardedIndexRef } from './table/index/i-sharded-index-ref';
export { KeyLayout } from './table/index/key-layout';
export { ShardCounts } from './table/index/shard-counts';
export { ShardedIndex } from './table/index/sharded-index';
export type { ShardedIndexAttributes } from './table/index/sharded-index-attributes';
export { ShardedIndexBase } from './table/index/sharded-index-base';
export type { ShardedIndexBindingOptions } from './table/index/sharded-index-binding-options';
export { ShardedIndexGrants } from './table/index/sharded-index-grants';
export type { ShardedIndexOptions } from './table/index/sharded-index-options';
export { ShardingStrategy } from './table/index/sharding-strategy';
export type { IKeyShardedTable } from './table/key-sharded/i-key-sharded-table';
export { KeyShardedTable, type KeyShardedTableProps } from './table/key-sharded/key-sharded-table';
export type { KeyShardedTableAttributes } from './table/key-sharded/key-sharded-table-attributes';
export { KeyShardedTableGrants } from './table/key-sharded/key-sharded-table-grants';
export type { KeyShardingOptions } from './table/key-sharded/key-sharding-options';
export { IndexResharding, type IndexReshardingProps } from './table/movers/index-resharding';
export { ItemVersion } from './table/movers/item-version';
export type { ReshardingOptions } from './table/movers/resharding-options';
export { TableResharding, type TableReshardingProps } from './table/movers/table-resharding';
export { FanOutQueryFunction, type FanOutQueryFunctionProps } from './table/query/fan-out-query-function';
export type { IFanOutQueryFunction } from './table/query/i-fan-out-query-function';
export { ShardedTable, type ShardedTableProps } from './table/sharded-table';
