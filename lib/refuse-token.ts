import { Token } from 'aws-cdk-lib';
import { InvalidArgumentError } from './core/foundation/errors';

/** Throws `InvalidArgumentError` for a value that only the deployment knows, where synthesis must compute with it. */
export function refuseToken(field: string, value: unknown, allowed: string): void {
  if (Token.isUnresolved(value)) throw new InvalidArgumentError(field, 'a token', `${allowed}, known at synthesis`);
}
