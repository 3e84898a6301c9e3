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

/** A hash key outside the key space or outside every shard. */
export class InvalidHashKeyError extends InvalidArgumentError {
  override readonly code = 'INVALID_HASH_KEY';
}

/** Hash key ranges that do not cover a space once, in order. */
export class InvalidHashKeyRangesError extends InvalidArgumentError {
  override readonly code = 'INVALID_HASH_KEY_RANGES';
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
