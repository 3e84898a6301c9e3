/**
 * `cdk-even-shards/adaptive-counts`: shard counts of an index that grow while applications read and write it.
 *
 * @module adaptive-counts
 */

export type { Clock } from '../kernel/clock';
export { EvenShardsError, InvalidArgumentError, InvalidShardCountError } from '../kernel/errors';
export { NewerFormatError, type StoredFormat } from '../kernel/format-version';
export {
  CorruptShardCountError,
  ShardCountChangedError,
  ShardCountsUnavailableError,
} from './adaptive-count-errors';
export { AdaptiveIndex, type AdaptiveIndexOptions } from './adaptive-index';
export type { CountChange } from './change-count';
export {
  type DecreaseShardCountOptions,
  type DecreaseWait,
  type DrainEnd,
  decreaseShardCount,
  endDrain,
  type ShardCountDecrease,
} from './decrease-shard-count';
export {
  type CountPutItemInput,
  type CountTableClient,
  DynamoDbShardCountReader,
  DynamoDbShardCountStore,
} from './dynamodb-shard-count-store';
export type { GrownCount } from './grown-count';
export { increaseShardCount, type ShardCountIncrease } from './increase-shard-count';
export type { CountPage, CountReadOptions, ShardCountReader, ShardCountStore } from './shard-count-store';
export type { BatchRequests } from './watched-batch';
export {
  type ReportUpdateItemInput,
  type WriteReportClient,
  WriteReporter,
  type WriteReporterOptions,
} from './write-reporter';
