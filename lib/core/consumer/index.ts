/**
 * `cdk-even-shards/consumer`: takes aggregates apart, drops copies of records, and keeps order while keys move.
 *
 * @module consumer
 */
export type { Clock } from '../foundation/clock';
export { EvenShardsError, InvalidArgumentError } from '../foundation/errors';
export { type Fence, parseFence } from '../foundation/fence';
export type { HashKeyRange } from '../foundation/hash-key-ranges';
export type { RecordSequence } from '../foundation/record-sequence';
export { CorruptAggregateError } from './corrupt-aggregate-error';
export { type DeaggregateOptions, deaggregate, type StreamRecord, type UserRecord } from './deaggregate';
export { deduplicate } from './deduplicate';
export {
  DynamoDbFenceStore,
  type DynamoDbFenceStoreOptions,
  type FenceItem,
  type FenceTableClient,
  type FenceUpdateItemInput,
} from './dynamodb-fence-store';
export { type ConsumedRecord, FenceGate, type FenceGateOptions, MoveInProgressError } from './fence-gate';
export { type FencedMove, type FenceStore, MemoryFenceStore, type MoveProgress } from './fence-store';
export {
  type KeyHistory,
  type SequencedRecord,
  SequenceHistory,
  type SequenceHistoryOptions,
  type SeriesHistory,
  SetAsideLimitError,
} from './sequence-history';
