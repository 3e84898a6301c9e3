import { Stack } from 'aws-cdk-lib';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { constructField } from '../construct/props';
import { checkAtSynthesis } from '../construct/synthesis-check';
import { InvalidArgumentError } from '../core/kernel/errors';

/** The limit for all environment variables of a function. Source: the Lambda developer guide, "Lambda quotas". */
const MAX_ENVIRONMENT_BYTES = 4096;

/** Source: the Lambda API reference, Environment: Variables. */
export const VARIABLE_NAME = /^[a-zA-Z][a-zA-Z0-9_]+$/;
export const ALLOWED_VARIABLE = 'at least two characters: a letter, then letters, digits and underscores';

/** The functions with a check of the size of their environment. */
const checked = new WeakSet<lambda.Function>();

/**
 * Adds variables of this library to a function of the user, and checks the size of the environment at synthesis.
 *
 * @param field the property from which the variables come
 * @throws InvalidArgumentError if the function already has one of the variables, because `addEnvironment` would replace its value
 */
export function addVariables(user: lambda.Function, field: string, variables: Record<string, string>): void {
  const existing = variablesOf(user);
  const taken = Object.keys(variables).find((name) => Object.hasOwn(existing, name));
  if (taken !== undefined) {
    throw new InvalidArgumentError(field, taken, 'a variable that the function does not already have');
  }
  for (const [name, value] of Object.entries(variables)) user.addEnvironment(name, value);
  checkEnvironmentSize(
    user,
    constructField(user, 'environment'),
    'bind fewer indexes and tables to a function, count shards for fewer values, or set fewer variables',
  );
}

/**
 * Adds a check to synthesis, once for each function: all variables, including the variables that the user sets, must fit into
 * Lambda's 4 KB.
 *
 * @param field the property that needs most of the bytes
 */
export function checkEnvironmentSize(user: lambda.Function, field: string, remedy: string): void {
  if (checked.has(user)) return;
  checked.add(user);
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
function variablesOf(user: lambda.Function): Record<string, unknown> {
  const { environment } = user.node.defaultChild as lambda.CfnFunction;
  return Stack.of(user).resolve(environment)?.variables ?? {};
}

/** The bytes of a value without its tokens. The deployed value is at least this long. */
function knownBytes(value: unknown): number {
  const parts = typeof value === 'string' ? [value] : (Object(value)['Fn::Join']?.[1] ?? []);
  return Buffer.byteLength(parts.filter((part: unknown) => typeof part === 'string').join(''));
}
