import { Duration, Token } from 'aws-cdk-lib';
import { InvalidArgumentError } from '../core/foundation/errors';

/** @throws an error with the code `INVALID_ARGUMENT` for a token, where synthesis must compute with the value */
export function refuseToken(field: string, value: unknown, allowed: string): void {
  const isDuration = value instanceof Duration;
  if (!(isDuration ? value.isUnresolved() : Token.isUnresolved(value))) return;
  throw new InvalidArgumentError(field, isDuration ? 'a token' : value, `${allowed}, known at synthesis`);
}
