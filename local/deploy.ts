import { setTimeout as sleep } from 'node:timers/promises';
import { EvenShardsError } from '../lib/core/errors';
import type { LocalClients } from './clients';
import type { DeploymentPlan, LocalResource, LocalStream, LocalTable } from './deployment-plan';

/** A resource that its emulator refuses to create. */
export class DeploymentError extends EvenShardsError {
  constructor(
    readonly resource: LocalResource,
    cause: Error,
  ) {
    super('DEPLOYMENT_FAILED', `cannot create ${resource.path} (${resource.name}): ${cause.message}`, { cause });
  }
}

/** Creates the streams and tables of a plan; resolves when every one is active. */
export async function deploy({ streams, tables }: DeploymentPlan, clients: LocalClients): Promise<void> {
  await Promise.all([
    ...streams.map((stream) => orExplain(stream, createStream(stream, clients))),
    ...tables.map((table) => orExplain(table, createTable(table, clients))),
  ]);
}

const POLL_INTERVAL_MS = 10;

async function createStream({ name, mode, shardCount }: LocalStream, { kinesis }: LocalClients): Promise<void> {
  await kinesis.createStream({ StreamName: name, ShardCount: shardCount, StreamModeDetails: { StreamMode: mode } });
  const status = async () => {
    const { StreamDescriptionSummary } = await kinesis.describeStreamSummary({ StreamName: name });
    return StreamDescriptionSummary?.StreamStatus;
  };
  while ((await status()) !== 'ACTIVE') await sleep(POLL_INTERVAL_MS);
}

async function createTable({ name, definition }: LocalTable, { dynamodb }: LocalClients): Promise<void> {
  await dynamodb.createTable(definition);
  const status = async () => (await dynamodb.describeTable({ TableName: name })).Table?.TableStatus;
  while ((await status()) !== 'ACTIVE') await sleep(POLL_INTERVAL_MS);
}

function orExplain(resource: LocalResource, creation: Promise<void>): Promise<void> {
  return creation.catch((cause) => {
    throw new DeploymentError(resource, cause);
  });
}
