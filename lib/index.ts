export type { BaseBundledFunctionOptions } from './function/base-bundled-function-options';
export type { BundledFunctionOptions } from './function/bundled-function-options';
export type { IBundledFunction } from './function/i-bundled-function';
export type { IQueryFunction } from './function/i-query-function';
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
export type { IOutboxRelayFunction } from './outbox/i-outbox-relay-function';
export { OutboxRelayDatabase, type OutboxRelayDatabaseOptions } from './outbox/outbox-relay-database';
export { OutboxRelayFunction, type OutboxRelayFunctionProps } from './outbox/outbox-relay-function';
export type { ExpectedStreamTraffic } from './stream/expected-stream-traffic';
export { HashKeyRegistry, type HashKeyRegistryProps } from './stream/hash-key-registry';
export type { HashKeyRegistryAttributes } from './stream/hash-key-registry-attributes';
export { HashKeyRegistryGrants } from './stream/hash-key-registry-grants';
export type { IHashKeyRegistry } from './stream/i-hash-key-registry';
export type { IHashKeyRegistryRef } from './stream/i-hash-key-registry-ref';
export type { IOrderedProducerFunction } from './stream/i-ordered-producer-function';
export { OrderedProducerFunction, type OrderedProducerFunctionProps } from './stream/ordered-producer-function';
export { ProducerFifoQueue, type ProducerFifoQueueOptions } from './stream/producer-fifo-queue';
export type { ProducerTableStreamOptions } from './stream/producer-table-stream-options';
export {
  StreamAutoScaling,
  type StreamAutoScalingOptions,
  type StreamAutoScalingProps,
} from './stream/stream-auto-scaling';
export { StreamProduceGrants } from './stream/stream-produce-grants';
export {
  StreamReconciliation,
  type StreamReconciliationOptions,
  type StreamReconciliationProps,
} from './stream/stream-reconciliation';
export { StreamReshardGrants } from './stream/stream-reshard-grants';
export { StreamResharding, type StreamReshardingProps } from './stream/stream-resharding';
export { StreamReshardingProvider, type StreamReshardingProviderProps } from './stream/stream-resharding-provider';
export { UniformStream, type UniformStreamProps } from './stream/uniform-stream';
export type { AdaptiveShardCountsOptions } from './table/adaptive-shard-counts-options';
export type { BaseShardedIndexOptions } from './table/base-sharded-index-options';
export { DaxCluster, type DaxClusterProps } from './table/dax-cluster';
export type { ExpectedIndexTraffic } from './table/expected-index-traffic';
export { FanOutQueryFunction, type FanOutQueryFunctionProps } from './table/fan-out-query-function';
export type { IFanOutQueryFunction } from './table/i-fan-out-query-function';
export type { IKeyShardedTable } from './table/i-key-sharded-table';
export type { IShardedIndex } from './table/i-sharded-index';
export type { IShardedIndexRef } from './table/i-sharded-index-ref';
export { IndexResharding, type IndexReshardingProps } from './table/index-resharding';
export { ItemVersion } from './table/item-version';
export { KeyLayout } from './table/key-layout';
export { KeyShardedTable, type KeyShardedTableProps } from './table/key-sharded-table';
export type { KeyShardedTableAttributes } from './table/key-sharded-table-attributes';
export { KeyShardedTableGrants } from './table/key-sharded-table-grants';
export type { KeyShardingOptions } from './table/key-sharding-options';
export type { ReshardingOptions } from './table/resharding-options';
export { ShardCountController, type ShardCountControllerProps } from './table/shard-count-controller';
export { ShardCounts } from './table/shard-counts';
export { ShardedIndex } from './table/sharded-index';
export type { ShardedIndexAttributes } from './table/sharded-index-attributes';
export { ShardedIndexBase } from './table/sharded-index-base';
export type { ShardedIndexBindingOptions } from './table/sharded-index-binding-options';
export { ShardedIndexGrants } from './table/sharded-index-grants';
export type { ShardedIndexOptions } from './table/sharded-index-options';
export { ShardedTable, type ShardedTableProps } from './table/sharded-table';
export { ShardingStrategy } from './table/sharding-strategy';
export { TableResharding, type TableReshardingProps } from './table/table-resharding';
