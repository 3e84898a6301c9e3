/**
 * The base class of every error that this library throws. Its message starts with its code in brackets, such as
 * `[INVALID_SHARD_COUNT]`, for the message is all that reaches a caller in another language or process.
 */
export class EvenShardsError extends Error {
  /** Names the kind of error. Compare it rather than the message: a code is stable, a message may change. */
  readonly code: string;

  constructor(code: string, problem: string, options?: ErrorOptions) {
    super(`[${code}] ${problem}`, options);
    this.code = code;
    this.name = new.target.name;
  }

  /** The message without the code. */
  get problem(): string {
    return this.message.slice(`[${this.code}] `.length);
  }
}

/** An argument is not one of the allowed values. The library throws this before it writes anything. */
export class InvalidArgumentError extends EvenShardsError {
  /** The `code` of the errors of this class. */
  static readonly code: string = 'INVALID_ARGUMENT';

  constructor(
    /** The name of the wrong field, as the caller wrote it. */
    readonly field: string,
    /** The wrong value. */
    readonly value: unknown,
    /** What is allowed instead, in words that follow "must be". */
    readonly allowed: string,
  ) {
    super(new.target.code, `${field} must be ${allowed}, got ${describeValue(value)}`.replace(TOKEN, 'a token'));
  }
}

/** A shard count is not a whole number within the bounds of the service. */
export class InvalidShardCountError extends InvalidArgumentError {
  static override readonly code = 'INVALID_SHARD_COUNT';
}

/** A hash key is not an integer of the key space, or no shard holds it. */
export class InvalidHashKeyError extends InvalidArgumentError {
  static override readonly code = 'INVALID_HASH_KEY';
}

/** Hash key ranges leave a gap, overlap, or do not reach from the start of the key space to its end. */
export class InvalidHashKeyRangesError extends InvalidArgumentError {
  static override readonly code = 'INVALID_HASH_KEY_RANGES';
}

/**
 * How CDK writes a value that only the deployment knows: `${Token[Name.7]}`, `#{Token[Name.7]}`, or a number about
 * -1.888e+289. Source: aws-cdk-lib, core/lib/private/encoding.
 */
const TOKEN = /[$#]\{Token\[[^\]]*\]\}|-1\.\d{10,16}e\+289/g;

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
