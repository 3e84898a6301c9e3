/**
 * The base class of every error that this library throws. The message starts with the code in brackets, such as
 * `[INVALID_SHARD_COUNT]`, because a caller in another language or process gets only the message.
 */
export class EvenShardsError extends Error {
  /** The kind of error. Compare the code, not the message: codes are stable, messages may change. */
  readonly code: string;

  // Properties that hold data are private and have a getter: loggers write every enumerable property of an error.
  readonly #summary: string;

  /** `summary` is the problem without user data, for logs. The summary is required if `problem` contains user data. */
  constructor(
    code: string,
    problem: string,
    { summary = problem, ...options }: ErrorOptions & { summary?: string } = {},
  ) {
    super(`[${code}] ${problem}`, options);
    this.code = code;
    this.name = new.target.name;
    this.#summary = summary;
  }

  /** The message without the code. */
  get problem(): string {
    return this.message.slice(`[${this.code}] `.length);
  }

  /**
   * The problem without user data, for logs. `problem` may contain a wrong value, a key, the name of an owner or the
   * message of a service.
   */
  get summary(): string {
    return this.#summary;
  }

  /**
   * The error as JSON, for loggers such as AWS Lambda's JSON log format. The JSON has the summary instead of the message, and
   * no property with user data.
   */
  toJSON(): { errorType: string; code: string; errorMessage: string; stackTrace: string[] } {
    return { errorType: this.name, code: this.code, errorMessage: this.summary, stackTrace: framesOf(this) };
  }
}

/**
 * The lines of the stack after the message. Empty if the stack does not contain the message, because the stack may then contain
 * another message with user data.
 */
export function framesOf({ stack = '', message }: Pick<Error, 'stack' | 'message'>): string[] {
  const start = stack.indexOf(message);
  if (start < 0) return [];
  const frames = stack.slice(start + message.length);
  return frames.split('\n').flatMap((line) => line.trim() || []);
}

/** An argument is not one of the allowed values. The library throws this error before it writes anything. */
export class InvalidArgumentError extends EvenShardsError {
  /** The `code` of the errors of this class. */
  static readonly code: string = 'INVALID_ARGUMENT';

  readonly #value: unknown;

  constructor(
    /** The name of the wrong field, as the caller wrote it. */
    readonly field: string,
    value: unknown,
    /** The allowed values. The message has this text after "must be". */
    readonly allowed: string,
  ) {
    const summary = `${shortened(field)} must be ${allowed}`.replace(TOKEN, 'a token');
    super(new.target.code, `${summary}, got ${describeValue(value).replace(TOKEN, 'a token')}`, { summary });
    this.#value = value;
  }

  /** The wrong value. This field is a getter, so that loggers do not write the value. */
  get value(): unknown {
    return this.#value;
  }
}

/** A shard count is not a whole number within the bounds of the service. */
export class InvalidShardCountError extends InvalidArgumentError {
  static override readonly code = 'INVALID_SHARD_COUNT';
}

/** A hash key is not an integer of the key space, or no shard contains this hash key. */
export class InvalidHashKeyError extends InvalidArgumentError {
  static override readonly code = 'INVALID_HASH_KEY';
}

/** Hash key ranges leave a gap, overlap, or do not reach from the start of the key space to its end. */
export class InvalidHashKeyRangesError extends InvalidArgumentError {
  static override readonly code = 'INVALID_HASH_KEY_RANGES';
}

/**
 * The forms of an unresolved CDK token: `${Token[Name.7]}`, `#{Token[Name.7]}`, or a number about -1.888e+289. Source:
 * aws-cdk-lib, core/lib/private/encoding.
 */
const TOKEN = /[$#]\{Token\[[^\]]*\]\}|-1\.\d{10,16}e\+289/g;

const MAX_DESCRIPTION_LENGTH = 100;
const MAX_NAME_LENGTH = 400;

/**
 * Describes a value for an error message: on one line, cut to about 100 characters. The function does not call the `toString`
 * method of an object, because that method can return 400 MB of zeros for a number object of the Cassandra driver.
 */
export function describeValue(value: unknown): string {
  const text = textOf(value);
  if ((typeof value === 'string' ? value : text).length <= MAX_DESCRIPTION_LENGTH) return text;
  const whole = typeof value === 'string' ? ` (${value.length} characters)` : '';
  return `${text.slice(0, MAX_DESCRIPTION_LENGTH)}…${whole}`;
}

/** Shortens a name from the caller for a message, to 400 characters. */
export function shortened(name: string): string {
  return name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name;
}

/** The square of 10^50, which is the largest bigint whose digits a message shows. -10^50 has the same square. */
const LARGEST_SQUARE = 10n ** 100n;

/** The text of a value, cut soon after `room` characters. */
function textOf(value: unknown, room = MAX_DESCRIPTION_LENGTH): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room));
  if (typeof value === 'bigint' && value * value > LARGEST_SQUARE) return 'a long number';
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    const isList = Array.isArray(value);
    const type = isList ? undefined : Object.getPrototypeOf(value)?.constructor;
    if (type === Date) return JSON.stringify(value);
    if (type !== undefined && type !== Object) return `a ${type.name}`;
    let text = '';
    // Uses an iterator for arrays: an array can have millions of elements, and a message shows only a few.
    for (const key of isList ? value.keys() : Object.keys(value)) {
      if (text.length >= room) break;
      const inner = textOf((value as Record<string, unknown>)[key], room - text.length - 1);
      text += `${text && ','}${isList ? '' : `${JSON.stringify(key)}:`}${inner}`;
    }
    return isList ? `[${text}]` : `{${text}}`;
  } catch {
    return 'an object that cannot be read';
  }
}
