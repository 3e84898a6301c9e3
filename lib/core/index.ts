export { deaggregate, type StreamRecord, type UserRecord } from './aggregation/deaggregate';
export { deduplicate } from './aggregation/deduplicate';
export type { RecordSequence } from './aggregation/record-sequence';
export {
  type CountedRecord,
  type KeyHistory,
  SequenceHistory,
  type SequenceHistoryOptions,
} from './aggregation/sequence-history';
export * from './errors';
export { FanOutHistory } from './fan-out/fan-out-history';
export { type FanOutItemsRequest, fanOutItems } from './fan-out/fan-out-items';
export { type FanOutOptions, type FanOutPage, fanOutQuery } from './fan-out/fan-out-query';
export type { FanOutOrder, FanOutRequest, SortKeyCondition, SortKeyValue } from './fan-out/fan-out-request';
export type { FanOutStats } from './fan-out/fan-out-stats';
export type { AttributeValue, Item, QueryClient, QueryInput, QueryOutput } from './fan-out/query-client';
export { DEFAULT_CONCURRENCY, type ReadOptions } from './fan-out/read-policy';
export { alternatingKey, balancedKey, leftToRightKey } from './key-space/balanced-key';
export {
  BalancedKeyAllocator,
  type BalancedKeyAllocatorOptions,
  type WeightedHashKey,
} from './key-space/balanced-key-allocator';
export { HASH_KEY_SPACE, hashPartitionKey } from './key-space/hash-key-space';
export { type HashKeyRange, shardIndexOf, uniformRanges } from './key-space/uniform-ranges';
export { lightQueryClient, type SdkQueryClient } from './light-client/light-query-client';
export { LIST_PRICES, type ListPrices } from './planning/list-prices';
export { type OverloadThreshold, overloadProbability } from './planning/overload-probability';
export type { LimitUse, PlanRule } from './planning/plan';
export { type IndexLimit, type IndexPlan, type IndexRule, type IndexTraffic, planIndex } from './planning/plan-index';
export {
  planStream,
  type StreamLimit,
  type StreamPlan,
  type StreamRule,
  type StreamTraffic,
  streamShards,
} from './planning/plan-stream';
export { readUnitsPerPage } from './planning/read-units-per-page';
export { shardsForOverload } from './planning/shards-for-overload';
export { suffixRange } from './planning/suffix-range';
export { weightedShards } from './planning/weighted-shards';
export type { Clock } from './producer/clock';
export type { PutReceipt } from './producer/lane';
export { OrderedProducer } from './producer/ordered-producer';
export type { OrderedProducerOptions } from './producer/producer-options';
export type { ProducerRecord } from './producer/producer-record';
export type { ProducerStatistics } from './producer/producer-statistics';
export type { PutObserver, PutSummary } from './producer/put-all';
export type {
  DescribeStreamSummaryOutput,
  ListShardsInput,
  ListShardsOutput,
  PutRecordInput,
  PutRecordOutput,
  PutRecordsClient,
  PutRecordsInput,
  PutRecordsOutput,
  PutRecordsRequestEntry,
  PutRecordsResultEntry,
  ShardDescription,
} from './producer/put-records-client';
export {
  DynamoDbRegistryStore,
  type GetItemInput,
  type PutItemInput,
  type RegistryTableClient,
  type ScanInput,
} from './registry/dynamodb-registry-store';
export { type Fence, fenceData, parseFence } from './registry/fence';
export { type ConsumedRecord, FenceGate } from './registry/fence-gate';
export { type HandOver, handOver } from './registry/hand-over';
export {
  HashKeyLedger,
  type HashKeyLedgerOptions,
  type HashKeyMove,
  type OwnerRequest,
  readOwners,
} from './registry/hash-key-ledger';
export type { HashKeyOwner } from './registry/hash-key-owner';
export {
  describeRebalancePlan,
  type RebalanceMove,
  type RebalancePlan,
  rebalancePlan,
} from './registry/rebalance-plan';
export type { RegistryEntry, RegistryHead, RegistryStore } from './registry/registry-store';
export type { BoundaryMove, MergeShards, SplitShard } from './resharding/boundary-moves';
export type { ListedShard, ReshardClient, StreamSummary } from './resharding/reshard-client';
export * from './resharding/reshard-errors';
export {
  describeOperation,
  planReshard,
  type ReshardOperation,
  type ReshardPlanOptions,
  type UpdateShardCount,
} from './resharding/reshard-plan';
export { reshardSteps } from './resharding/reshard-steps';
export {
  inspectStream,
  type ReshardOptions,
  type ReshardProgress,
  type ReshardTarget,
  reshardStream,
} from './resharding/reshard-stream';
export { isEven, skewOf } from './resharding/skew';
export { MAX_SKEW } from './resharding/thresholds';
export { calculatedShard } from './write-sharding/calculated-shard';
export { randomShard } from './write-sharding/random-shard';
export { type DrainRange, type IndexShardTarget, type ReshardStep, reshardPlan } from './write-sharding/reshard-plan';
export { shardAttributes } from './write-sharding/shard-attributes';
export { type ItemChanges, shardUpdate, type UpdateExpression } from './write-sharding/shard-update';
export type { IndexShards, ShardCount, ShardedIndexConfig } from './write-sharding/sharded-index-config';
