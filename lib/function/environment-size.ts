import { Stack } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { checkAtSynthesis } from '../construct/synthesis-check';
import { InvalidArgumentError } from '../core/kernel/errors';

/** The limit for all environment variables of a function. Source: the Lambda developer guide, "Lambda quotas". */
const MAX_ENVIRONMENT_BYTES = 4096;

/** Adds a check to synthesis: the configurations must fit into Lambda's 4 KB of environment variables. */
export function checkEnvironmentSize(
  scope: IConstruct,
  field: string,
  environment: Record<string, string>,
  remedy: string,
): void {
  checkAtSynthesis(scope, () => {
    const bytes = Object.entries(environment).reduce(
      (sum, [name, value]) => sum + Buffer.byteLength(name) + knownBytes(Stack.of(scope).resolve(value)),
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

/** The bytes of a value without its tokens. The deployed value is at least this long. */
function knownBytes(value: string | { 'Fn::Join'?: [string, unknown[]] }): number {
  const parts = typeof value === 'string' ? [value] : (value['Fn::Join']?.[1] ?? []);
  return Buffer.byteLength(parts.filter((part) => typeof part === 'string').join(''));
}
