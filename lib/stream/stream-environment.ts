import { type Stack, Token, TokenComparison } from 'aws-cdk-lib';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { InvalidArgumentError } from '../core/foundation/errors';

/**
 * Throws `InvalidArgumentError` if the stream is known to be in another account or region than the stack: there a
 * function that looks it up by its name would find none, or another of the same name.
 */
export function checkStreamEnvironment(field: string, { env }: kinesis.IStream, { account, region }: Stack): void {
  const differ = (a: string, b: string) => Token.compareStrings(a, b) === TokenComparison.DIFFERENT;
  if (!differ(env.account, account) && !differ(env.region, region)) return;
  throw new InvalidArgumentError(
    field,
    `aws://${env.account}/${env.region}`,
    `a stream of the function's own account and region, aws://${account}/${region}`,
  );
}
