import { existsSync, statSync } from 'node:fs';
import { type Lookup, type ResourceReference, resolve, scalarText } from '../../../lib/cloudformation/intrinsics';
import { references } from '../../../lib/cloudformation/references';
import { describeValue } from '../../../lib/core/kernel/errors';
import { functionReference } from '../functions/function-reference';
import { honouredProperties, type IgnoredProperty } from './ignored-properties';
import { type Declared, LeftOutReason, required } from './left-out';
import { constructPath, type LocalScope } from './local-names';
import { arnAndName, integerOf, type LocalResource } from './local-resource';
import { type IsConverted, withLayoutOfThisRun } from './single-attribute-layout';

export interface LocalFunction extends LocalResource {
  readonly runtime: string;
  readonly handler: string;
  /** The asset directory, which Lambda would unpack into its task root. */
  readonly codeDirectory: string;
  /** The environment variables of the template, with resolved values. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Environment variables whose values are known only in AWS, each with the reason. The function runs without these
   * variables.
   */
  readonly unset: Readonly<Record<string, string>>;
  /** The directories of the layers in the assembly, which Lambda would unpack into /opt. The last layer has priority. */
  readonly layers: readonly string[];
  /** The layers that are not in the assembly. The function runs without them. */
  readonly missingLayers: readonly string[];
  /** The version of each alias and of each published version. Absent if the function has no alias and no version. */
  readonly qualifiers?: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

/** The default timeout and memory size of Lambda. */
const DEFAULT_TIMEOUT_SECONDS = 3;
const DEFAULT_MEMORY_MB = 128;

/** Source: the AWS Lambda developer guide, "Quotas". */
const TIMEOUT_SECONDS = [1, 900] as const;
const MEMORY_MB = [1, 10_240] as const;
/** Source: the AWS Lambda developer guide, "Lambda Managed Instances". */
const MANAGED_TIMEOUT_SECONDS = [1, 5_400] as const;
const MANAGED_MEMORY_MB = [1, 32_768] as const;

/** Source: the AWS Lambda developer guide, "Reserved environment variables". */
const RESERVED_VARIABLES = new Set(
  (
    '_HANDLER _X_AMZN_TRACE_ID AWS_ACCESS_KEY AWS_ACCESS_KEY_ID AWS_DEFAULT_REGION AWS_EXECUTION_ENV AWS_LAMBDA_FUNCTION_MEMORY_SIZE ' +
    'AWS_LAMBDA_FUNCTION_NAME AWS_LAMBDA_FUNCTION_VERSION AWS_LAMBDA_INITIALIZATION_TYPE AWS_LAMBDA_LOG_GROUP_NAME ' +
    'AWS_LAMBDA_LOG_STREAM_NAME AWS_LAMBDA_RUNTIME_API AWS_REGION AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN LAMBDA_RUNTIME_DIR ' +
    'LAMBDA_TASK_ROOT'
  ).split(' '),
);
/** Source: the Lambda API reference, Environment. */
const VARIABLE_NAME = /^[a-zA-Z][a-zA-Z0-9_]+$/;

/**
 * Leaves out a function whose runtime is not Node.js, whose code is not a directory of the assembly, or whose environment variables
 * Lambda rejects.
 */
export function plannedFunction(
  declared: Declared,
  isConverted: IsConverted,
  qualifiers: readonly LocalQualifier[] = [],
): LocalFunction {
  const { scope, logicalId } = declared;
  const { Runtime, Handler, Timeout, MemorySize } = required(
    scope.properties(logicalId, { Runtime: true, Handler: true, Timeout: true, MemorySize: true }),
  );
  const runtime = nodeRuntime(Runtime);
  const codeDirectory = codeOf(declared);
  const isManaged = scope.declared(logicalId).CapacityProviderConfig !== undefined;
  const resource = arnAndName(declared);
  const own = qualifiers.filter(({ functionName }) => functionName === resource.name);
  return {
    ...resource,
    runtime,
    handler: handlerOf(Handler),
    codeDirectory,
    ...environmentOf(declared, isConverted),
    ...layersOf(declared),
    ...(own.length > 0 && {
      qualifiers: Object.fromEntries(
        own.flatMap(({ name, version }) => [name, version].map((each) => [each, version])),
      ),
    }),
    timeoutSeconds: integerOf(
      'Timeout',
      Timeout ?? DEFAULT_TIMEOUT_SECONDS,
      isManaged ? MANAGED_TIMEOUT_SECONDS : TIMEOUT_SECONDS,
    ),
    memoryMb: integerOf('MemorySize', MemorySize ?? DEFAULT_MEMORY_MB, isManaged ? MANAGED_MEMORY_MB : MEMORY_MB),
  };
}

/** An alias of a function with its version, or a version with its number as its name. */
interface LocalQualifier {
  readonly functionName: string;
  readonly name: string;
  readonly version: string;
}

export function plannedQualifier(declared: Declared): LocalQualifier {
  const { FunctionName, FunctionVersion, Name } = honouredProperties(declared);
  const { name: functionName = '' } = functionReference(String(FunctionName)) ?? {};
  const version = String(FunctionVersion ?? required(declared.scope.valueOf({ ...declared, attribute: 'Version' })));
  return { functionName, name: String(Name ?? version), version };
}

/** The properties of a function that depend on this machine and on the layers of the assembly. */
export function ignoredOfFunction({ path, runtime, missingLayers }: LocalFunction): IgnoredProperty[] {
  const layers = missingLayers.map((layer) => ({
    path,
    property: 'Layers',
    reason: `the layer ${layer} is not in the assembly`,
  }));
  const [major] = process.versions.node.split('.');
  if (runtime === `nodejs${major}.x`) return layers;
  return [...layers, { path, property: 'Runtime', reason: `Node.js ${major} runs it instead of ${runtime}` }];
}

function nodeRuntime(declared: unknown): string {
  const runtime = scalarText(declared);
  if (runtime?.startsWith('nodejs')) return runtime;
  if (declared !== undefined && runtime === undefined)
    throw new LeftOutReason(`its runtime must be a string, got ${describeValue(declared)}`);
  throw new LeftOutReason(runtime === undefined ? 'its code is a container image' : `its runtime is ${runtime}`);
}

/** The directory of the code in the assembly. */
function codeOf({ scope, logicalId }: Declared): string {
  const code = Object(scope.declared(logicalId).Code);
  if (!('S3Key' in code)) throw new LeftOutReason('ZipFile' in code ? 'its code is inline' : 'its code is unknown');
  const { S3Key } = required(scope.properties(logicalId, { Code: { S3Key: true } })).Code as { S3Key: string };
  const path = scope.stack.assetPaths.get(S3Key);
  if (path === undefined) throw new LeftOutReason('its code is in a bucket');
  if (!existsSync(path)) {
    throw new LeftOutReason(`its code (asset ${S3Key}) is not in the assembly: run \`npx cdk synth\` again`);
  }
  if (!statSync(path).isDirectory()) throw new LeftOutReason('its code is a zip file');
  return path;
}

function layersOf({ scope, logicalId }: Declared): Pick<LocalFunction, 'layers' | 'missingLayers'> {
  const layers: string[] = [];
  const missingLayers: string[] = [];
  for (const layer of [scope.declared(logicalId).Layers ?? []].flat()) {
    const [target] = references(layer, scope);
    const path = target && layerAsset(target);
    if (path !== undefined) layers.unshift(path);
    else missingLayers.push(target ? constructPath(target.scope, target.logicalId) : layerName(resolve(layer, scope)));
  }
  return { layers, missingLayers };
}

function layerName(arn: Lookup): string {
  return ('value' in arn && scalarText(arn.value)) || 'with an unknown ARN';
}

function layerAsset({ scope, logicalId }: ResourceReference<LocalScope>): string | undefined {
  const content = scope.properties(logicalId, { Content: { S3Key: true } });
  const { S3Key } = Object('value' in content && content.value.Content);
  const path = scope.stack.assetPaths.get(S3Key);
  return path !== undefined && statSync(path, { throwIfNoEntry: false })?.isDirectory() ? path : undefined;
}

function environmentOf(
  { scope, logicalId }: Declared,
  isConverted: IsConverted,
): Pick<LocalFunction, 'environment' | 'unset'> {
  const environment = new Map<string, string>();
  const unset = new Map<string, string>();
  for (const [name, lookup] of required(scope.entries(logicalId, 'Environment', 'Variables'))) {
    if (RESERVED_VARIABLES.has(name)) throw new LeftOutReason(`Lambda reserves its environment variable ${name}`);
    if (!VARIABLE_NAME.test(name)) {
      throw new LeftOutReason(
        `Lambda rejects its environment variable ${name}: a name has at least two letters, digits and underscores, and begins with a letter`,
      );
    }
    const value = 'value' in lookup ? scalarText(lookup.value) : undefined;
    if ('reason' in lookup) unset.set(name, lookup.reason);
    else if (value !== undefined) environment.set(name, withLayoutOfThisRun(value, isConverted));
    else if (lookup.value !== undefined) unset.set(name, 'its value is not a string');
  }
  return { environment: Object.fromEntries(environment), unset: Object.fromEntries(unset) };
}

function handlerOf(handler: unknown): string {
  if (typeof handler === 'string') return handler;
  throw new LeftOutReason(`Handler must be a string, got ${describeValue(handler)}`);
}
