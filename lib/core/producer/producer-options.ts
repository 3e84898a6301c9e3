import { InvalidArgumentError } from '../errors';
import { type Clock, systemClock } from './clock';
import { DEFAULT_MAX_RECORD_BYTES, HIGHEST_MAX_RECORD_BYTES } from './producer-record';

export interface OrderedProducerOptions {
  /** The stream's name. Exactly one of `streamName` and `streamArn` must be given. */
  streamName?: string;
  /** The stream's ARN. Exactly one of `streamName` and `streamArn` must be given. */
  streamArn?: string;
  /**
   * The stream's record size limit in bytes, 1 to 10,485,760.
   * @default 1048576, the limit of a stream that was not given another
   */
  maxRecordBytes?: number;
  /**
   * How many requests may be under way at once. Their partition keys are always disjoint.
   * @default 8
   */
  maxRequestsInFlight?: number;
  /**
   * How many records `putAll` holds at most that are neither acknowledged nor rejected.
   * @default 10000
   */
  maxBufferedRecords?: number;
  /**
   * How many bytes `putAll` holds at most that are neither acknowledged nor rejected; one record is always let in.
   * @default 67108864 (64 MiB)
   */
  maxBufferedBytes?: number;
  /**
   * How often a record is sent before it is rejected.
   * @default 20
   */
  maxAttempts?: number;
  /**
   * Upper bound of the first back-off of a record, in milliseconds; it doubles with every attempt, with full jitter.
   * @default 50
   */
  backoffBaseMs?: number;
  /**
   * Upper bound of every back-off, in milliseconds.
   * @default 5000
   */
  backoffCapMs?: number;
  /**
   * Ends the producer early: what waits is rejected, what is under way keeps its answer.
   * @default the producer runs until it is closed
   */
  signal?: AbortSignal;
  /** @default Math.random */
  random?: () => number;
  /** @default the system's timers */
  clock?: Clock;
}

/** How a request names the stream. */
export type StreamIdentity = { StreamName: string } | { StreamARN: string };

export interface ProducerSettings
  extends Required<Omit<OrderedProducerOptions, 'streamName' | 'streamArn' | 'signal'>> {
  stream: StreamIdentity;
  signal: AbortSignal | undefined;
}

/** The options, checked, with the defaults in place of what is absent. */
export function producerSettings(options: OrderedProducerOptions): ProducerSettings {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError('options', options, 'an object with streamName or streamArn');
  }
  const settings: ProducerSettings = {
    stream: streamIdentity(options),
    maxRecordBytes: options.maxRecordBytes ?? DEFAULT_MAX_RECORD_BYTES,
    maxRequestsInFlight: options.maxRequestsInFlight ?? 8,
    maxBufferedRecords: options.maxBufferedRecords ?? 10_000,
    maxBufferedBytes: options.maxBufferedBytes ?? 64 * 1024 * 1024,
    maxAttempts: options.maxAttempts ?? 20,
    backoffBaseMs: options.backoffBaseMs ?? 50,
    backoffCapMs: options.backoffCapMs ?? 5_000,
    signal: options.signal,
    random: options.random ?? Math.random,
    clock: options.clock ?? systemClock,
  };
  checkWhole('maxRecordBytes', settings.maxRecordBytes, HIGHEST_MAX_RECORD_BYTES);
  for (const field of ['maxRequestsInFlight', 'maxBufferedRecords', 'maxBufferedBytes', 'maxAttempts'] as const) {
    checkWhole(field, settings[field], Number.MAX_SAFE_INTEGER);
  }
  for (const field of ['backoffBaseMs', 'backoffCapMs'] as const) checkDelay(field, settings[field]);
  return settings;
}

function streamIdentity({ streamName: name, streamArn: arn }: OrderedProducerOptions): StreamIdentity {
  if (name !== undefined && arn !== undefined) {
    throw new InvalidArgumentError('streamArn', arn, 'absent when streamName is given');
  }
  if (typeof name === 'string' && name !== '') return { StreamName: name };
  if (typeof arn === 'string' && arn !== '') return { StreamARN: arn };
  throw new InvalidArgumentError('streamName', name, 'a non-empty string, or absent with a streamArn in its place');
}

function checkWhole(field: string, value: number, max: number): void {
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new InvalidArgumentError(field, value, `a whole number from 1 to ${max}`);
  }
}

/** What a timer of Node.js can wait; it takes a longer delay for none. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function checkDelay(field: string, value: number): void {
  if (!(value >= 0 && value <= LONGEST_TIMER_MS)) {
    throw new InvalidArgumentError(field, value, `a number of milliseconds from 0 to ${LONGEST_TIMER_MS}`);
  }
}
