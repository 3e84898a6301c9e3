/**
 * `cdk-even-shards/resharding`: changes the number of shards of a Kinesis stream, and makes them even.
 *
 * @module resharding
 */
export type { Clock } from '../kernel/clock';
export {
  EvenShardsError,
  InvalidArgumentError,
  InvalidHashKeyRangesError,
  InvalidShardCountError,
} from '../kernel/errors';
export { NewerFormatError, type StoredFormat } from '../kernel/format-version';
export type { HashKeyRange } from '../stream-format/hash-key-ranges';
export type { BoundaryMove, MergeShards, SplitShard } from './boundary-moves';
export {
  describeOperation,
  planStreamReshard,
  type ReshardOperation,
  type StreamReshardPlanOptions,
  type UpdateShardCount,
} from './plan-stream-reshard';
export type { ListedShard, ReshardClient, StreamSummary } from './reshard-client';
export {
  DailyUpdateLimitError,
  ReshardSupersededError,
  ReshardTimeOutError,
  StreamNotReshardableError,
} from './reshard-errors';
export {
  inspectStream,
  type ReshardOptions,
  type ReshardProgress,
  type ReshardTarget,
  reshardStream,
} from './reshard-stream';
export { shardCountSteps } from './shard-count-steps';
export { areShardsEven, skewOf } from './skew';
export { MAX_SKEW } from './thresholds';
