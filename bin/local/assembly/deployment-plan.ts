import { existsSync, statSync } from 'node:fs';
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { describeValue, EvenShardsError, shortened } from '../../../lib/core/kernel/errors';
import { SHARDED_INDEXES, shardingMetadata } from '../../../lib/deployment-check/sharding-metadata';
import type { AssemblyStack } from './cloud-assembly';
import { arnOf, EMULATED_TYPES } from './emulated-types';
import { eventSourceOrReason, type LocalEventSource, type LocalSchedule, schedulesOf } from './event-sources';
import { scalarText } from './intrinsics';
import { type IsConverted, inSingleAttributes, withLayoutOfThisRun } from './single-attribute-layout';
import { type StackScope, stackScopes } from './stack-scope';
import {
  createTableInput,
  ON_DEMAND_TABLE,
  PROVISIONED_TABLE,
  TABLE_PROPERTIES,
  type TableProperties,
  type TableSupport,
} from './table-definition';

/** The fields of every emulated resource. */
export interface LocalResource {
  /** Construct path, such as `EvenShards/Producer/Function`. */
  readonly path: string;
  /** Deployed name. */
  readonly name: string;
  readonly arn: string;
}

export interface LocalStream extends LocalResource {
  readonly mode: 'PROVISIONED' | 'ON_DEMAND';
  /**
   * The number of shards at creation. Absent for an on-demand stream, because the service chooses its number of shards.
   */
  readonly shardCount?: number;
  /** The maximum record size. Absent if the template does not set it. */
  readonly maxRecordKibibytes?: number;
}

export interface LocalTable extends LocalResource {
  /** Key schema, attribute definitions, indexes and billing mode, as CreateTable accepts them. */
  readonly definition: CreateTableCommandInput;
  /**
   * The indexes that have the single-attribute layout only in this run, because dynalite lacks multi-attribute keys.
   */
  readonly converted: readonly string[];
}

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
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

/**
 * A resource type that is not emulated, and whether the local run behaves differently from AWS without resources of
 * this type.
 */
export interface LeftOut {
  readonly type: string;
  readonly count: number;
  readonly needed: boolean;
}

export interface DeploymentPlan {
  readonly streams: readonly LocalStream[];
  readonly tables: readonly LocalTable[];
  readonly functions: readonly LocalFunction[];
  readonly eventSources: readonly LocalEventSource[];
  readonly schedules: readonly LocalSchedule[];
  readonly leftOut: readonly LeftOut[];
}

/** The code asset of a function is not in the assembly. */
export class MissingAssetError extends EvenShardsError {
  constructor(functionPath: string, objectKey: string) {
    super(
      'MISSING_ASSET',
      `the code of ${functionPath} (asset ${objectKey}) is not in the assembly: run \`npx cdk synth\` again`,
    );
  }
}

/** CloudFormation would reject a resource. */
export class MalformedResourceError extends EvenShardsError {
  constructor(path: string, problem: string) {
    super('MALFORMED_RESOURCE', `${path} is malformed: ${shortened(problem)}`);
  }
}

/** Two resources have the same name. */
export class DuplicateNameError extends EvenShardsError {
  constructor(
    readonly resourceName: string,
    readonly paths: readonly [string, string],
  ) {
    super(
      'DUPLICATE_NAME',
      `${paths.join(' and ')} have the same name ${resourceName}, and a local run has one account and region for both: ` +
        'run one stage at a time, such as with --app cdk.out/assembly-Beta, or omit the name so that CloudFormation generates it',
    );
  }
}

/**
 * Resolves everything that the stacks declare: the emulated resources in the order of their creation, and the other
 * resources by type.
 */
export function planDeployment(stacks: readonly AssemblyStack[], support: TableSupport = {}): DeploymentPlan {
  const scopes = stackScopes(stacks);
  const declared = scopes.flatMap((scope) =>
    scope.resources
      .filter(([logicalId]) => !scope.isNested(logicalId))
      .map(([logicalId, { Type }]): Declaration => ({ scope, logicalId, type: Type })),
  );
  const tables = declared.filter(({ type }) => TABLE_TYPES.has(type)).map((each) => table(each, support));
  const isConverted: IsConverted = (tableName, indexName) =>
    tables.some(({ name, converted }) => name === tableName && converted.includes(indexName));
  const functions = declared
    .filter(({ type }) => type === 'AWS::Lambda::Function')
    .map((each) => functionOrReason(each, isConverted));
  const streams = withOwnNames(declared.filter(({ type }) => type === 'AWS::Kinesis::Stream').map(stream));
  const known = withOwnNames(functions.filter((candidate) => typeof candidate === 'object'));
  const { eventSources, schedules, others } = invocations(declared, streams, known);
  return {
    streams,
    tables: withOwnNames(tables),
    functions: known,
    eventSources,
    schedules,
    leftOut: leftOut([
      ...others.filter((type) => !Object.hasOwn(EMULATED_TYPES, type)),
      ...functions.filter((candidate) => typeof candidate === 'string'),
    ]),
  };
}

/**
 * The event source mappings of streams, and the schedules of functions that read a stream. Lists all other triggers by
 * type.
 */
function invocations(
  declared: readonly Declaration[],
  streams: readonly LocalStream[],
  functions: readonly LocalFunction[],
): Pick<DeploymentPlan, 'eventSources' | 'schedules'> & { others: string[] } {
  const mappings = declared.map((each) => {
    if (each.type !== EVENT_SOURCE_MAPPING) return undefined;
    const mapping = eventSourceOrReason(each);
    if (typeof mapping === 'string') return mapping;
    if (!streams.some(({ name }) => name === mapping.streamName)) return 'a stream of another app';
    return functions.some(({ name }) => name === mapping.functionName) ? mapping : 'a function that does not run here';
  });
  const eventSources = mappings.filter((mapping) => typeof mapping === 'object');
  const readers = functions.filter(({ name }) => eventSources.some(({ functionName }) => functionName === name));
  const schedules = declared.map((each) => (each.type === 'AWS::Events::Rule' ? schedulesOf(each, readers) : []));
  const others = declared.flatMap(({ type }, at) => {
    const mapping = mappings[at];
    if (typeof mapping === 'object' || schedules[at]!.length > 0) return [];
    return mapping === undefined ? type : `${type} (${mapping})`;
  });
  return { eventSources, schedules: schedules.flat(), others };
}

const EVENT_SOURCE_MAPPING = 'AWS::Lambda::EventSourceMapping';

interface Declaration {
  readonly scope: StackScope;
  readonly logicalId: string;
  readonly type: string;
}

const TABLE_TYPES = new Set(['AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table']);

/** The default timeout and memory size of Lambda. */
const DEFAULT_TIMEOUT_SECONDS = 3;
const DEFAULT_MEMORY_MB = 128;

/** Sources: the Kinesis and the AWS Lambda developer guides, "Quotas"; the Kinesis API reference, CreateStream. */
const MAX_SHARDS = 20_000;
const MIN_RECORD_KIBIBYTES = 1_024;
const MAX_RECORD_KIBIBYTES = 10_240;
const MAX_TIMEOUT_SECONDS = 900;
const MAX_MEMORY_MB = 10_240;

/**
 * Resource types without a visible effect in an emulator. An alias needs no resource, because an invocation passes its
 * name to the function.
 */
const NOT_NEEDED =
  /^AWS::(IAM|CDK)::|^AWS::Logs::LogGroup$|^AWS::Lambda::(Alias|Permission)$|^AWS::Kinesis::StreamConsumer$/;

function identity({ scope, logicalId, type }: Declaration): LocalResource {
  const name = scope.physicalName(logicalId);
  return { path: scope.constructPath(logicalId), name, arn: arnOf(EMULATED_TYPES[type]!, name) };
}

function withOwnNames<T extends LocalResource>(resources: readonly T[]): readonly T[] {
  const pathByName = new Map<string, string>();
  for (const { name, path } of resources) {
    const other = pathByName.get(name);
    if (other !== undefined) throw new DuplicateNameError(name, [other, path]);
    pathByName.set(name, path);
  }
  return resources;
}

function stream(declaration: Declaration): LocalStream {
  const { scope, logicalId } = declaration;
  const { MaxRecordSizeInKiB, ShardCount, StreamModeDetails } = scope.properties(logicalId, {
    MaxRecordSizeInKiB: true,
    ShardCount: true,
    StreamModeDetails: true,
  });
  const recordLimit = (size: unknown) =>
    count(declaration, 'MaxRecordSizeInKiB', size, MAX_RECORD_KIBIBYTES, MIN_RECORD_KIBIBYTES);
  const onDemand = (StreamModeDetails as { StreamMode?: string } | undefined)?.StreamMode === 'ON_DEMAND';
  return {
    ...identity(declaration),
    ...(onDemand
      ? { mode: 'ON_DEMAND' }
      : { mode: 'PROVISIONED', shardCount: count(declaration, 'ShardCount', ShardCount ?? 1, MAX_SHARDS) }),
    ...(MaxRecordSizeInKiB !== undefined && { maxRecordKibibytes: recordLimit(MaxRecordSizeInKiB) }),
  };
}

function table(declaration: Declaration, support: TableSupport): LocalTable {
  const { scope, logicalId } = declaration;
  const { BillingMode } = scope.properties(logicalId, { BillingMode: true });
  const properties = scope.properties(
    logicalId,
    BillingMode === 'PAY_PER_REQUEST' ? ON_DEMAND_TABLE : PROVISIONED_TABLE,
  );
  const resource = identity(declaration);
  const problem = TABLE_PROPERTIES(properties, '');
  if (problem !== undefined) throw new MalformedResourceError(resource.path, problem);
  const declared = properties as unknown as TableProperties;
  const metadata = scope.metadata(logicalId);
  const local = support.multiAttributeKeys
    ? { properties: declared, converted: [] }
    : inSingleAttributes(declared, shardingMetadata(metadata, SHARDED_INDEXES));
  return {
    ...resource,
    definition: createTableInput(resource.name, local.properties, support),
    converted: local.converted,
  };
}

/**
 * Returns the function. If the function cannot run locally, because its runtime is not Node.js or its code is not a
 * directory of the assembly, returns the resource type and the reason.
 */
function functionOrReason(declaration: Declaration, isConverted: IsConverted): LocalFunction | string {
  const { scope, logicalId, type } = declaration;
  const { Runtime } = scope.properties(logicalId, { Runtime: true });
  const runtime = scalarText(Runtime);
  if (!runtime?.startsWith('nodejs')) return `${type} (${runtime ?? 'container image'})`;
  if (!isFromAsset(scope.declared(logicalId).Code)) return `${type} (inline code)`;
  const codeDirectory = assetPath(declaration);
  if (codeDirectory === undefined) return `${type} (code in a bucket)`;
  if (!statSync(codeDirectory).isDirectory()) return `${type} (zip file)`;
  return nodeFunction(declaration, runtime, codeDirectory, isConverted);
}

/** The path of the code in the assembly. Undefined if the S3 object of the code is not an asset of the assembly. */
function assetPath({ scope, logicalId }: Declaration): string | undefined {
  const { S3Key } = scope.properties(logicalId, { Code: { S3Key: true } }).Code as { S3Key: string };
  const path = scope.stack.assetPaths.get(S3Key);
  if (path !== undefined && !existsSync(path)) throw new MissingAssetError(scope.constructPath(logicalId), S3Key);
  return path;
}

function nodeFunction(
  declaration: Declaration,
  runtime: string,
  codeDirectory: string,
  isConverted: IsConverted,
): LocalFunction {
  const { scope, logicalId } = declaration;
  const { Handler, Timeout, MemorySize } = scope.properties(logicalId, {
    Handler: true,
    Timeout: true,
    MemorySize: true,
  });
  const environment = new Map<string, string>();
  const unset = new Map<string, string>();
  for (const [name, lookup] of scope.entries(logicalId, 'Environment', 'Variables')) {
    const value = 'value' in lookup ? scalarText(lookup.value) : undefined;
    if ('reason' in lookup) unset.set(name, lookup.reason);
    else if (value !== undefined) environment.set(name, withLayoutOfThisRun(value, isConverted));
    else if (lookup.value !== undefined) unset.set(name, 'its value is not a string');
  }
  return {
    ...identity(declaration),
    runtime,
    handler: handlerOf(declaration, Handler),
    codeDirectory,
    environment: Object.fromEntries(environment),
    unset: Object.fromEntries(unset),
    timeoutSeconds: count(declaration, 'Timeout', Timeout ?? DEFAULT_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS),
    memoryMb: count(declaration, 'MemorySize', MemorySize ?? DEFAULT_MEMORY_MB, MAX_MEMORY_MB),
  };
}

function handlerOf({ scope, logicalId }: Declaration, handler: unknown): string {
  if (typeof handler === 'string') return handler;
  throw new MalformedResourceError(
    scope.constructPath(logicalId),
    `Handler must be a string, got ${describeValue(handler)}`,
  );
}

/** Reads an integer, which a template may also write as a string. */
function count({ scope, logicalId }: Declaration, property: string, value: unknown, most: number, least = 1): number {
  const number = Number(value);
  if (Number.isInteger(number) && number >= least && number <= most) return number;
  const problem = `${property} must be an integer from ${least} to ${most}, got ${describeValue(value)}`;
  throw new MalformedResourceError(scope.constructPath(logicalId), problem);
}

function isFromAsset(code: unknown): boolean {
  return typeof code === 'object' && code !== null && 'S3Key' in code;
}

function leftOut(types: readonly string[]): LeftOut[] {
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts].sort().map(([type, count]) => ({ type, count, needed: !NOT_NEEDED.test(type) }));
}
