/** The base class of every error that this library throws. */
export class EvenShardsError extends Error {
  /** Names the kind of error. Compare it rather than the message: a code is stable, a message may change. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.name = new.target.name;
  }
}

/** An argument is not one of the allowed values. The library throws this before it writes anything. */
export class InvalidArgumentError extends EvenShardsError {
  constructor(
    /** The name of the wrong field, as the caller wrote it. */
    readonly field: string,
    /** The wrong value. */
    readonly value: unknown,
    /** What is allowed instead, in words that follow "must be". */
    readonly allowed: string,
  ) {
    super('INVALID_ARGUMENT', `${field} must be ${allowed}, got ${describeValue(value)}`);
  }
}

/** A shard count is not a whole number within the bounds of the service. */
export class InvalidShardCountError extends InvalidArgumentError {
  override readonly code = 'INVALID_SHARD_COUNT';
}

/** A hash key is not an integer of the key space, or no shard holds it. */
export class InvalidHashKeyError extends InvalidArgumentError {
  override readonly code = 'INVALID_HASH_KEY';
}

/** Hash key ranges leave a gap, overlap, or do not reach from the start of the key space to its end. */
export class InvalidHashKeyRangesError extends InvalidArgumentError {
  override readonly code = 'INVALID_HASH_KEY_RANGES';
}

const MAX_DESCRIPTION_LENGTH = 100;

/** A value as an error message shows it: readable, on one line, and short even if the input has a megabyte. */
function describeValue(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value.slice(0, MAX_DESCRIPTION_LENGTH)) : textOf(value);
  const length = typeof value === 'string' ? value.length : text.length;
  return length > MAX_DESCRIPTION_LENGTH ? `${text.slice(0, MAX_DESCRIPTION_LENGTH)}… (${length} characters)` : text;
}

function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? inner.toString() : inner));
  } catch {
    return 'an object that cannot be written as JSON';
  }
}
