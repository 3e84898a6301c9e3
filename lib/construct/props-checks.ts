import { Duration, type IResource, type Stack, Token, TokenComparison } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { EvenShardsError, InvalidArgumentError } from '../core/kernel/errors';

/** How an error names a property of a construct: `EvenShards/Events: shardCount`. */
export function constructField(construct: IConstruct, property: string): string {
  return `${construct.node.path}: ${property}`;
}

/** Runs `check`; what it says of a field is said of the field of that property: `EvenShards/Events: property.field`. */
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

/** What a check throws, as a validation of CDK reports it: so that the user sees all that is wrong, not the first of it. */
export function problemsOf(check: () => void): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof EvenShardsError)) throw error;
    return [error.message];
  }
}

/** @throws an error with the code `INVALID_ARGUMENT` for a token, where synthesis must compute with the value */
export function refuseToken(field: string, value: unknown, allowed: string): void {
  const isDuration = value instanceof Duration;
  if (!(isDuration ? value.isUnresolved() : Token.isUnresolved(value))) return;
  throw new InvalidArgumentError(field, isDuration ? 'a token' : value, `${allowed}, known at synthesis`);
}

/**
 * A size or a duration in a unit. Where only the deployment knows it, it must be given in that very unit: CloudFormation
 * cannot multiply, and CDK throws. Then throws an error with the code `INVALID_ARGUMENT`, which names the unit.
 *
 * @param unit what the user would write, such as "Size.kibibytes"
 */
export function inUnit(
  field: string,
  amount: { isUnresolved(): boolean },
  unit: string,
  convert: () => number,
): number {
  if (!amount.isUnresolved()) return convert();
  try {
    return convert();
  } catch {
    throw new InvalidArgumentError(field, 'a token', `given as ${unit}, where only the deployment knows it`);
  }
}

/**
 * @param kind what the resource is, such as "a stream"
 * @param advice what to do instead, in words that follow the account and the region
 * @throws an error with the code `INVALID_ARGUMENT` if the resource is known to be in another account or region than the
 *   stack: what looks it up there by its name, such as a function or an alarm, would find none, or another of the same name
 */
export function checkOwnEnvironment(
  field: string,
  kind: string,
  { env }: Pick<IResource, 'env'>,
  { account, region }: Stack,
  advice = '',
): void {
  const differ = (a: string, b: string) => Token.compareStrings(a, b) === TokenComparison.DIFFERENT;
  if (!differ(env.account, account) && !differ(env.region, region)) return;
  throw new InvalidArgumentError(
    field,
    `aws://${env.account}/${env.region}`,
    `${kind} of the account and region aws://${account}/${region}${advice}`,
  );
}
