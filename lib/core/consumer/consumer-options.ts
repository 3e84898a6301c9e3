import { checkNotNegative, checkPositive, checkWhole } from '../kernel/checks';
import { type Clock, systemClock } from '../kernel/clock';
import { InvalidArgumentError } from '../kernel/errors';
import type { UserRecord } from './deaggregate';
import type { FencedMove } from './fenced-move';
import type { Once } from './once';
import type { ParkedKeyReport, ParkingStore } from './parking-store';
import type { SequencePosition } from './sequence-position';

/** The second argument of a handler, beside the record. */
export interface RecordContext {
  /** The number of this attempt at the record, from 1. It includes attempts after the record was parked. */
  attempt: number;
  /** Aborts at the timeout of this attempt. After that, the consumer ignores the result of the handler. */
  signal: AbortSignal;
  /** Writes the effect of the record and its number in one transaction, in DynamoDB or in Postgres. */
  once: Once;
  /**
   * For effects in other stores, so that each record takes effect once. Each position has a series, and the number of the record
   * in that series. In one transaction, read the stored number of each series. If a stored number is equal to or above the number
   * of the record, the record is a duplicate. Otherwise write the effect, and store the numbers. Compare numbers as text.
   *
   * There is one position now: the sequence of the record or, without a sequence, its position in the shard.
   */
  positions: SequencePosition[];
}

/**
 * Handles one record. If it throws, the record is tried again. Do not change the data of the record: the next attempt and the
 * other records of the same aggregate use the same bytes.
 */
export type RecordHandler = (record: UserRecord, context: RecordContext) => Promise<void> | void;

/** The options of an `OrderedConsumer`. */
export interface OrderedConsumerOptions {
  /** The store for parked keys: a `DynamoDbParkingStore`, or a `MemoryParkingStore` in tests. */
  parking: ParkingStore;
  /**
   * How often a record is tried before its key is parked, at least 2.
   * @default 3
   */
  attempts?: number;
  /**
   * How many records are handled in parallel, each of another key.
   * @default 10
   */
  concurrency?: number;
  /**
   * How long an attempt may take, in milliseconds. After that time, the attempt has failed. If its handler still runs, the key is
   * parked immediately, because a second attempt in parallel could apply the record twice.
   * @default a third of the remaining time at the start of the invocation; 30000 outside Lambda
   */
  attemptTimeoutMs?: number;
  /**
   * How often a record is tried in total, including replays, before its key is dead.
   * @default 100
   */
  maxTries?: number;
  /**
   * How long a record may block its key before the key is dead, in milliseconds.
   * @default 86400000 (one day)
   */
  maxAgeMs?: number;
  /**
   * How long a parked key waits for its first replay, in milliseconds. The time doubles with each replay, up to 15 minutes.
   * @default 30000
   */
  retryMs?: number;
  /**
   * For how many keys this process remembers the handled positions, to drop duplicates without a request. It remembers the latest
   * keys, in at most 32 MB.
   * @default 100000
   */
  maxKeys?: number;
  /**
   * What to do with a Kinesis record that begins like an aggregate but is not valid: `throw` parks it under its own partition
   * key, `raw` handles it unchanged.
   * @default 'throw'
   */
  onCorrupt?: 'throw' | 'raw';
  /**
   * The longest time that records wait for the end of a move of their key, in milliseconds, over all attempts.
   * @default 60000
   */
  maxMoveWaitMs?: number;
  /** Called for each failed attempt. An error of the listener is logged, and records do not wait for the listener. */
  onFailure?(failure: RecordFailure): void;
  /** Called for each key that becomes dead. */
  onDead?(key: ParkedKeyReport): void;
  /** Called for each move whose end the consumer no longer waits for. The records of the move may be out of order. */
  onLetGo?(move: FencedMove): void;
  /** Numbers from 0 to 1, for back-off. @default Math.random */
  random?: () => number;
  /** @default the system clock */
  clock?: Clock;
  /** The time of day in milliseconds since 1970, which all processes of a consumer share. @default Date.now */
  timeOfDay?: () => number;
}

/** A failed attempt. It contains no payload, but the message of the error may contain one. */
export interface RecordFailure {
  /** The partition key. */
  partitionKey: string;
  /** The number of the attempt, from 1 on. */
  attempt: number;
  /** The error of the handler. */
  error: unknown;
  /** Whether the key is parked after this attempt. */
  isParked: boolean;
}

export interface ConsumerSettings
  extends Required<Omit<OrderedConsumerOptions, 'attemptTimeoutMs'>>,
    Pick<OrderedConsumerOptions, 'attemptTimeoutMs'> {
  handle: RecordHandler;
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/** @throws InvalidArgumentError if an option is invalid */
export function consumerSettings(handle: RecordHandler, options: OrderedConsumerOptions): ConsumerSettings {
  if (typeof handle !== 'function')
    throw new InvalidArgumentError('handle', handle, 'a function that handles a record');
  const { parking, onCorrupt = 'throw' } = Object(options) as OrderedConsumerOptions;
  if (typeof Object(parking).find !== 'function' || typeof Object(parking).save !== 'function') {
    throw new InvalidArgumentError('parking', parking, 'a DynamoDbParkingStore or a MemoryParkingStore');
  }
  if (onCorrupt !== 'throw' && onCorrupt !== 'raw') {
    throw new InvalidArgumentError('onCorrupt', onCorrupt, "'throw' or 'raw'");
  }
  const settings: ConsumerSettings = {
    ...options,
    handle,
    attempts: options.attempts ?? 3,
    concurrency: options.concurrency ?? 10,
    attemptTimeoutMs: options.attemptTimeoutMs,
    maxTries: options.maxTries ?? 100,
    maxAgeMs: options.maxAgeMs ?? DAY_MS,
    retryMs: options.retryMs ?? 30_000,
    maxKeys: options.maxKeys ?? 100_000,
    onCorrupt,
    maxMoveWaitMs: options.maxMoveWaitMs ?? 60_000,
    onFailure: listener(options.onFailure),
    onDead: listener(options.onDead),
    onLetGo: listener(options.onLetGo),
    random: options.random ?? Math.random,
    clock: options.clock ?? systemClock,
    timeOfDay: options.timeOfDay ?? Date.now,
  };
  checkNumbers(settings);
  return settings;
}

function checkNumbers(settings: ConsumerSettings): void {
  const { attempts, concurrency, maxTries, maxKeys, attemptTimeoutMs, maxAgeMs, retryMs, maxMoveWaitMs } = settings;
  checkWhole('attempts', attempts, 2);
  checkWhole('concurrency', concurrency, 1);
  checkWhole('maxTries', maxTries, 1);
  checkWhole('maxKeys', maxKeys, 1);
  // These times must be finite: leases of keys must end after a crash, and no key may wait for a move for ever.
  if (attemptTimeoutMs !== undefined) checkPositive('attemptTimeoutMs', attemptTimeoutMs);
  checkNotNegative('maxMoveWaitMs', maxMoveWaitMs);
  checkAboveZero('maxAgeMs', maxAgeMs);
  checkAboveZero('retryMs', retryMs);
}

/** Infinity is allowed. */
function checkAboveZero(field: string, value: number): void {
  if (!(value > 0)) throw new InvalidArgumentError(field, value, 'a number of milliseconds above 0');
}

/** Wraps a listener: logs its errors, so that they do not disturb the records. */
function listener<T>(listen: ((what: T) => void | Promise<void>) | undefined) {
  return async (what: T): Promise<void> => {
    try {
      await listen?.(what);
    } catch (error) {
      console.error(error);
    }
  };
}
