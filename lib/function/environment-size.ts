import { Stack } from 'aws-cdk-lib';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { checkAtSynthesis } from '../construct/synthesis-check';
import { InvalidArgumentError } from '../core/kernel/errors';

/** The limit for all environment variables of a function. Source: the Lambda developer guide, "Lambda quotas". */
const MAX_ENVIRONMENT_BYTES = 4096;

/**
 * Adds a check to synthesis: all variables of a function, including the variables that the user sets, must fit into Lambda's
 * 4 KB.
 *
 * @param field the property that needs most of the bytes
 */
export function checkEnvironmentSize(user: lambda.Function, field: string, remedy: string): void {
  checkAtSynthesis(user, () => {
    const bytes = Object.entries(variablesOf(user)).reduce(
      (sum, [name, value]) => sum + Buffer.byteLength(name) + knownBytes(value),
      0,
    );
    if (bytes <= MAX_ENVIRONMENT_BYTES) return;
    throw new InvalidArgumentError(
      field,
      `${bytes} bytes`,
      `at most ${MAX_ENVIRONMENT_BYTES} bytes of configuration, Lambda's limit for environment variables (${remedy})`,
    );
  });
}

/** The environment variables of a function. Their values may contain intrinsic functions. */
export function variablesOf(user: lambda.Function): Record<string, unknown> {
  const { environment } = user.node.defaultChild as lambda.CfnFunction;
  return Stack.of(user).resolve(environment)?.variables ?? {};
}

/** The bytes of a value without its tokens. The deployed value is at least this long. */
function knownBytes(value: unknown): number {
  const parts = typeof value === 'string' ? [value] : (Object(value)['Fn::Join']?.[1] ?? []);
  return Buffer.byteLength(parts.filter((part: unknown) => typeof part === 'string').join(''));
}
