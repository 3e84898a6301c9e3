/** The base of every error this library throws. `code` is stable; messages may change. */
export class EvenShardsError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.name = new.target.name;
  }
}

/** An argument outside its bounds. Thrown before anything is written. */
export class InvalidArgumentError extends EvenShardsError {
  constructor(
    /** The name of the field at fault, as the caller wrote it. */
    readonly field: string,
    /** The offending value. */
    readonly value: unknown,
    /** What is allowed instead, in words. */
    readonly allowed: string,
  ) {
    super('INVALID_ARGUMENT', `${field} must be ${allowed}, got ${describeValue(value)}`);
  }
}

/** A shard count that is not a whole number within the service's bounds. */
export class InvalidShardCountError extends InvalidArgumentError {
  override readonly code = 'INVALID_SHARD_COUNT';
}

/** A partition key that Kinesis would refuse. */
export class InvalidPartitionKeyError extends InvalidArgumentError {
  override readonly code = 'INVALID_PARTITION_KEY';
}

/** A hash key outside the key space or outside every shard. */
export class InvalidHashKeyError extends InvalidArgumentError {
  override readonly code = 'INVALID_HASH_KEY';
}

/** Hash key ranges that do not cover a space once, in order. */
export class InvalidHashKeyRangesError extends InvalidArgumentError {
  override readonly code = 'INVALID_HASH_KEY_RANGES';
}

/** A weight that is no measure of traffic. */
export class InvalidWeightError extends InvalidArgumentError {
  override readonly code = 'INVALID_WEIGHT';
}

/** Every hash key of the space is allocated. */
export class KeySpaceExhaustedError extends EvenShardsError {
  constructor(
    /** How many keys are allocated. */
    readonly size: number,
  ) {
    super('KEY_SPACE_EXHAUSTED', `all ${size} hash keys are allocated`);
  }
}

/** Others kept changing a registry before this change could be written. Nothing was written. */
export class RegistryBusyError extends EvenShardsError {
  constructor(
    /** How often the change was tried. */
    readonly attempts: number,
  ) {
    super('REGISTRY_BUSY', `not written: others changed the registry before each of ${attempts} attempts`);
  }
}

/** A move that was planned for an owner whose key has changed since, or to a key that has an owner by now. */
export class StaleMoveError extends EvenShardsError {
  constructor(
    readonly owner: string,
    reason: string,
  ) {
    super('STALE_MOVE', `${JSON.stringify(owner)} was not moved: ${reason}, plan anew`);
  }
}

/** A record larger than the stream accepts. */
export class RecordTooLargeError extends InvalidArgumentError {
  override readonly code = 'RECORD_TOO_LARGE';
}

/** An index name that the function or application does not know. */
export class UnknownIndexError extends InvalidArgumentError {
  override readonly code = 'UNKNOWN_INDEX';
}

/** A value asked of an index that does not have it. */
export class InvalidIndexValueError extends InvalidArgumentError {
  override readonly code = 'INVALID_INDEX_VALUE';
}

/** A sort-key condition that is not exactly one of the conditions DynamoDB has. */
export class InvalidSortKeyConditionError extends InvalidArgumentError {
  override readonly code = 'INVALID_SORT_KEY_CONDITION';
}

/** A cursor that was altered, or that belongs to another query. */
export class InvalidCursorError extends InvalidArgumentError {
  override readonly code = 'INVALID_CURSOR';
}

/** Shards that could not be read, after all attempts or by the deadline. */
export class ShardsUnavailableError extends EvenShardsError {
  constructor(
    /** The shards that are missing. */
    readonly shards: readonly number[],
    options?: ErrorOptions,
  ) {
    super('SHARDS_UNAVAILABLE', `no answer in time from shard(s) ${shards.join(', ')}`, options);
  }
}

/** An index configuration that contradicts itself. */
export class InvalidIndexConfigError extends InvalidArgumentError {
  override readonly code = 'INVALID_INDEX_CONFIG';
}

/** A record of a stream that begins as an aggregate of the Kinesis Producer Library does, and is none. */
export class CorruptAggregateError extends EvenShardsError {
  constructor(
    /** What is wrong with it, in words. */
    readonly reason: string,
  ) {
    super('CORRUPT_AGGREGATE', `corrupt aggregated record: ${reason}`);
  }
}

/** A record that Kinesis refused, or kept refusing until the attempts were used up. */
export class RecordRejectedError extends EvenShardsError {
  /**
   * Whether the record may be in the stream all the same, or come to it late: the answer to an attempt was lost. If
   * false it is not, and never will be.
   */
  readonly mayHaveBeenWritten: boolean;

  constructor(
    /** The service's own error code, such as `ProvisionedThroughputExceededException`. */
    readonly serviceCode: string,
    serviceMessage: string,
    /** How often the record was sent. */
    readonly attempts: number,
    { mayHaveBeenWritten = false, ...options }: ErrorOptions & { mayHaveBeenWritten?: boolean } = {},
  ) {
    super('RECORD_REJECTED', `rejected after ${attempts} attempt(s): ${serviceCode}: ${serviceMessage}`, options);
    this.mayHaveBeenWritten = mayHaveBeenWritten;
  }
}

/** A record that was never sent, because an earlier record of its partition key failed and order would break. */
export class EarlierRecordFailedError extends EvenShardsError {
  constructor(
    readonly partitionKey: string,
    options?: ErrorOptions,
  ) {
    super('EARLIER_RECORD_FAILED', 'not sent: an earlier record of the same partition key failed', options);
  }
}

/** A record that was never sent, because its turn did not come within the time it was given. */
export class RecordExpiredError extends EvenShardsError {
  constructor(
    /** The time it was given, in milliseconds. */
    readonly maxAgeMs: number,
  ) {
    super('RECORD_EXPIRED', `not sent: its turn did not come within ${maxAgeMs} ms`);
  }
}

/** A stream that spreads records over its shards without regard to their keys, so that no key has an order. */
export class StreamDistributionError extends EvenShardsError {
  constructor() {
    super(
      'STREAM_DISTRIBUTION',
      'not sent: the stream distributes records without regard to partition keys and explicit hash keys; ' +
        'set its RecordDistributionStrategy to USER_PARTITION_KEY',
    );
  }
}

/** A record handed to a producer after `close`. */
export class ProducerClosedError extends EvenShardsError {
  constructor() {
    super('PRODUCER_CLOSED', 'not sent: the producer is closed');
  }
}

/** A record that was still waiting when the producer's signal aborted. */
export class ProducerAbortedError extends EvenShardsError {
  constructor(options?: ErrorOptions) {
    super('PRODUCER_ABORTED', 'not sent: the producer was aborted before its turn', options);
  }
}

const LONGEST_DESCRIPTION = 100;

/** A value as an error message shows it: readable, one line, and short even for a megabyte of input. */
function describeValue(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value.slice(0, LONGEST_DESCRIPTION)) : textOf(value);
  const length = typeof value === 'string' ? value.length : text.length;
  return length > LONGEST_DESCRIPTION ? `${text.slice(0, LONGEST_DESCRIPTION)}… (${length} characters)` : text;
}

function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? inner.toString() : inner));
  } catch {
    return 'an object that is no JSON';
  }
}
