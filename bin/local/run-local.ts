import { resolve } from 'node:path';
import { EvenShardsError, InvalidArgumentError } from '../../lib/core/kernel/errors';
import { type CassandraAddress, contactPointOf } from '../cassandra/connect';
import { counted } from '../plain-text';
import { readCloudAssembly } from './assembly/cloud-assembly';
import { type DeploymentPlan, planDeployment } from './assembly/deployment-plan';
import { describeNotNeeded, type LeftOut } from './assembly/left-out';
import type { LocalResource } from './assembly/local-resource';
import type { LocalFunction } from './assembly/planned-function';
import type { LocalStream } from './assembly/planned-stream';
import type { LocalTable } from './assembly/planned-table';
import { deploy, type Rejections } from './deploy';
import { differencesOf, StrictRunError } from './differences';
import { type LocalClients, localClients } from './emulators/clients';
import { startDynamoDbEmulator } from './emulators/dynamodb-emulator';
import { unlessFailed } from './emulators/emulator-thread';
import { startKinesisEmulator } from './emulators/kinesis-emulator';
import { runningEmulator } from './emulators/running-emulator';
import { EventSources } from './event-sources/event-sources';
import { tableStreamClient } from './event-sources/table-stream-client';
import type { FunctionErrorPayload } from './functions/function-host-protocol';
import { FunctionPool } from './functions/function-pool';
import type { LogSink } from './functions/function-process';
import { functionReference } from './functions/function-reference';
import { startInvokeServer } from './functions/invoke-server';
import { type Endpoints, lambdaEnvironment } from './functions/lambda-environment';
import { runtimePackages } from './functions/runtime-packages';
import { describeTables, type LocalKeyspaces, localKeyspaces } from './keyspaces/local-keyspaces';
import { type GateOptions, type Gates, startGates } from './limits/gates';
import { closeServer, endpointOf } from './loopback';
import { firstProblemLines, problemLines, type ReportProblem } from './problem-lines';

interface LocalOptions {
  /** Directory of the cloud assembly. @default "cdk.out" */
  readonly app?: string;
  /** A running Kinesis emulator, on the loopback interface. @default kinesis-local, started in a thread */
  readonly kinesisEndpoint?: string;
  /**
   * A running emulator of DynamoDB on the loopback interface, such as DynamoDB Local. Multi-attribute keys are not
   * converted, so the emulator must support them. @default dynalite, started in a thread
   */
  readonly dynamodbEndpoint?: string;
  /** A running Cassandra on the loopback interface. @default the run creates no tables of Amazon Keyspaces */
  readonly cassandra?: CassandraAddress | undefined;
  /** Throws a `StrictRunError` instead of starting a run that differs from AWS. @default false */
  readonly strict?: boolean;
  /** Port of the Lambda endpoint. @default a free port */
  readonly port?: number;
  /** Receives a line for each step of the start. @default the lines are dropped */
  readonly onProgress?: (line: string) => void;
  /** Receives the lines that functions write to stdout and stderr. @default the lines are dropped */
  readonly onFunctionLog?: LogSink;
  /** Limits of the local endpoints. @default no gates, so clients call the emulators directly */
  readonly gates?: GateOptions;
}

/** A deployed assembly: its resources with resolved values, and the endpoints and clients to use them. */
export interface LocalStack {
  readonly endpoints: Endpoints;
  readonly clients: LocalClients;
  /** Clients that call the emulators directly, without the gates. */
  readonly ungatedClients: LocalClients;
  readonly streams: readonly LocalStream[];
  readonly tables: readonly LocalTable[];
  readonly functions: readonly LocalFunction[];
  /** The event source mappings of streams, and the schedules. */
  readonly eventSources: EventSources;
  /** The tables of Amazon Keyspaces, and the Cassandra that holds them. Absent if the run has no Cassandra. */
  readonly keyspaces?: LocalKeyspaces;
  readonly leftOut: readonly LeftOut[];
  /** The gates in front of the emulators. Absent if the options have no `gates`. */
  readonly gates?: Gates;
  /**
   * Invokes a function by construct path, name or ARN, and returns its result. Throws a `FunctionFailedError` if the
   * function fails.
   */
  invoke(name: string, payload: unknown): Promise<unknown>;
  /** Rejects when an emulator ends before the stack is stopped. Never resolves. */
  readonly failure: Promise<never>;
  stop(): Promise<void>;
}

/**
 * An invocation failed: the function threw an error, timed out, could not be loaded, or returned a response that is too
 * large.
 */
export class FunctionFailedError extends EvenShardsError {
  readonly errorType: string;
  readonly trace: readonly string[];

  constructor(
    readonly functionPath: string,
    { errorType, errorMessage, trace = [] }: FunctionErrorPayload,
  ) {
    super('FUNCTION_FAILED', `${functionPath} failed: ${errorType}: ${errorMessage}`);
    this.errorType = errorType;
    this.trace = trace;
  }
}

/** Starts the emulators, creates the resources of the assembly, and serves its functions. */
export async function startLocal(options: LocalOptions = {}): Promise<LocalStack> {
  const { app = 'cdk.out', onProgress = () => {} } = options;
  const packages = runtimePackages(app);
  const planWithout = planner(options, packages);
  const planned = planWithout(new Map());
  onProgress(`read ${app}`);
  const parts: Stoppable[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(parts.splice(0).map((part) => part.stop()));
  };
  try {
    const pools = new Map<string, FunctionPool>();
    const reportProblem = problemLines(onProgress);
    const services = await startServices(options, pools, reportProblem, parts);
    const { endpoints, clients, failure } = services;
    onProgress(`kinesis on ${endpoints.kinesis}, dynamodb on ${endpoints.dynamodb}, lambda on ${endpoints.lambda}`);
    const rejected = await unlessFailed(deploy(planned, services.ungatedClients), failure);
    const plan = rejected.size === 0 ? planned : planWithout(rejected);
    const { cassandra } = options;
    const keyspaces = cassandra && (await localKeyspaces(cassandra, plan.keyspacesTables));
    if (keyspaces !== undefined) parts.push({ stop: () => keyspaces.client.shutdown() });
    const sinks = { log: options.onFunctionLog, reportOnce: firstProblemLines(onProgress) };
    for (const definition of plan.functions) {
      const pool = new FunctionPool(definition, lambdaEnvironment(definition, endpoints, packages), sinks);
      pools.set(definition.name, pool);
      parts.push(pool);
    }
    const streams = { kinesis: clients.kinesis, tableStreams: tableStreamClient(clients.dynamodb, endpoints.dynamodb) };
    const eventSources = new EventSources(plan, streams, pools, reportProblem);
    parts.push(eventSources);
    await unlessFailed(eventSources.start(), failure);
    const lines = [
      ...describe(plan),
      ...(keyspaces ? describeTables(keyspaces) : []),
      ...differencesOf(plan, packages),
      ...describeNotNeeded(plan.leftOut),
    ];
    for (const line of lines) onProgress(line);
    return {
      ...plan,
      ...services,
      eventSources,
      ...(keyspaces && { keyspaces }),
      invoke: async (name, payload) => invoke(functionNamed(name, pools), payload, functionReference(name)?.qualifier),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Reads the cloud assembly. The returned function plans its deployment, without the resources that the emulators reject.
 *
 * @throws StrictRunError from the returned function, if the run is strict and would differ from AWS
 */
function planner(
  { app = 'cdk.out', dynamodbEndpoint, cassandra, strict }: LocalOptions,
  packages: readonly string[],
): (rejected: Rejections) => DeploymentPlan {
  const stacks = readCloudAssembly(resolve(app));
  const isDynalite = dynamodbEndpoint === undefined;
  const support = { multiAttributeKeys: !isDynalite, keyspaces: cassandra !== undefined };
  return (rejected) => {
    const plan = planDeployment(stacks, support, rejected);
    const differences = strict ? differencesOf(plan, packages, Number.POSITIVE_INFINITY) : [];
    if (differences.length > 0) throw new StrictRunError(differences);
    return plan;
  };
}

/** Starts the Lambda endpoint, the emulators and their gates, and creates clients for them. */
async function startServices(
  options: LocalOptions,
  pools: ReadonlyMap<string, FunctionPool>,
  reportProblem: ReportProblem,
  parts: Stoppable[],
) {
  const { port = 0, cassandra } = options;
  const lambda = await startInvokeServer(port, pools, reportProblem);
  parts.push({ stop: () => closeServer(lambda) });
  const { emulators, gates, failure } = await startEmulators(options, parts);
  const endpoints: Endpoints = {
    ...emulators,
    ...gates?.endpoints,
    ...(cassandra && { cassandra: contactPointOf(cassandra) }),
    lambda: endpointOf(lambda),
  };
  const clients = localClients(endpoints);
  // Uses clients without gates to create resources, so that limits do not apply.
  const ungatedClients = localClients({ ...endpoints, ...emulators });
  for (const client of [...Object.values(clients), ...Object.values(ungatedClients)]) {
    parts.push({ stop: async () => client.destroy() });
  }
  return { endpoints, clients, ungatedClients, gates, failure };
}

/** Starts the emulators, or uses running emulators, and starts the gates in front of them. */
async function startEmulators(options: LocalOptions, parts: Stoppable[]) {
  const { kinesisEndpoint, dynamodbEndpoint, gates: gateOptions } = options;
  const starting = [
    kinesisEndpoint === undefined ? startKinesisEmulator() : runningEmulator('kinesisEndpoint', kinesisEndpoint),
    dynamodbEndpoint === undefined ? startDynamoDbEmulator() : runningEmulator('dynamodbEndpoint', dynamodbEndpoint),
  ] as const;
  // Waits for both emulators even if one start fails, because the run must then stop the other emulator.
  await Promise.allSettled(starting.map(async (each) => parts.push(await each)));
  const [kinesis, dynamodb] = await Promise.all(starting);
  const emulators = { kinesis: kinesis.endpoint, dynamodb: dynamodb.endpoint };
  const gates = gateOptions && (await startGates(emulators, gateOptions));
  if (gates !== undefined) parts.push(gates);
  const failure = Promise.race([kinesis.failure, dynamodb.failure]);
  // Without this handler, a failure for which no caller waits would end the process.
  failure.catch(() => {});
  return { emulators, gates, failure };
}

interface Stoppable {
  stop(): Promise<unknown>;
}

function functionNamed(name: string, pools: ReadonlyMap<string, FunctionPool>): FunctionPool {
  const byPath = [...pools.values()].find(({ definition }) => definition.path === name);
  const pool = byPath ?? pools.get(functionReference(name)?.name ?? name);
  if (pool === undefined) {
    const paths = [...pools.values()].map(({ definition }) => definition.path);
    throw new InvalidArgumentError('name', name, `one of the functions ${paths.join(', ')}`);
  }
  return pool;
}

async function invoke(pool: FunctionPool, payload: unknown, qualifier: string | undefined): Promise<unknown> {
  const result = await pool.invoke(JSON.stringify(payload) ?? '{}', qualifier);
  const returned = JSON.parse(result.payload);
  if (result.functionError !== undefined) throw new FunctionFailedError(pool.definition.path, returned);
  return returned;
}

function describe({ streams, tables, functions, eventSources, schedules }: DeploymentPlan): string[] {
  return [
    ...streams.map(
      ({ path, mode, shardCount }) =>
        `stream ${path}, ${shardCount === undefined ? mode : counted(shardCount, 'shard')}`,
    ),
    ...tables.map(({ path, definition }) => `table ${path}, ${counted(indexCount(definition), 'index', 'indexes')}`),
    ...functions.map(({ path, runtime }) => `function ${path}, ${runtime}`),
    ...eventSources.map(
      ({ functionName, reads, streamName }) =>
        `function ${pathOf(functions, functionName)} reads ${reads === 'table' ? `the stream of table ${pathOf(tables, streamName)}` : `stream ${pathOf(streams, streamName)}`}`,
    ),
    ...schedules.map(
      ({ functionName, everyMs }) =>
        `function ${pathOf(functions, functionName)} runs every ${counted(everyMs / 60_000, 'minute')}`,
    ),
  ];
}

function pathOf(resources: readonly LocalResource[], named: string): string {
  return resources.find(({ name }) => name === named)!.path;
}

function indexCount({ GlobalSecondaryIndexes = [], LocalSecondaryIndexes = [] }: LocalTable['definition']): number {
  return GlobalSecondaryIndexes.length + LocalSecondaryIndexes.length;
}
