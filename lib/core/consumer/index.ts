/**
 * `cdk-even-shards/consumer`: handles the records of each key of a stream in order, and parks only failing keys. It deaggregates
 * records, drops duplicates, and keeps the order while keys move.
 *
 * @module consumer
 */
export type { Clock } from '../kernel/clock';
export { EvenShardsError, InvalidArgumentError } from '../kernel/errors';
export { NewerFormatError, type StoredFormat } from '../kernel/format-version';
export { type Fence, parseFence } from '../stream-format/fence';
export type { HashKeyRange } from '../stream-format/hash-key-ranges';
export type { RecordSequence } from '../stream-format/record-sequence';
export { BaseParkingStore, type ParkingStoreOptions } from './base-parking-store';
export {
  CorruptAggregateError,
  CorruptParkedRecordError,
  OnceRepeatedError,
  RecordDoneError,
} from './consumer-errors';
export type { OrderedConsumerOptions, RecordContext, RecordFailure, RecordHandler } from './consumer-options';
export { type DeaggregateOptions, deaggregate, type StreamRecord, type UserRecord } from './deaggregate';
export { DynamoDbParkingStore, type DynamoDbParkingStoreOptions } from './dynamodb-parking-store';
export { MoveInProgressError } from './fence-gate';
export type { FencedMove, MoveProgress } from './fenced-move';
export { MemoryParkingStore } from './memory-parking-store';
export { ONCE_POSTGRES_TABLE, type Once, type OncePostgresClient } from './once';
export {
  type BatchProgress,
  type BatchResponse,
  type InvocationContext,
  OrderedConsumer,
  type ProcessOptions,
  type ReplayEvent,
  type WorkOptions,
} from './ordered-consumer';
export type { ParkedKey, ParkedKeyReport, ParkedRecord, ParkingStore, ReadOptions } from './parking-store';
export type { ParkingExpression, ParkingItem, ParkingTableClient, ParkingWrite } from './parking-table';
export type { ReplaySummary } from './replay';
export type { SequencePosition } from './sequence-position';
export type { ShardRecord, StreamEvent } from './shard-record';
