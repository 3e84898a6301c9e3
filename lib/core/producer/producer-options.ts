import { randomUUID } from 'node:crypto';
import { checkAtMost, checkBetween, checkPositive, checkSignal, checkWhole, isObject, isText } from '../kernel/checks';
import { type Clock, LONGEST_TIMER_MS, systemClock } from '../kernel/clock';
import { InvalidArgumentError } from '../kernel/errors';
import { checkHashBuckets, DEFAULT_HASH_BUCKETS } from '../stream-format/hash-buckets';
import type { Aggregation } from './entry-former';
import { DEFAULT_MAX_RECORD_BYTES, MAX_RECORD_LIMIT_BYTES } from './producer-record';
import type { StreamIdentity } from './put-records-client';
import { MAX_REQUEST_RECORDS } from './shard-turns';

/**
 * The options of an `OrderedProducer`. The important options are the stream, `aggregation` and `sequence`. The other options have
 * defaults that suit most streams.
 */
export interface OrderedProducerOptions {
  /** The stream's name. Exactly one of `streamName` and `streamArn` must be given. */
  streamName?: string;
  /** The stream's ARN. Exactly one of `streamName` and `streamArn` must be given. */
  streamArn?: string;
  /**
   * Whether several records share a Kinesis record, in the format of the Kinesis Producer Library. Kinesis stores either all
   * records of an aggregate, in order, or no record of the aggregate. Each key keeps its order in every mode.
   *
   * - `false`: each record is a Kinesis record. Any consumer can read such records. The producer sends one record of a key in
   *   each round trip. Each record costs at least one payload unit of 25 KiB.
   * - `per-key`, or true: consecutive records of one key share a Kinesis record. The producer sends many records of a key in each
   *   round trip. This mode does not help keys that rarely have two waiting records. Consumers must call `deaggregate`, or use
   *   the Kinesis Client Library.
   * - `packed`: records of many keys share a Kinesis record. It is the cheapest and fastest mode for many keys with small
   *   records. Consumers must do the same as for `per-key`, and they see the name of an aggregation group as the partition key of
   *   the Kinesis record. All producers of the stream must have the same `hashBuckets`, and a change of this number moves keys to
   *   other shards. It cannot be combined with `sequentialPuts`.
   * @default false
   */
  aggregation?: boolean | 'per-key' | 'packed';
  /**
   * Gives each record its position in a sequence. A consumer can then recognise duplicates after a lost response, even late
   * duplicates. So the consumer processes each record once, in the order of its key. Every record is then in an aggregate,
   * perhaps as its only record.
   * @default false
   */
  sequence?: boolean;
  /**
   * Whether the producer sends the later records of a key after a rejected record. The rejected record is then missing in the
   * stream.
   * @default false: the records of the key that wait behind a rejected record are rejected too
   */
  skipRejected?: boolean;
  /**
   * How long after `put` a record may be sent, in milliseconds. It must be more than 0 and more than `lingerMs`. After that
   * time, a record in flight still gets its result. Any other record is rejected immediately, even if it waits behind a record in
   * flight. The rejected record gets the error of its last attempt, or `RecordExpiredError` if it was never sent.
   * @default no limit
   */
  maxRecordAgeMs?: number;
  /**
   * The number of hash buckets: a power of two from 2 to 65,536, and at least four for each shard that the stream will ever have.
   * The buckets are equal parts of the hash key space. A record without an explicit hash key gets the centre of its key's bucket
   * as its hash key, so no reshard divides an aggregate.
   *
   * The number is part of the stream's configuration: all producers of a key must use the same number, and a change of the number
   * moves keys to other shards.
   * @default 256 with `packed`; otherwise there are no buckets, and the MD5 of each key decides the shard
   */
  hashBuckets?: number;
  /**
   * How long a record may wait until its aggregate is full, in milliseconds, with `packed` only. Fewer and larger Kinesis records
   * cost less, but each record is stored up to this time later. It must be less than `maxRecordAgeMs`. Otherwise a record would
   * expire before its aggregate is sent.
   * @default 0: a record shares an aggregate with the records that are ready at its turn
   */
  lingerMs?: number;
  /**
   * The maximum size of an aggregate of several records, in bytes, from 1 to `maxRecordBytes`. Increase it if the producer must
   * send more than this size for one key in each round trip. Decrease it if large aggregates delay the other records of their
   * shard.
   * @default 51200, as in the Kinesis Producer Library: with round trips of 50 ms, one key can use the whole limit of a shard
   */
  maxAggregateBytes?: number;
  /**
   * The stream's record size limit in bytes, 1 to 10,485,760.
   * @default the stream's own limit, if the client has `describeStreamSummary`: the producer requests it before it sends a record
   *   above 1 MiB. Otherwise 1048576, the default limit of a stream
   */
  maxRecordBytes?: number;
  /**
   * Whether to send each record by PutRecord with `SequenceNumberForOrdering`. PutRecord is the only operation for which the API
   * reference explicitly promises the order within a key. This option costs one request per record, and needs a client with
   * `putRecord`.
   * @default false: PutRecords sends many records per request
   */
  sequentialPuts?: boolean;
  /**
   * How long a request may take until the end of its response, in milliseconds, from 1 to 2,147,483,647. After that time the
   * producer aborts the request and sends its records again, although Kinesis may have stored them.
   * @default 10000: enough for a full request of 10 MiB at about 8 Mbit/s
   */
  requestTimeoutMs?: number;
  /**
   * How many requests may be in flight in parallel. Two requests in flight never contain the same partition key.
   * @default 8; 50 with `sequentialPuts`, where a request contains one record
   */
  maxRequestsInFlight?: number;
  /**
   * The maximum number of records without a result that `putAll` buffers. One key can have a quarter of this number.
   * @default 10000
   */
  maxBufferedRecords?: number;
  /**
   * The maximum number of bytes that `putAll` buffers, in records without a result. One key can have a quarter of this number. An
   * empty buffer accepts a record of any size.
   * @default 67108864 (64 MiB)
   */
  maxBufferedBytes?: number;
  /**
   * The number of attempts to send a record before the producer rejects the record. If Kinesis rejects an aggregate of several keys
   * as invalid, or a request with a record above 1 MiB, the producer sends the records that may be the cause once more, each
   * alone. After any other permanent error, such as a missing permission, it sends no record of the request again.
   * @default 20
   */
  maxAttempts?: number;
  /**
   * The upper bound of the first back-off of a record, in milliseconds, up to `backoffCapMs`. The bound doubles with every
   * attempt. Each back-off is a random time up to the bound (full jitter).
   * @default 50, or `backoffCapMs` if that is less
   */
  backoffBaseMs?: number;
  /**
   * The upper bound of every back-off, in milliseconds.
   * @default 5000
   */
  backoffCapMs?: number;
  /**
   * Stops the producer early. Waiting records are rejected immediately. Records in flight still get their results, within
   * `requestTimeoutMs`.
   * @default the producer runs until it is closed
   */
  signal?: AbortSignal;
  /** Returns a random number from 0 to 1, for back-offs. @default Math.random */
  random?: () => number;
  /** @default the system's timers */
  clock?: Clock;
}

type OptionalSetting = 'maxRecordBytes' | 'maxRecordAgeMs' | 'hashBuckets' | 'signal';

/** The options after the checks, with the defaults for absent options. */
export interface ProducerSettings
  extends Required<
      Omit<OrderedProducerOptions, 'streamName' | 'streamArn' | 'sequence' | 'aggregation' | OptionalSetting>
    >,
    Pick<OrderedProducerOptions, OptionalSetting> {
  stream: StreamIdentity;
  aggregation: Aggregation;
  hashBuckets: number | undefined;
  maxRequestRecords: number;
  /** The id of the producer in the sequence of its records. Undefined if the producer does not number its records. */
  producerId: string | undefined;
}

const DEFAULT_MAX_AGGREGATE_BYTES = 51_200;

/** Every option. A misspelled option of a JavaScript program would otherwise have no effect, without an error. */
const OPTIONS: Record<keyof OrderedProducerOptions, true> = {
  streamName: true,
  streamArn: true,
  aggregation: true,
  sequence: true,
  skipRejected: true,
  maxRecordAgeMs: true,
  hashBuckets: true,
  lingerMs: true,
  maxAggregateBytes: true,
  maxRecordBytes: true,
  sequentialPuts: true,
  requestTimeoutMs: true,
  maxRequestsInFlight: true,
  maxBufferedRecords: true,
  maxBufferedBytes: true,
  maxAttempts: true,
  backoffBaseMs: true,
  backoffCapMs: true,
  signal: true,
  random: true,
  clock: true,
};

/** Checks the options, and sets the defaults for absent options. */
export function producerSettings(options: OrderedProducerOptions): ProducerSettings {
  if (!isObject(options as unknown)) {
    throw new InvalidArgumentError('options', options, 'an object with streamName or streamArn');
  }
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown !== undefined) {
    throw new InvalidArgumentError('options', unknown, `made of ${Object.keys(OPTIONS).join(', ')}`);
  }
  checkSignal(options.signal);
  const { maxRecordBytes, maxRecordAgeMs, signal, sequentialPuts = false, backoffCapMs = 5_000 } = options;
  if (maxRecordBytes !== undefined) checkWhole('maxRecordBytes', maxRecordBytes, 1, MAX_RECORD_LIMIT_BYTES);
  checkBetween('backoffCapMs', backoffCapMs, 0, LONGEST_TIMER_MS);
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
    backoffBaseMs: options.backoffBaseMs ?? Math.min(50, backoffCapMs),
    backoffCapMs,
    signal,
    random: options.random ?? Math.random,
    clock: options.clock ?? systemClock,
  };
  const { maxAggregateBytes, backoffBaseMs } = settings;
  checkWhole('maxAggregateBytes', maxAggregateBytes, 1);
  checkAtMost({ maxAggregateBytes }, { maxRecordBytes: maxRecordBytes ?? DEFAULT_MAX_RECORD_BYTES });
  for (const field of ['maxRequestsInFlight', 'maxBufferedRecords', 'maxBufferedBytes', 'maxAttempts'] as const) {
    checkWhole(field, settings[field], 1);
  }
  checkWhole('requestTimeoutMs', settings.requestTimeoutMs, 1, LONGEST_TIMER_MS);
  for (const field of ['backoffBaseMs', 'lingerMs'] as const) {
    checkBetween(field, settings[field], 0, LONGEST_TIMER_MS);
  }
  checkAtMost({ backoffBaseMs }, { backoffCapMs });
  if (settings.hashBuckets !== undefined) checkHashBuckets('hashBuckets', settings.hashBuckets);
  if (settings.lingerMs > 0 && aggregation !== 'packed') {
    throw new InvalidArgumentError('lingerMs', settings.lingerMs, "absent without aggregation: 'packed'");
  }
  if (sequentialPuts && aggregation === 'packed') {
    throw new InvalidArgumentError(
      'sequentialPuts',
      true,
      "absent with aggregation: 'packed' (its aggregates contain several keys)",
    );
  }
  if (maxRecordAgeMs !== undefined) checkMaxAge(maxRecordAgeMs, settings.lingerMs);
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
  if (isText(name)) return { StreamName: name };
  if (isText(arn)) return { StreamARN: arn };
  throw new InvalidArgumentError('streamName', name, 'a non-empty string, or absent if streamArn is given');
}

/** A record whose aggregate does not fill waits for `lingerMs`. It must not expire before it is sent. */
function checkMaxAge(maxRecordAgeMs: number, lingerMs: number): void {
  checkPositive('maxRecordAgeMs', maxRecordAgeMs, LONGEST_TIMER_MS);
  if (lingerMs > 0 && lingerMs >= maxRecordAgeMs) {
    throw new InvalidArgumentError('lingerMs', lingerMs, `less than maxRecordAgeMs, which is ${maxRecordAgeMs}`);
  }
}
