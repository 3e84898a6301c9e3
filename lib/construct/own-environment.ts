import { type IResource, Stack, Token, TokenComparison } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { InvalidArgumentError } from '../core/foundation/errors';

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

/** The environment of what is built in a stack, for a construct that has none of its own. */
export function environmentOf(construct: IConstruct): Pick<IResource, 'env'> {
  const { account, region } = Stack.of(construct);
  return { env: { account, region } };
}
