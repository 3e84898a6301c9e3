import { setTimeout as sleep } from 'node:timers/promises';
import { EvenShardsError } from '../../lib/core/kernel/errors';
import type { DeploymentPlan } from './assembly/deployment-plan';
import type { LocalResource } from './assembly/local-resource';
import type { LocalStream } from './assembly/planned-stream';
import type { LocalTable } from './assembly/planned-table';
import type { LocalClients } from './emulators/clients';

/** An emulator fails, or does not create a resource in time. */
export class DeploymentError extends EvenShardsError {
  constructor(
    readonly resource: LocalResource,
    cause: Error,
  ) {
    super('DEPLOYMENT_FAILED', `cannot create ${resource.path} (${resource.name}): ${cause.message}`, { cause });
  }
}

/**
 * The time limit of the whole deployment, in milliseconds. Even slow machines create hundreds of resources much faster.
 */
const DEPLOY_LIMIT_MS = 60_000;

type Create<T> = (resource: T, clients: LocalClients, abortSignal: AbortSignal) => Promise<void>;

/** The resources that an emulator rejects, by construct path, with the reasons. */
export type Rejections = ReadonlyMap<string, string>;

/**
 * Creates the streams and tables of a plan. Resolves when all streams and tables are active.
 *
 * @throws DeploymentError if an emulator fails, or does not create a resource within the time limit
 */
export async function deploy(
  { streams, tables }: DeploymentPlan,
  clients: LocalClients,
  limitMs = DEPLOY_LIMIT_MS,
): Promise<Rejections> {
  const rejections = new Map<string, string>();
  const created = async <T extends LocalResource>(resource: T, create: Create<T>): Promise<void> => {
    // Node.js warns about more than ten listeners of one signal, so each resource has its own signal.
    const abortSignal = AbortSignal.timeout(limitMs);
    try {
      await create(resource, clients, abortSignal);
    } catch (error) {
      if (isRejection(error)) return void rejections.set(resource.path, `the emulator rejects it: ${error.message}`);
      const late = new Error(`it is not active after ${limitMs / 1000} seconds`, { cause: error });
      throw new DeploymentError(resource, abortSignal.aborted ? late : (error as Error));
    }
  };
  await Promise.all([
    ...streams.map((stream) => created(stream, createStream)),
    ...tables.map((table) => created(table, createTable)),
  ]);
  return rejections;
}

/** Whether an emulator has found a fault in a request. */
function isRejection(error: unknown): error is Error {
  return error instanceof Error && (error as { $fault?: string }).$fault === 'client';
}

const POLL_INTERVAL_MS = 10;

async function createStream(
  { name, mode, shardCount, maxRecordKibibytes }: LocalStream,
  { kinesis }: LocalClients,
  abortSignal: AbortSignal,
): Promise<void> {
  const input = {
    StreamName: name,
    ShardCount: shardCount,
    StreamModeDetails: { StreamMode: mode },
    MaxRecordSizeInKiB: maxRecordKibibytes,
  };
  await kinesis.createStream(input, { abortSignal });
  await untilActive(abortSignal, async () => {
    const { StreamDescriptionSummary } = await kinesis.describeStreamSummary({ StreamName: name }, { abortSignal });
    return StreamDescriptionSummary?.StreamStatus;
  });
}

async function createTable(
  { name, definition }: LocalTable,
  { dynamodb }: LocalClients,
  abortSignal: AbortSignal,
): Promise<void> {
  await dynamodb.createTable(definition, { abortSignal });
  await untilActive(abortSignal, async () => {
    return (await dynamodb.describeTable({ TableName: name }, { abortSignal })).Table?.TableStatus;
  });
}

async function untilActive(signal: AbortSignal, status: () => Promise<string | undefined>): Promise<void> {
  while ((await status()) !== 'ACTIVE') await sleep(POLL_INTERVAL_MS, undefined, { signal });
}
