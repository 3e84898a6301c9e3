import { Agent, request } from 'node:https';
import { DynamoDB, type QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import {
  FanOutHistory,
  fanOutQuery,
  lightQueryClient,
  type QueryClient,
  type ShardedIndexConfig,
} from '../../../lib/core';
import { indexConfig } from '../../support/index-config';

export const LIMIT = 50;
const MAX_SOCKETS = 256;

/** The mean time of a page. */
export interface Timing {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** A message to the process of an approach: it must read `pages` pages over `shards` shards. */
export interface Turn {
  readonly shards: number;
  readonly pages: number;
}

/** Reads one page from this number of shards. */
type Page = (shards: number) => Promise<unknown>;

export const APPROACHES: Readonly<Record<string, (endpoint: string) => Page>> = {
  'SDK, one shard after the other': (endpoint) => oneAfterTheOther(sdkClient(endpoint)),
  'SDK, `Promise.all`': (endpoint) => allAtOnce(sdkClient(endpoint)),
  'SDK, `fanOutQuery`': (endpoint) => merged(sdkClient(endpoint)),
  'light client, `fanOutQuery`': (endpoint) => merged(lightQueryClient(sdkClient(endpoint))),
  '`node:https`, the same requests, made before': madeBefore,
};

/** The process of one approach. It responds to each message with the mean cost of its pages. */
export function serveApproach(name: string, endpoint: string): void {
  const page = APPROACHES[name]!(endpoint);
  process.on('message', async ({ shards, pages }: Turn) => {
    const cpu = process.cpuUsage();
    const start = performance.now();
    for (let count = 0; count < pages; count++) await page(shards);
    const wallMs = (performance.now() - start) / pages;
    const { user, system } = process.cpuUsage(cpu);
    process.send!({ wallMs, cpuMs: (user + system) / 1_000 / pages } satisfies Timing);
  });
}

const httpsAgent = () => new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS, rejectUnauthorized: false });

function sdkClient(endpoint: string, requestHandler = new NodeHttpHandler({ httpsAgent: httpsAgent() })): DynamoDB {
  return new DynamoDB({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'x'.repeat(600) },
    requestHandler,
  });
}

const configOf = (shards: number): ShardedIndexConfig =>
  indexConfig({ shardAttribute: 'byStatusShard', shards: { default: { write: shards, read: shards } } });

function merged(client: QueryClient): Page {
  const options = { concurrency: MAX_SOCKETS, history: new FanOutHistory() };
  return (shards) => fanOutQuery(client, configOf(shards), { value: String(shards), limit: LIMIT }, options);
}

/** The approach of many tutorials: reads a whole page of items from every shard, and then sorts all items. */
function allAtOnce(client: DynamoDB): Page {
  return async (shards) => {
    const pages = await Promise.all(Array.from({ length: shards }, (_, shard) => askShard(client, shard, shards)));
    return firstByTime(pages.flat());
  };
}

function oneAfterTheOther(client: DynamoDB): Page {
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

type Sent = Parameters<NodeHttpHandler['handle']>[0];

/** The minimum work of a client on Node.js: sends recorded requests of the light client, and parses the responses. */
function madeBefore(endpoint: string): Page {
  const agent = httpsAgent();
  const requestHandler = new NodeHttpHandler({ httpsAgent: agent });
  const handle = requestHandler.handle.bind(requestHandler);
  const sent: Sent[] = [];
  requestHandler.handle = (each, options) => {
    sent.push(each);
    return handle(each, options);
  };
  const page = merged(lightQueryClient(sdkClient(endpoint, requestHandler)));
  const requests = new Map<number, readonly Sent[]>();
  return async (shards) => {
    const recorded = requests.get(shards);
    if (recorded !== undefined) return Promise.all(recorded.map((each) => exchanged(each, agent)));
    // The query learns the item sizes from the first page. The requests of the second page are then the requests to
    // record.
    await page(shards);
    sent.length = 0;
    const second = await page(shards);
    requests.set(shards, sent.splice(0));
    return second;
  };
}

function exchanged({ hostname, port, path, headers, body }: Sent, agent: Agent): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, path, headers, agent, method: 'POST' }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
      response.on('error', reject);
    });
    outgoing.on('error', reject).end(body);
  });
}
