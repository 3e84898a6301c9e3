import type { LocalTable } from '../../bin/local/assembly/planned-table';
import { type LocalConsole, startLocalConsole } from '../../bin/local/console/console-server';
import { FunctionLogs } from '../../bin/local/console/function-logs';
import { type LocalStack, startLocal } from '../../bin/local/run-local';
import { shardedConfigs } from '../../bin/local/sharded-configs';
import { writeItems } from '../../bin/local/write-items';
import { shardAttributes } from '../../lib/core';
import { synthesizeConsoleApp } from './stacks/console-app';

/** A local stack of the console app, with its local console. */
export interface WatchedStack {
  /** The folder of the cloud assembly. */
  readonly app: string;
  readonly stack: LocalStack;
  readonly localConsole: LocalConsole;
  stop(): Promise<void>;
}

/**
 * Starts the stack and the console. `limits` is the part of the AWS service limits that the local run applies: 0.5 is
 * half.
 */
export async function startWatchedStack({
  shardCount,
  limits,
}: {
  shardCount: number;
  limits?: number;
}): Promise<WatchedStack> {
  const app = synthesizeConsoleApp({ shardCount });
  const logs = new FunctionLogs();
  const stack = await startLocal({ app, gates: { limits }, onFunctionLog: logs.sink });
  const localConsole = await startLocalConsole(stack, stack.gates!, logs);
  return {
    app,
    stack,
    localConsole,
    async stop() {
      await localConsole.stop();
      await stack.stop();
    },
  };
}

export function tableAt({ tables }: LocalStack, path: string): LocalTable {
  return tables.find((table) => table.path === path)!;
}

/** Writes 40 jobs, 12 sessions, and an item without a shard attribute, which no query finds. */
export async function writeJobsAndSessions(stack: LocalStack): Promise<void> {
  const jobs = tableAt(stack, 'App/Jobs');
  const items = Array.from({ length: 40 }, (_, n) => ({
    jobId: `job-${n}`,
    status: n % 2 === 0 ? 'pending' : 'failed',
    tenant: `tenant-${n % 3}`,
    createdAt: `2026-01-01T00:00:${String(n).padStart(2, '0')}Z`,
    data: 'x'.repeat(3_000),
  }));
  await writeItems(stack, jobs.name, items);
  await writeSessions(stack, tableAt(stack, 'App/Sessions').name);
  const Item = { jobId: { S: 'stray' }, status: { S: 'pending' }, createdAt: { S: '2026-01-02T00:00:00Z' } };
  await stack.ungatedClients.dynamodb.putItem({ TableName: jobs.name, Item });
}

/** Writes 12 sessions of one day into a table that is sharded by its own key. */
async function writeSessions(stack: LocalStack, tableName: string): Promise<void> {
  const { config } = shardedConfigs(stack).find((each) => each.config.tableName === tableName)!;
  for (let n = 0; n < 12; n++) {
    const item = { day: 'monday', session: `s-${n}` };
    const Item = Object.entries({ ...item, ...shardAttributes(config, item) }).map(([name, S]) => [name, { S }]);
    await stack.clients.dynamodb.putItem({ TableName: tableName, Item: Object.fromEntries(Item) });
  }
}
