import { randomUUID } from 'node:crypto';
import { type Clock, LONGEST_TIMER_MS, systemClock } from '../kernel/clock';
import { InvalidArgumentError } from '../kernel/errors';
import { checkHashBuckets, DEFAULT_HASH_BUCKETS } from '../stream-format/hash-buckets';
import type { Aggregation } from './entry-former';
import { DEFAULT_MAX_RECORD_BYTES, MAX_RECORD_LIMIT_BYTES } from './producer-record';
import type { StreamIdentity } from './put-records-client';
import { MAX_REQUEST_RECORDS } from './shard-turns';

/** The stream of an `OrderedProducer`, and its limits on memory, requests and time. */
export interface OrderedProducerOptions {
  /** The stream's name. Exactly one of `streamName` and `streamArn` must be given. */
  streamName?: string;
  /** The stream's ARN. Exactly one of `streamName` and `streamArn` must be given. */
  streamArn?: string;
  /**
   * The stream's record size limit in bytes, 1 to 10,485,760.
   * @default the stream is asked when a larger record than 1 MiB is put, if the client has `describeStreamSummary`;
   *   1048576, the limit of a stream that was not given another, if not
   */
  maxRecordBytes?: number;
  /**
   * Puts several records into one Kinesis record, in the format of the Kinesis Producer Library: all of them are stored,
   * in order, or none. Consumers take them apart with `deaggregate`, or the Kinesis Client Library.
   *
   * - `per-key`, or true: consecutive records of one key. A key then moves at many records a round trip.
   * - `packed`: the same, and records of many keys of one hash bucket share a Kinesis record. Use it for many keys with
   *   small records. See `hashBuckets`, which it needs, for what must stay as it is.
   * @default false
   */
  aggregation?: boolean | 'per-key' | 'packed';
  /**
   * Gives each record without an explicit hash key that of its key's bucket: the centre of one of as many equal parts of
   * the hash key space, a power of two from 2 to 65,536, at least four for each shard that the stream will ever have. A
   * bucket is a point of the hash key space, so that no reshard divides what a pack holds.
   *
   * It is part of the stream's configuration: all producers of a key must agree on it, and another number moves keys to
   * other shards, as `moveKey` does with one.
   * @default 256 with `packed`; none otherwise, so that the MD5 of each key decides
   */
  hashBuckets?: number;
  /**
   * How long a record may wait for others to share a pack with, in milliseconds, with `packed` only. Fewer and larger
   * Kinesis records cost less, and each record comes that much later. Less than `maxRecordAgeMs`, if you set that: a
   * record that fills no pack would expire before it is sent.
   * @default 0: a record goes with what is there when its turn comes
   */
  lingerMs?: number;
  /**
   * The largest aggregate of several records, in bytes, 1 to `maxRecordBytes`. Use more where one key must go faster
   * than this size a round trip, and less where large records hold up others of their shard.
   * @default 51200, as in the Kinesis Producer Library: enough for one key to fill a shard over round trips of 50 ms
   */
  maxAggregateBytes?: number;
  /**
   * Gives each record its place in a sequence, so that `deduplicate` can tell a duplicate after a lost response,
   * even one that arrives late, and restores each key's order exactly once. Every record is then in an aggregate,
   * perhaps alone.
   * @default false
   */
  sequence?: boolean;
  /**
   * Sends each record by PutRecord with `SequenceNumberForOrdering`, the one way whose order within a key the API
   * reference promises in so many words, at a request for every record. Needs a client with `putRecord`.
   * @default false: many records a request, by PutRecords
   */
  sequentialPuts?: boolean;
  /**
   * After a rejection, goes on with the later records of the key, so that the rejected one is left out.
   * @default false: the records of the key that wait behind a rejected one are rejected too
   */
  skipRejected?: boolean;
  /**
   * How long after `put` a record may be sent, in milliseconds. A record that is in flight then keeps its answer. Any
   * other record is rejected at once, even behind one in flight: with its last failure if it was sent before, with
   * `RecordExpiredError` if not. More than `lingerMs`.
   * @default records wait until it is their turn
   */
  maxRecordAgeMs?: number;
  /**
   * How long a request may take to the end of its answer, in milliseconds, 1 to 2,147,483,647. It is then aborted, and
   * its records are sent again: they may have been stored.
   * @default 10000: a full request of 10 MiB over some 8 Mbit/s
   */
  requestTimeoutMs?: number;
  /**
   * How many requests may be in flight at once. Their partition keys are always disjoint.
   * @default 8; 50 with `sequentialPuts`, where a request holds one record
   */
  maxRequestsInFlight?: number;
  /**
   * How many records `putAll` holds at most that are neither acknowledged nor rejected; a quarter of them of one key.
   * @default 10000
   */
  maxBufferedRecords?: number;
  /**
   * How many bytes `putAll` holds at most that are neither acknowledged nor rejected, a quarter of them of one
   * key; one record is always let in.
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
   * Ends the producer early: records that wait are rejected at once, records in flight keep their answer, for which
   * they wait no longer than `requestTimeoutMs`.
   * @default the producer runs until it is closed
   */
  signal?: AbortSignal;
  /** @default Math.random */
  random?: () => number;
  /** @default the system's timers */
  clock?: Clock;
}

type OptionalSetting = 'maxRecordBytes' | 'maxRecordAgeMs' | 'hashBuckets' | 'signal';

export interface ProducerSettings
  extends Required<
      Omit<OrderedProducerOptions, 'streamName' | 'streamArn' | 'sequence' | 'aggregation' | OptionalSetting>
    >,
    Pick<OrderedProducerOptions, OptionalSetting> {
  stream: StreamIdentity;
  aggregation: Aggregation;
  hashBuckets: number | undefined;
  maxRequestRecords: number;
  /** The producer in the sequence that each record is given; undefined if the records are given none. */
  producerId: string | undefined;
}

const DEFAULT_MAX_AGGREGATE_BYTES = 51_200;

/** The options, checked, with the defaults in place of what is absent. */
export function producerSettings(options: OrderedProducerOptions): ProducerSettings {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError('options', options, 'an object with streamName or streamArn');
  }
  const { maxRecordBytes, maxRecordAgeMs, signal, sequentialPuts = false } = options;
  const aggregation = aggregationOf(options.aggregation);
  const settings: ProducerSettings = {
    stream: streamIdentity(options),
    maxRecordBytes,
    aggregation,
    hashBuckets: options.hashBuckets ?? (aggregation === 'packed' ? DEFAULT_HASH_BUCKETS : undefined),
    lingerMs: options.lingerMs ?? 0,
    maxAggregateBytes: options.maxAggregateBytes ?? Math.min(DEFAULT_MAX_AGGREGATE_BYTES, maxRecordBytes ?? Infinity),
    producerId: options.sequence ? randomUUID() : undefined,
    sequentialPuts,
    skipRejected: options.skipRejected ?? false,
    maxRecordAgeMs,
    requestTimeoutMs: options.requestTimeoutMs ?? 10_000,
    maxRequestsInFlight: options.maxRequestsInFlight ?? (sequentialPuts ? 50 : 8),
    maxRequestRecords: sequentialPuts ? 1 : MAX_REQUEST_RECORDS,
    maxBufferedRecords: options.maxBufferedRecords ?? 10_000,
    maxBufferedBytes: options.maxBufferedBytes ?? 64 * 1024 * 1024,
    maxAttempts: options.maxAttempts ?? 20,
    backoffBaseMs: options.backoffBaseMs ?? 50,
    backoffCapMs: options.backoffCapMs ?? 5_000,
    signal,
    random: options.random ?? Math.random,
    clock: options.clock ?? systemClock,
  };
  if (maxRecordBytes !== undefined) checkWhole('maxRecordBytes', maxRecordBytes, MAX_RECORD_LIMIT_BYTES);
  checkWhole('maxAggregateBytes', settings.maxAggregateBytes, maxRecordBytes ?? DEFAULT_MAX_RECORD_BYTES);
  for (const field of ['maxRequestsInFlight', 'maxBufferedRecords', 'maxBufferedBytes', 'maxAttempts'] as const) {
    checkWhole(field, settings[field], Number.MAX_SAFE_INTEGER);
  }
  checkWhole('requestTimeoutMs', settings.requestTimeoutMs, LONGEST_TIMER_MS);
  for (const field of ['backoffBaseMs', 'backoffCapMs'] as const) checkDelay(field, settings[field]);
  if (settings.hashBuckets !== undefined) checkHashBuckets('hashBuckets', settings.hashBuckets);
  checkDelay('lingerMs', settings.lingerMs);
  if (settings.lingerMs > 0 && aggregation !== 'packed') {
    throw new InvalidArgumentError('lingerMs', settings.lingerMs, "absent without aggregation: 'packed'");
  }
  if (sequentialPuts && aggregation === 'packed') {
    throw new InvalidArgumentError('sequentialPuts', true, "absent with aggregation: 'packed', which mixes keys");
  }
  if (maxRecordAgeMs !== undefined) checkAge(maxRecordAgeMs, settings.lingerMs);
  return settings;
}

function aggregationOf(aggregation: OrderedProducerOptions['aggregation'] = false): Aggregation {
  if (aggregation === false) return 'none';
  if (aggregation === true || aggregation === 'per-key') return 'per-key';
  if (aggregation === 'packed') return 'packed';
  throw new InvalidArgumentError('aggregation', aggregation, "true, false, 'per-key' or 'packed'");
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

/** A record that lingers to its end expires: none that fills no pack would ever be sent. */
function checkAge(maxRecordAgeMs: number, lingerMs: number): void {
  checkDelay('maxRecordAgeMs', maxRecordAgeMs);
  if (lingerMs > 0 && lingerMs >= maxRecordAgeMs) {
    throw new InvalidArgumentError('lingerMs', lingerMs, `less than maxRecordAgeMs, which is ${maxRecordAgeMs}`);
  }
}

function checkDelay(field: string, value: number): void {
  if (!(value >= 0 && value <= LONGEST_TIMER_MS)) {
    throw new InvalidArgumentError(field, value, `a number of milliseconds from 0 to ${LONGEST_TIMER_MS}`);
  }
}
