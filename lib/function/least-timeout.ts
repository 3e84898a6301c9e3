import { type Duration, Token } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { constructField } from '../construct/construct-field';
import { InvalidArgumentError } from '../core/foundation/errors';

/** Throws an error with the code `INVALID_ARGUMENT` for a `timeout` that is known to be too short for the work of a function. */
export function checkLeastTimeout(
  scope: IConstruct,
  timeout: Duration | undefined,
  least: Duration,
  because: string,
): void {
  if (timeout === undefined || Token.isUnresolved(timeout) || timeout.isUnresolved()) return;
  if (timeout.toSeconds({ integral: false }) >= least.toSeconds()) return;
  const allowed = `at least ${least.toHumanString()}: ${because}`;
  throw new InvalidArgumentError(constructField(scope, 'timeout'), timeout.toHumanString(), allowed);
}
