import { Token } from 'aws-cdk-lib';
import { InvalidArgumentError } from './core/foundation/errors';

/** Throws an error with the code `INVALID_ARGUMENT` for a token, where synthesis must compute with the value. */
export function refuseToken(field: string, value: unknown, allowed: string): void {
  if (Token.isUnresolved(value)) throw new InvalidArgumentError(field, value, `${allowed}, known at synthesis`);
}
