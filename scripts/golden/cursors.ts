import { type CqlRow, fanOutSelect, findStrayRows, type ShardedKeyspacesConfig } from 'cdk-even-shards/keyspaces';
import {
  type AttributeValue,
  type DynamoDbItem,
  fanOutCount,
  fanOutQuery,
  findStrays,
  type IndexQueryInput,
  type QueryClient,
  reshardItems,
  type ShardedConfig,
  type ShardedIndexConfig,
  type ShardedTableConfig,
} from 'cdk-even-shards/sharded-index';
import { FakeCassandra } from '../../test/support/fakes/fake-cassandra';
import { FakeIndex } from '../../test/support/fakes/fake-index';
import { FakeRowTable } from '../../test/support/fakes/fake-row-table';
import type { Written } from './written';

export const JOBS: ShardedIndexConfig = {
  tableName: 'Jobs',
  indexName: 'byStatus',
  tableKey: ['jobId'],
  keyLayout: 'multi-attribute',
  valueAttribute: 'status',
  shardAttribute: 'shard',
  sortKeyAttributes: ['createdAt', 'jobId'],
  shards: { default: { write: 2, read: 3 }, byValue: { done: { write: 3, read: 3 } } },
  strategy: 'calculated',
};
const EVENTS: ShardedIndexConfig = {
  tableName: 'Events',
  indexName: 'byTime',
  tableKey: ['stream', 'number'],
  keyLayout: 'multi-attribute',
  shardAttribute: 'timeShard',
  sortKeyAttributes: ['at'],
  shards: { default: { write: 2, read: 2 } },
  strategy: 'random',
  firstShard: 1,
};
const INVOICES: ShardedTableConfig = {
  tableName: 'Invoices',
  tableKey: ['invoice', 'transaction'],
  keyLayout: 'single-attribute',
  valueAttribute: 'invoice',
  shardAttribute: 'invoice',
  sortKeyAttributes: ['transaction'],
  shards: { default: { write: 2, read: 2, since: 1 } },
  strategy: 'calculated',
  shardedBy: ['transaction'],
  separator: '-',
  firstShard: 0,
};
const POSTS: ShardedKeyspacesConfig = {
  keyspaceName: 'blogs',
  tableName: 'posts',
  partitionKey: [{ name: 'day', type: 'text' }],
  shardColumn: 'shard',
  firstShard: 1,
  clusteringColumns: [
    { name: 'at', type: 'timestamp', order: 'DESC' },
    { name: 'id', type: 'bigint', order: 'ASC' },
  ],
  columns: ['body'],
  shards: { default: { write: 2, read: 2 }, byValue: { '2026-12-01': { write: 3, read: 4 } } },
  strategy: 'calculated',
  calculatedFrom: ['id'],
};

const text = (S: string): AttributeValue => ({ S });
const number = (N: number): AttributeValue => ({ N: String(N) });

export const jobs = Array.from({ length: 12 }, (_, n) => ({
  jobId: text(`job-${n}`),
  status: text('done'),
  shard: number(n % 3),
  createdAt: text(`2026-12-0${1 + Math.floor(n / 4)}`),
  owner: text(n % 2 === 0 ? 'ann' : 'bob'),
}));
const events = Array.from({ length: 8 }, (_, n) => ({
  stream: text('a'),
  number: number(n),
  at: { B: Uint8Array.of(1, n >> 1) },
  timeShard: number(1 + (n % 2)),
}));
const invoices = Array.from({ length: 6 }, (_, n) => ({
  invoice: text(`inv-${n % 2}`),
  transaction: text(`t${n}`),
}));
const posts = Array.from({ length: 15 }, (_, n) => ({
  day: '2026-12-01',
  shard: 1 + (n % 4),
  at: new Date(Date.UTC(2026, 11, 1, 10, Math.floor(n / 3))),
  id: n,
  body: 'text',
}));

/** Each query, and the items of the cursor's page and of the pages after it. */
const QUERIES = {
  ascending: [JOBS, jobs, { value: 'done', limit: 5 }],
  descending: [JOBS, jobs, { value: 'done', order: 'descending', limit: 5 }],
  unordered: [JOBS, jobs, { value: 'done', order: 'unordered', limit: 5 }],
  'with a sort key': [
    JOBS,
    jobs,
    { value: 'done', sortKey: { between: ['2026-12-01', '2026-12-02'] }, limit: 3, projection: ['owner'] },
  ],
  'with a filter': [
    JOBS,
    jobs,
    {
      value: 'done',
      filterExpression: '#owner = :owner',
      expressionAttributeNames: { '#owner': 'owner' },
      expressionAttributeValues: { ':owner': text('ann') },
      limit: 2,
    },
  ],
  'without a value, with a binary sort key': [EVENTS, events, { limit: 3 }],
  'of a table': [INVOICES, invoices, { value: 'inv', limit: 2 }],
} as const;

async function queryCursors() {
  const cursors: Record<string, unknown> = {};
  for (const [name, [config, items, request]] of Object.entries(QUERIES)) {
    const client = indexOf(config, items);
    const page = await fanOutQuery(client, structuredClone(config), request as never);
    const rest = await fanOutQuery(client, structuredClone(config), {
      ...request,
      limit: 100,
      cursor: page.cursor,
    } as never);
    cursors[`fanOutQuery – ${name}`] = { config, items, request, cursor: page.cursor, next: rest.items };
  }
  return cursors;
}

async function rowCursors() {
  const cursors: Record<string, unknown> = {};
  for (const order of ['ascending', 'descending', 'unordered'] as const) {
    const request = { value: { day: '2026-12-01' }, where: { at: { gte: posts[0]!.at } }, order, limit: 4 };
    const client = postsIn(POSTS, posts);
    const page = await fanOutSelect(client, structuredClone(POSTS), request);
    const rest = await fanOutSelect(client, structuredClone(POSTS), { ...request, limit: 100, cursor: page.cursor });
    const next = rest.rows.map(({ id }) => Number(id));
    cursors[`fanOutSelect – ${order}`] = { config: POSTS, rows: posts, request, cursor: page.cursor, next };
  }
  return cursors;
}

async function resumePoints() {
  const points: Record<string, unknown> = {};
  // The deadline ends the count while the last shard has no response yet.
  const late: QueryClient = {
    query: (input) =>
      shardIn(input) === '2' ? new Promise(() => {}) : indexOf(JOBS, jobs).query({ ...input, Limit: 2 } as never),
  };
  const request = { value: 'done' };
  const { count, cursor } = await fanOutCount(late, structuredClone(JOBS), request, {
    deadlineMs: 300,
    concurrency: 3,
  });
  points.fanOutCount = { config: JOBS, items: jobs, request, cursor, counted: count };

  for (const [name, config, items] of [
    ['of an index', JOBS, jobs],
    ['of a table', INVOICES, invoices],
  ] as const) {
    for (const [kind, scan] of [
      ['findStrays', findStrays],
      ['reshardItems', reshardItems],
    ] as const) {
      const stop = new AbortController();
      const options = { segment: 1, totalSegments: 3, versionAttribute: null };
      const onProgress = () => stop.abort();
      const client = scanOf(items, config.tableKey) as never;
      const report = await scan(
        client,
        structuredClone(config) as never,
        { ...options, signal: stop.signal, onProgress } as never,
      );
      points[`${kind} – ${name}`] = {
        config,
        items,
        options,
        resumeFrom: report.resumePoint,
        scanned: report.itemsScanned,
      };
    }
  }

  const stop = new AbortController();
  const options = { segment: 0, totalSegments: 2 };
  const onProgress = () => stop.abort();
  const client = new FakeRowTable(POSTS);
  for (const row of posts) client.insert(row);
  const report = await findStrayRows(client, structuredClone(POSTS), { ...options, signal: stop.signal, onProgress });
  points.findStrayRows = {
    config: POSTS,
    rows: posts,
    options,
    resumeFrom: report.resumePoint,
    scanned: report.rowsScanned,
  };
  return points;
}

export async function cursors(): Promise<Written> {
  return { cursor: { ...(await queryCursors()), ...(await rowCursors()) }, 'resume point': await resumePoints() };
}

/** The shard of a request: the number in its key condition. */
function shardIn({ ExpressionAttributeValues: values }: IndexQueryInput): string | undefined {
  return Object.values(values).flatMap((value) => ('N' in value ? [String(value.N)] : []))[0];
}

export function indexOf(config: ShardedConfig, items: readonly object[]): FakeIndex {
  const index = new FakeIndex(config);
  for (const item of items) index.put(item as DynamoDbItem);
  return index;
}

/** The rows of a table, in a database that answers the SELECT statements of one partition. */
export function postsIn(config: ShardedKeyspacesConfig, rows: readonly CqlRow[]): FakeCassandra {
  const names = config.partitionKey.map(({ name }) => name);
  const compare = (a: string, b: string) => Number(a) - Number(b) || Date.parse(a) - Date.parse(b);
  const clusteringColumns = config.clusteringColumns.map(({ name, order }) => ({ name, order, compare }));
  const posts = new FakeCassandra({ partitionKey: [...names, config.shardColumn], clusteringColumns });
  for (const row of rows) posts.insert(row);
  return posts;
}

/** A scan whose first page has three items. */
function scanOf(items: readonly object[], tableKey: readonly string[]) {
  const last = items[2] as DynamoDbItem;
  const key = Object.fromEntries(tableKey.map((name) => [name, last[name]]));
  const page = { Items: items.slice(0, 3), LastEvaluatedKey: key, ConsumedCapacity: { CapacityUnits: 1 } };
  const none = async () => ({});
  return { scan: async () => page, getItem: none, updateItem: none, transactWriteItems: none };
}
