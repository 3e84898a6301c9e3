/**
 * `cdk-even-shards/consumer`: takes aggregates apart, drops copies of records, and keeps order while keys move.
 *
 * @module consumer
 */
export { EvenShardsError, InvalidArgumentError } from '../foundation/errors';
export { type Fence, parseFence } from '../foundation/fence';
export type { HashKeyRange } from '../foundation/hash-key-ranges';
export type { RecordSequence } from '../foundation/record-sequence';
export { CorruptAggregateError } from './corrupt-aggregate-error';
export { type DeaggregateOptions, deaggregate, type StreamRecord, type UserRecord } from './deaggregate';
export { deduplicate } from './deduplicate';
export { type ConsumedRecord, FenceGate } from './fence-gate';
export {
  type KeyHistory,
  type SequencedRecord,
  SequenceHistory,
  type SequenceHistoryOptions,
  type SeriesHistory,
  SetAsideLimitError,
} from './sequence-history';
