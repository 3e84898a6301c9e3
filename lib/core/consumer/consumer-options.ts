import { checkNotNegative, checkPositive, checkWhole } from '../kernel/checks';
import { type Clock, systemClock } from '../kernel/clock';
import { InvalidArgumentError } from '../kernel/errors';
import type { UserRecord } from './deaggregate';
import type { FencedMove } from './fenced-move';
import type { Once } from './once';
import type { ParkedKeyReport, ParkingStore } from './parking-store';
import type { SequencePosition } from './sequence-position';

/** What a handler is told in addition to the record. */
export interface RecordContext {
  /** The number of this attempt at the record, from 1 on. Attempts after it was parked count, too. */
  attempt: number;
  /** Aborts when the time for this attempt is over. From then on, nobody waits for what the handler does. */
  signal: AbortSignal;
  /** Makes the effect of the record and its number one write, in DynamoDB or in Postgres. */
  once: Once;
  /**
   * For effects in any other store, so that each record takes effect once. Each position has a series and the number of the record
   * in it. In one transaction, read the number that you stored for each series. If one of them is not below the number of the
   * record, the record is a duplicate. Otherwise, write the effect and store the numbers. Numbers compare as text.
   *
   * There is one position now: the sequence that the producer gave the record, or without one its position in the shard.
   */
  positions: SequencePosition[];
}

/**
 * Handles one record. If it throws, the record is tried again. Do not write into the data of the record: whoever tries it again,
 * or reads the next record of its aggregate, meets the same bytes.
 */
export type RecordHandler = (record: UserRecord, context: RecordContext) => Promise<void> | void;

/** Where an `OrderedConsumer` sets records aside, how often it tries them, and how many it handles at the same time. */
export interface OrderedConsumerOptions {
  /** Where keys are set aside: a `DynamoDbParkingStore`, or a `MemoryParkingStore` in tests. */
  parking: ParkingStore;
  /**
   * How often a record is tried before its key is parked, at least 2.
   * @default 3
   */
  attempts?: number;
  /**
   * How many records are handled at once. Each belongs to another key.
   * @default 10
   */
  concurrency?: number;
  /**
   * How long an attempt may take, in milliseconds. After that it has failed. If its handler goes on nevertheless, the key
   * is parked at once, because a second attempt at the same time could apply a record twice.
   * @default a third of the time that the invocation has when it begins; 30000 where no time is set
   */
  attemptTimeoutMs?: number;
  /**
   * How often a record is tried in all, parked or not, before its key is dead.
   * @default 100
   */
  maxTries?: number;
  /**
   * How long a record may hold up its key before the key is dead, in milliseconds.
   * @default 86400000 (one day)
   */
  maxAgeMs?: number;
  /**
   * How long a parked key waits for its first replay, in milliseconds. The time doubles with each replay, up to 15 minutes.
   * @default 30000
   */
  retryMs?: number;
  /**
   * The most keys of which this process remembers what has taken effect, to drop duplicates without a request. It remembers
   * the latest keys, in 32 MB at most.
   * @default 100000
   */
  maxKeys?: number;
  /**
   * What to do with a Kinesis record that begins like an aggregate but is not one: `throw` parks it under its own partition
   * key, `raw` handles it as it is.
   * @default 'throw'
   */
  onCorrupt?: 'throw' | 'raw';
  /**
   * How long records wait at most for the end of a move of their key, in milliseconds. The waits of all attempts add up.
   * @default 60000
   */
  maxMoveWaitMs?: number;
  /** Is called for each attempt that has failed. What a listener throws is written to the log, and no record waits for it. */
  onFailure?(failure: RecordFailure): void;
  /** Is called for each key that is dead from now on. */
  onDead?(key: ParkedKeyReport): void;
  /** Is called for each move whose end nobody waits for any more. Its records may be out of order. */
  onLetGo?(move: FencedMove): void;
  /** Numbers from 0 to 1, for back-off. @default Math.random */
  random?: () => number;
  /** @default the clock of the system */
  clock?: Clock;
  /** The time of day in milliseconds since 1970, which all processes of a consumer share. @default Date.now */
  timeOfDay?: () => number;
}

/** An attempt that has failed. It holds no payload, but the error may quote one. */
export interface RecordFailure {
  /** The partition key. */
  partitionKey: string;
  /** The number of the attempt, from 1 on. */
  attempt: number;
  /** What the handler has thrown. */
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

/** @throws InvalidArgumentError that names the option */
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
  // A lease of a key must outlast an attempt and end after a crash, and no key may wait for a move for ever.
  if (attemptTimeoutMs !== undefined) checkPositive('attemptTimeoutMs', attemptTimeoutMs);
  checkNotNegative('maxMoveWaitMs', maxMoveWaitMs);
  checkAboveZero('maxAgeMs', maxAgeMs);
  checkAboveZero('retryMs', retryMs);
}

/** Infinity is allowed. */
function checkAboveZero(field: string, value: number): void {
  if (!(value > 0)) throw new InvalidArgumentError(field, value, 'a number of milliseconds above 0');
}

/** Calls a listener. An error of the listener is written to the log, and no record waits for it. */
function listener<T>(listen: ((what: T) => void | Promise<void>) | undefined) {
  return async (what: T): Promise<void> => {
    try {
      await listen?.(what);
    } catch (error) {
      console.error(error);
    }
  };
}
