import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { clientEnvironment } from '../../bin/local/functions/lambda-environment';
import { Repositories, type RepositoryEvent } from '../../examples/repository-outbox/repositories';
import { migrateOutbox } from '../../lib/core/outbox';
import type { PostgresServer } from '../../test/support/postgres/postgres-server';
import type { ThrottledRun } from './throttled-run';

const PRODUCER = 'EvenShards/Producer/Function';
const RELAY = 'dist/scripts/story/relay.js';
const POLL_MS = 50;
/** A small event, so that a slow machine sends it before the timeout of the function. */
const EVENT_RECORDS = 40;

/** Writes events in order by invoking the producer function of the reference app. */
export async function writeWithProducer({ stack }: ThrottledRun, events: readonly RepositoryEvent[]): Promise<void> {
  for (let start = 0; start < events.length; start += EVENT_RECORDS) {
    const records = events
      .slice(start, start + EVENT_RECORDS)
      .map((event) => ({ partitionKey: event.repository, data: event }));
    const { failedRecordCount } = (await stack.invoke(PRODUCER, { records })) as { failedRecordCount: number };
    if (failedRecordCount > 0) throw new Error(`${failedRecordCount} records were not delivered`);
  }
}

/**
 * Writes events in order through an outbox in Postgres, with the app of `examples/repository-outbox`. Each event is
 * written in the transaction that changes its repository. The relay, a process of its own, sends the events.
 */
export async function writeThroughOutbox(
  run: ThrottledRun,
  server: PostgresServer,
  events: readonly RepositoryEvent[],
): Promise<void> {
  const url = await server.createDatabase('story');
  const client = await server.connect(url);
  await migrateOutbox(client);
  const repositories = new Repositories(server.pool(url));
  await repositories.createTable();
  for (const { action, repository, commit } of events) {
    if (action === 'create') await repositories.create(repository, 'a repository of the sample');
    else if (action === 'destroy') await repositories.destroy(repository);
    else await repositories.commit(repository, commit!);
  }
  // The relay starts late, so that it has a backlog that reaches the limit of the shards.
  const relay = await startRelay(run, url);
  while (run.stored() < events.length) await sleep(POLL_MS);
  relay.kill('SIGTERM');
  await once(relay, 'exit');
  await client.end();
}

/** Starts the relay of the example as a process. */
async function startRelay({ stack, streamName }: ThrottledRun, url: string) {
  await build({
    entryPoints: ['examples/repository-outbox/relay.ts'],
    outfile: RELAY,
    bundle: true,
    external: ['pg', '@aws-sdk/*', '@smithy/*'],
    platform: 'node',
    target: 'node20',
  });
  const relay = spawn(process.execPath, [RELAY], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...clientEnvironment(stack.endpoints), DATABASE_URL: url, STREAM_NAME: streamName },
  });
  process.once('exit', () => relay.kill('SIGKILL'));
  await once(createInterface({ input: relay.stdout! }), 'line'); // The relay prints a line when it has started.
  relay.stdout!.resume();
  return relay;
}
