import { checkAtMost, checkNotNegative, checkPositive, checkWhole } from '../kernel/checks';
import { type Clock, systemClock } from '../kernel/clock';
import { InvalidArgumentError } from '../kernel/errors';
import type { UserRecord } from './deaggregate';
import type { FencedMove } from './fenced-move';
import type { Once } from './once';
import type { ParkedKeyReport, ParkingStore } from './parking-store';
import type { SequencePosition } from './sequence-position';

/** The second argument of a handler. The first argument is the record. */
export interface RecordContext {
  /** The number of this attempt at the record, from 1. The number includes attempts after the record was parked. */
  attempt: number;
  /**
   * Aborts at the timeout of this attempt. The attempt has then failed, even if the handler returns. Pass the signal to your
   * clients: a handler that ignores it can still run when the next attempt begins in another process.
   */
  signal: AbortSignal;
  /** Writes the effect of the record and its number in one transaction, in DynamoDB or in Postgres. */
  once: Once;
  /**
   * The positions of the record. Use them for effects in a store that `once` does not support, so that each record takes effect
   * once. A position has the name of a series (the records of the key from one producer or one shard), and the number of the
   * record in this series. In one transaction, read the stored number of each series. If a stored number is equal to or above
   * the number of the record, the record is a duplicate. Otherwise write the effect, and store the numbers. Compare numbers as
   * text.
   *
   * In this version, the array has one position: the sequence of the record or, without a sequence, the position of the record
   * in its shard.
   */
  positions: SequencePosition[];
}

/**
 * Handles one record. If it throws, the record is tried again. Do not change the data of the record, because the next attempt and
 * the other records of the same aggregate use the same bytes.
 */
export type RecordHandler = (record: UserRecord, context: RecordContext) => Promise<void> | void;

/** The options of an `OrderedConsumer`. */
export interface OrderedConsumerOptions {
  /** The store for parked keys: a `DynamoDbParkingStore`, or a `MemoryParkingStore` in tests. */
  parking: ParkingStore;
  /**
   * The number of attempts at a record before its key is parked, at least 2. If an invocation has no time for all attempts, the
   * key is parked at the end of the invocation.
   * @default 3
   */
  attempts?: number;
  /**
   * How many records are handled in parallel. Two records of one key are never handled in parallel.
   * @default 10
   */
  concurrency?: number;
  /**
   * How long an attempt may take, in milliseconds. After that time, the attempt has failed. If its handler still runs, the key is
   * parked immediately, because a second attempt in parallel could apply the record twice. The first replay then waits until the
   * end of the invocation.
   * @default a third of the remaining time at the start of the invocation; 30000 outside Lambda
   */
  attemptTimeoutMs?: number;
  /**
   * The number of attempts at a record in total, including replays, before its key is dead. A dead key is not replayed until a
   * person resumes the key. It must be at least `attempts`.
   * @default 100, or `attempts` if that is more
   */
  maxTries?: number;
  /**
   * How long a record may block its key before the key is dead, in milliseconds. It must be at least `attemptTimeoutMs` and
   * `retryMs`. Otherwise the key would be dead before its first replay could succeed.
   * @default 86400000 (one day)
   */
  maxAgeMs?: number;
  /**
   * How long a parked key waits for its first replay, in milliseconds, up to 900000 (15 minutes). The wait doubles with each
   * failed replay, up to 15 minutes.
   * @default 30000
   */
  retryMs?: number;
  /**
   * The number of keys whose handled positions this process remembers, to drop duplicates without a request. It remembers the
   * most recently used keys, in at most 32 MB.
   * @default 100000
   */
  maxKeys?: number;
  /**
   * What to do with a Kinesis record that begins like an aggregate but is not valid: `throw` parks the record under its own
   * partition key, and `raw` passes the record to the handler unchanged.
   * @default 'throw'
   */
  onCorrupt?: 'throw' | 'raw';
  /**
   * The maximum time for which records wait until a move of their key ends, in milliseconds. The limit is for all attempts
   * together.
   * @default 60000
   */
  maxMoveWaitMs?: number;
  /** Called for each failed attempt. An error of the listener is logged, and records do not wait for the listener. */
  onFailure?(failure: RecordFailure): void;
  /** Called for each key that becomes dead, and so is no longer replayed. */
  onDead?(key: ParkedKeyReport): void;
  /**
   * Called when the consumer stops waiting for the end of a move. The records of the moved key may then be handled out of order.
   */
  onLetGo?(move: FencedMove): void;
  /** Returns a random number from 0 to 1, for the delays between attempts. @default Math.random */
  random?: () => number;
  /** @default the system clock */
  clock?: Clock;
  /**
   * Returns the time of day in milliseconds since 1970. All processes of a consumer, and their parking stores, must use the same
   * time.
   * @default Date.now
   */
  timeOfDay?: () => number;
}

/** A failed attempt. It does not contain the data of the record, but the message of its error may contain such data. */
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

/** The longest wait between two replays of a key. */
export const LONGEST_RETRY_MS = 15 * 60_000;

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
  const attempts = options.attempts ?? 3;
  checkWhole('attempts', attempts, 2);
  const settings: ConsumerSettings = {
    ...options,
    handle,
    attempts,
    concurrency: options.concurrency ?? 10,
    attemptTimeoutMs: options.attemptTimeoutMs,
    maxTries: options.maxTries ?? Math.max(100, attempts),
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
  checkWhole('concurrency', concurrency, 1);
  checkWhole('maxTries', maxTries, 1);
  checkAtMost({ attempts }, { maxTries });
  checkWhole('maxKeys', maxKeys, 1);
  // `attemptTimeoutMs` and `maxMoveWaitMs` must be finite: leases of keys must end after a crash, and no key may wait forever for
  // the end of a move.
  if (attemptTimeoutMs !== undefined) checkPositive('attemptTimeoutMs', attemptTimeoutMs);
  checkNotNegative('maxMoveWaitMs', maxMoveWaitMs);
  checkPositive('retryMs', retryMs, LONGEST_RETRY_MS);
  if (!(typeof maxAgeMs === 'number' && maxAgeMs > 0)) {
    throw new InvalidArgumentError('maxAgeMs', maxAgeMs, 'a number of milliseconds above 0, perhaps Infinity');
  }
  checkAtMost({ retryMs }, { maxAgeMs });
  if (attemptTimeoutMs !== undefined) checkAtMost({ attemptTimeoutMs }, { maxAgeMs });
}

/** Wraps a listener: logs its errors, so that an error of the listener does not stop the handling of records. */
function listener<T>(listen: ((what: T) => void | Promise<void>) | undefined) {
  return async (what: T): Promise<void> => {
    try {
      await listen?.(what);
    } catch (error) {
      console.error(error);
    }
  };
}
