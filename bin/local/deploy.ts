import { setTimeout as sleep } from 'node:timers/promises';
import { EvenShardsError } from '../../lib/core/kernel/errors';
import type { DeploymentPlan, LocalResource, LocalStream, LocalTable } from './assembly/deployment-plan';
import type { LocalClients } from './emulators/clients';

/** An emulator rejects a resource, or does not create the resource in time. */
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

/** Creates the streams and tables of a plan. Resolves when all streams and tables are active. */
export async function deploy(
  { streams, tables }: DeploymentPlan,
  clients: LocalClients,
  limitMs = DEPLOY_LIMIT_MS,
): Promise<void> {
  const abortSignal = AbortSignal.timeout(limitMs);
  const orExplain = async (resource: LocalResource, creation: Promise<void>): Promise<void> => {
    try {
      await creation;
    } catch (error) {
      const late = new Error(`it is not active after ${limitMs / 1000} seconds`, { cause: error });
      throw new DeploymentError(resource, abortSignal.aborted ? late : (error as Error));
    }
  };
  await Promise.all([
    ...streams.map((stream) => orExplain(stream, createStream(stream, clients, abortSignal))),
    ...tables.map((table) => orExplain(table, createTable(table, clients, abortSignal))),
  ]);
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
