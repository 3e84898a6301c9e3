import { Lazy, Stack } from 'aws-cdk-lib';
import type * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';

/** The writers that the app gives permission to write the items of an index. */
export interface IndexWriters {
  readonly functions: Set<lambda.Function>;
  /**
   * The functions that are bound as readers. A reader has the configuration of the index, so it can also write items if
   * it has write permissions.
   */
  readonly readers: Set<lambda.Function>;
  /** Whether the app has writers with an unknown timeout: roles, containers, imported functions, versions and aliases. */
  hasOthers: boolean;
}

/** The default timeout of a function, in seconds. Source: the CloudFormation reference, AWS::Lambda::Function. */
const DEFAULT_TIMEOUT_SECONDS = 3;

export function addWriter(writers: IndexWriters, grantee: iam.IGrantable): void {
  if (grantee instanceof lambda.Function) writers.functions.add(grantee);
  else writers.hasOthers = true;
}

/**
 * The longest timeout of the writers and readers, in seconds, or undefined if it is unknown. The value is lazy, because
 * functions can be bound and timeouts can change until the template is rendered.
 */
export function longestWriteSeconds(writers: IndexWriters): number {
  return Lazy.uncachedNumber({ produce: () => longestTimeout(writers) });
}

function longestTimeout({ functions, readers, hasOthers }: IndexWriters): number | undefined {
  const timeouts = [...functions, ...readers].map(timeoutOf);
  if (hasOthers || functions.size === 0 || !timeouts.every((timeout) => typeof timeout === 'number')) return undefined;
  return Math.max(...timeouts);
}

/**
 * The timeout of a function. An override in the template takes precedence. Does not resolve the environment of the
 * function, because the environment contains the result of `longestWriteSeconds`.
 */
function timeoutOf(writer: lambda.Function): unknown {
  const resource = writer.node.defaultChild as lambda.CfnFunction;
  const { rawOverrides } = resource as unknown as { rawOverrides?: { Properties?: { Timeout?: unknown } } };
  const timeout = rawOverrides?.Properties?.Timeout ?? resource.timeout;
  return Stack.of(writer).resolve(timeout) ?? DEFAULT_TIMEOUT_SECONDS;
}
