import { Duration, type IResource, Size, SizeRoundingBehavior, Stack, Token, TokenComparison } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { checkWhole, isWhole, wholeNumber } from '../core/kernel/checks';
import { InvalidArgumentError } from '../core/kernel/errors';

/** The bounds of an integer property. */
interface WholeNumbers {
  readonly min: number;
  /** @default - no maximum */
  readonly max?: number;
  /** Whether the property must not be a token, because synthesis computes with the number. */
  readonly resolved?: boolean;
}

/** The bounds of a number property. */
interface Numbers {
  /** The exclusive minimum. */
  readonly above?: number;
  readonly min?: number;
  readonly max?: number;
  /** Whether the property must not be a token, because synthesis computes with the number. */
  readonly resolved?: boolean;
}

/** The bounds of a duration or a size. */
interface Amounts<Amount> {
  readonly min?: Amount;
  readonly max?: Amount;
  /** Whether the property must not be a token, because synthesis computes with the amount. */
  readonly resolved?: boolean;
  /** The reason for the bounds, for the error message. */
  readonly because?: string;
}

type WithDefaults<P, D> = P & { readonly [K in keyof D & keyof P]-?: NonNullable<P[K]> };

/** A number, or undefined if the property may be absent. */
type Converted<Value> = number | Extract<Value, undefined>;

/** The units in which environment variables and CloudFormation properties contain durations and sizes. */
const UNITS = {
  milliseconds: unit('milliseconds', 'Duration.millis', (amount: Duration) =>
    amount.toMilliseconds({ integral: false }),
  ),
  seconds: unit('seconds', 'Duration.seconds', (amount: Duration) => amount.toSeconds({ integral: false })),
  bytes: unit('bytes', 'Size.bytes', (amount: Size) => amount.toBytes({ rounding: SizeRoundingBehavior.NONE })),
  kibibytes: unit('KiB', 'Size.kibibytes', (amount: Size) =>
    amount.toKibibytes({ rounding: SizeRoundingBehavior.NONE }),
  ),
};

function unit<Amount extends Duration | Size>(label: string, written: string, convert: (amount: Amount) => number) {
  return { label, written, of: (amount: Duration | Size) => convert(amount as Amount) };
}

/**
 * The properties of a construct, with defaults. A construct reads each property once, with the bounds of this
 * property, and then uses only the returned values.
 *
 * Each method checks one property and returns its value. The methods do not check absent properties and tokens. With
 * `resolved`, they reject a token.
 *
 * Errors have the code `INVALID_ARGUMENT` and name the property, such as `EvenShards/Producer: linger`.
 */
export class Props<P extends object> {
  public static of<P extends object, D extends Partial<P> = Record<never, never>>(
    construct: IConstruct,
    given: P,
    defaults?: D,
  ): Props<WithDefaults<P, D>> {
    return Props.named(constructField(construct, ''), given, defaults);
  }

  /** @param prefix the text before the names of properties in errors */
  public static named<P extends object, D extends Partial<P> = Record<never, never>>(
    prefix: string,
    given: P,
    defaults?: D,
  ): Props<WithDefaults<P, D>> {
    return new Props(prefix, given as WithDefaults<P, D>, defaults as Partial<WithDefaults<P, D>>);
  }

  private constructor(
    private readonly prefix: string,
    private readonly given: P,
    private readonly defaults: Partial<P> = {},
  ) {}

  /** The name of a property in errors. */
  public field(name: keyof P & string): string {
    return `${this.prefix}${name}`;
  }

  /** The value of a property. Does not check bounds. */
  public value<K extends keyof P & string>(name: K): P[K] {
    return this.given[name] ?? (this.defaults[name] as P[K]);
  }

  /** The value of a property. Rejects a token, but does not check bounds. */
  public resolved<K extends keyof P & string>(name: K, allowed: string): P[K] {
    const value = this.value(name);
    rejectToken(this.field(name), value, allowed);
    return value;
  }

  /** A text. A token is not checked. */
  public text<K extends keyof P & string>(name: K, pattern: RegExp, allowed: string): P[K] {
    const value = this.value(name);
    if (value === undefined || Token.isUnresolved(value)) return value;
    if (typeof value === 'string' && pattern.test(value)) return value;
    throw this.refusal(name, value, allowed);
  }

  /** An integer. */
  public whole<K extends keyof P & string>(name: K, { min, max, resolved = false }: WholeNumbers): P[K] {
    const value = resolved ? this.resolved(name, wholeNumber(min, max)) : this.value(name);
    if (value !== undefined && !Token.isUnresolved(value)) checkWhole(this.field(name), value, min, max);
    return value;
  }

  /** A number, not necessarily an integer. */
  public number<K extends keyof P & string>(name: K, { resolved = false, ...bounds }: Numbers): P[K] {
    const { above = Number.NEGATIVE_INFINITY, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = bounds;
    const allowed = allowedNumbers(bounds);
    const value = resolved ? this.resolved(name, allowed) : this.value(name);
    if (value === undefined || Token.isUnresolved(value)) return value;
    const number = value as number;
    if (Number.isFinite(number) && number > above && number >= min && number <= max) return value;
    throw this.refusal(name, value, allowed);
  }

  /** A duration. */
  public duration<K extends keyof P & string>(name: K, { resolved = false, ...bounds }: Amounts<Duration> = {}): P[K] {
    const allowed = allowedAmounts(bounds);
    const value = resolved ? this.resolved(name, allowed) : this.value(name);
    const duration = value as Duration | undefined;
    if (duration === undefined || duration.isUnresolved()) return value;
    const [length, min, max] = [duration, bounds.min, bounds.max].map((each) => each && UNITS.milliseconds.of(each));
    if (length! >= (min ?? 0) && length! <= (max ?? Number.POSITIVE_INFINITY)) return value;
    throw this.refusal(name, text(duration), allowed);
  }

  /** A duration, as an integer number of milliseconds. */
  public milliseconds<K extends keyof P & string>(name: K, bounds?: Amounts<Duration>): Converted<P[K]> {
    return this.amount('milliseconds', name, bounds);
  }

  /** A duration, as an integer number of seconds. */
  public seconds<K extends keyof P & string>(name: K, bounds?: Amounts<Duration>): Converted<P[K]> {
    return this.amount('seconds', name, bounds);
  }

  /** A size, as an integer number of bytes. */
  public bytes<K extends keyof P & string>(name: K, bounds: Amounts<Size>): Converted<P[K]> {
    return this.amount('bytes', name, bounds);
  }

  /** A size, as an integer number of KiB. */
  public kibibytes<K extends keyof P & string>(name: K, bounds: Amounts<Size>): Converted<P[K]> {
    return this.amount('kibibytes', name, bounds);
  }

  /**
   * The value of a duration or a size in a unit, such as milliseconds. CloudFormation cannot multiply, so a token must
   * already have this unit.
   */
  private amount<K extends keyof P & string>(
    unit: keyof typeof UNITS,
    name: K,
    { resolved = false, ...bounds }: Amounts<Duration | Size> = {},
  ): Converted<P[K]> {
    const { label, written, of } = UNITS[unit];
    const allowed = `${allowedAmounts(bounds)}, in whole ${label}`;
    const value = (resolved ? this.resolved(name, allowed) : this.value(name)) as Duration | Size | undefined;
    if (value === undefined) return undefined as Converted<P[K]>;
    if (value.isUnresolved()) {
      try {
        return of(value);
      } catch {
        throw this.refusal(name, 'a token', `created with ${written} if it is a token`);
      }
    }
    const { min, max } = bounds;
    if (isWhole(of(value), min ? of(min) : 0, max && of(max))) return of(value);
    throw this.refusal(name, text(value), allowed);
  }

  /** The error for a property with an invalid value. */
  public refusal(name: keyof P & string, value: unknown, allowed: string): InvalidArgumentError {
    return new InvalidArgumentError(this.field(name), value, allowed);
  }
}

function allowedNumbers({ above, min, max }: Numbers): string {
  if (above !== undefined) return `a number above ${above}${max === undefined ? '' : `, at most ${max}`}`;
  return max === undefined ? `a number of at least ${min}` : `a number from ${min} to ${max}`;
}

function allowedAmounts({ min, max, because }: Amounts<Duration | Size>): string {
  const reason = because === undefined ? '' : ` (${because})`;
  if (min && max) return `${text(min)} to ${text(max)}${reason}`;
  if (min) return `at least ${text(min)}${reason}`;
  if (max) return `at most ${text(max)}${reason}`;
  return 'a duration';
}

function text(amount: Duration | Size): string {
  if (amount instanceof Duration)
    return amount.toMilliseconds({ integral: false }) === 1 ? '1 millisecond' : amount.toHumanString();
  const bytes = UNITS.bytes.of(amount);
  const mebibytes = bytes / Size.mebibytes(1).toBytes();
  return mebibytes > 0 && Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${bytes} bytes`;
}

/** The name of a construct's property in errors, such as `EvenShards/Events: shardCount`. */
export function constructField(construct: IConstruct, property: string): string {
  return `${construct.node.path}: ${property}`;
}

/**
 * Returns an ARN. A token is not checked.
 *
 * @throws InvalidArgumentError if the text is not an ARN of the service
 */
export function checkedArn(field: string, arn: string, service: string): string {
  const isArn = typeof arn === 'string' && new RegExp(`^arn:[^:]+:${service}:[^:]*:[^:]*:.`).test(arn);
  if (isArn || Token.isUnresolved(arn)) return arn;
  throw new InvalidArgumentError(field, arn, `an ARN of ${service}: arn:aws:${service}:<region>:<account>:<resource>`);
}

/** The name of a property of a construct that does not exist yet, such as `EvenShards/Events: streamArn`. */
export function newConstructField(scope: IConstruct, id: string, property: string): string {
  return `${[scope.node.path, id].filter((part) => part !== '').join('/')}: ${property}`;
}

/**
 * Runs `check`. If `check` throws an error for a field, this function throws an error that also names the construct and
 * the property, such as `EvenShards/Events: property.field`.
 */
export function inConstructTerms<T>(construct: IConstruct, property: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    const { field, value, allowed } = error;
    const Refusal = error.constructor as typeof InvalidArgumentError;
    throw new Refusal(constructField(construct, `${property}.${field}`), value, allowed);
  }
}

/** @throws InvalidArgumentError for a token, if synthesis needs the value */
export function rejectToken(field: string, value: unknown, allowed: string): void {
  const isDuration = value instanceof Duration;
  if (!(isDuration ? value.isUnresolved() : Token.isUnresolved(value))) return;
  throw new InvalidArgumentError(field, isDuration ? 'a token' : value, `${allowed}, known at synthesis`);
}

/**
 * Rejects a resource that is known at synthesis to be in another account or region than the construct. A
 * function or an alarm looks for the name of the resource only in its own account and region, and would find no
 * resource, or a different resource with the same name.
 *
 * @param kind the kind of the resource, such as "a stream"
 * @param advice advice that follows the account and the region in the error message
 * @throws InvalidArgumentError if the account or the region differs
 */
export function checkOwnEnvironment(
  construct: IConstruct,
  property: string,
  kind: string,
  { env }: Pick<IResource, 'env'>,
  advice = '',
): void {
  const { account, region } = Stack.of(construct);
  const differ = (a: string, b: string) => Token.compareStrings(a, b) === TokenComparison.DIFFERENT;
  if (!differ(env.account, account) && !differ(env.region, region)) return;
  throw new InvalidArgumentError(
    constructField(construct, property),
    `aws://${env.account}/${env.region}`,
    `${kind} of the account and region aws://${account}/${region}${advice}`,
  );
}
