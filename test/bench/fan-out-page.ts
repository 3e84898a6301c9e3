import { Agent } from 'node:https';
import { DynamoDB, type QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import {
  FanOutHistory,
  fanOutQuery,
  lightQueryClient,
  type QueryClient,
  type ShardedIndexConfig,
} from '../../lib/core';
import { STUB, serveQueries, startQueryStub } from '../support/fakes/query-stub';
import { writeGuideTable } from '../support/guide-table';
import { indexConfig } from '../support/index-config';

/**
 * Wall time and CPU time of one ordered page over N shards, by who asks the shards: against a stub in another process
 * that answers over TLS after a few milliseconds. Every way of asking takes its turn in every round. It writes the table of the
 * guide.
 *
 *     npm run bench fan-out-page [rounds] [latency in ms]
 */

const SHARDS = [10, 50, 200];
const LIMIT = 50;
const MAX_SOCKETS = 256;
const WARM_UP_ROUNDS = 10;

interface Timing {
  wallMs: number;
  cpuMs: number;
}

type Approach = (shards: number) => Promise<unknown>;

async function compare(rounds: number, latencyMs: number): Promise<void> {
  const stub = await startQueryStub(__filename, latencyMs);
  const client = () =>
    new DynamoDB({
      endpoint: stub.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'x'.repeat(600) },
      requestHandler: new NodeHttpHandler({
        httpsAgent: new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS, rejectUnauthorized: false }),
      }),
    });
  const approaches: Record<string, Approach> = {
    'SDK, one shard after the other': oneAfterTheOther(client()),
    'SDK, `Promise.all`': allAtOnce(client()),
    'SDK, `fanOutQuery`': merged(client()),
    'light client, `fanOutQuery`': merged(lightQueryClient(client())),
  };
  console.log(`a page of ${LIMIT} items of 300 bytes; ${latencyMs} ms latency; medians of ${rounds} pages\n`);
  const columns: Timing[][] = [];
  for (const shards of SHARDS) columns.push(timingsOf(await takeTurns(approaches, shards, rounds)));
  const rows = Object.keys(approaches).map((name, row) => [name, ...columns.map((timings) => cellOf(timings, row))]);
  const header = ['', ...SHARDS.map((shards) => `N = ${shards}: wall, CPU`)];
  writeGuideTable('docs/guides/sharded-tables.md', 'npm run bench fan-out-page', header, rows);
  stub.stop();
}

const configOf = (shards: number): ShardedIndexConfig =>
  indexConfig({ shardAttribute: 'byStatusShard', shards: { default: { write: shards, read: shards } } });

function merged(client: QueryClient): Approach {
  const options = { concurrency: MAX_SOCKETS, history: new FanOutHistory() };
  return (shards) => fanOutQuery(client, configOf(shards), { value: String(shards), limit: LIMIT }, options);
}

/** What the tutorials do: the page's limit for every shard, since all of it could be in one, then a sort. */
function allAtOnce(client: DynamoDB): Approach {
  return async (shards) => {
    const pages = await Promise.all(Array.from({ length: shards }, (_, shard) => askShard(client, shard, shards)));
    return firstByTime(pages.flat());
  };
}

function oneAfterTheOther(client: DynamoDB): Approach {
  return async (shards) => {
    const items: Item[] = [];
    for (let shard = 0; shard < shards; shard++) items.push(...(await askShard(client, shard, shards)));
    return firstByTime(items);
  };
}

type Item = NonNullable<QueryCommandOutput['Items']>[number];

async function askShard(client: DynamoDB, shard: number, shards: number): Promise<Item[]> {
  const { Items = [] } = await client.query({
    TableName: 'Jobs',
    IndexName: 'byStatus',
    KeyConditionExpression: '#status = :status AND #shard = :shard',
    ExpressionAttributeNames: { '#status': 'status', '#shard': 'byStatusShard' },
    ExpressionAttributeValues: { ':status': { S: String(shards) }, ':shard': { N: String(shard) } },
    Limit: LIMIT,
  });
  return Items;
}

function firstByTime(items: Item[]): Item[] {
  return items.sort((a, b) => (a.createdAt!.S! < b.createdAt!.S! ? -1 : 1)).slice(0, LIMIT);
}

async function takeTurns(
  approaches: Record<string, Approach>,
  shards: number,
  rounds: number,
): Promise<Record<string, Timing[]>> {
  const samples: Record<string, Timing[]> = Object.fromEntries(Object.keys(approaches).map((name) => [name, []]));
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const [name, approach] of Object.entries(approaches)) {
      const cpu = process.cpuUsage();
      const start = performance.now();
      await approach(shards);
      const wallMs = performance.now() - start;
      const { user, system } = process.cpuUsage(cpu);
      if (round >= 0) samples[name]!.push({ wallMs, cpuMs: (user + system) / 1000 });
    }
  }
  return samples;
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

function timingsOf(samples: Record<string, Timing[]>): Timing[] {
  return Object.values(samples).map((taken) => ({
    wallMs: median(taken.map(({ wallMs }) => wallMs)),
    cpuMs: median(taken.map(({ cpuMs }) => cpuMs)),
  }));
}

/** The wall time and the CPU time of an approach; of the last one also how many times as fast it is as the one before. */
function cellOf(timings: readonly Timing[], row: number): string {
  const { wallMs, cpuMs } = timings[row]!;
  if (row < timings.length - 1) return `${milliseconds(wallMs)}, ${milliseconds(cpuMs)}`;
  const base = timings[row - 1]!;
  return (
    `${milliseconds(wallMs)} (${(base.wallMs / wallMs).toFixed(1)}), ` +
    `${milliseconds(cpuMs)} (${(base.cpuMs / cpuMs).toFixed(1)})`
  );
}

function milliseconds(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US')} ms`;
}

const [first, second] = process.argv.slice(2);
if (first === STUB) serveQueries(Number(second));
else void compare(Number(first ?? 40), Number(second ?? 4));
