import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { CfnKeyspace } from 'aws-cdk-lib/aws-cassandra';
import { type LocalConsole, startLocalConsole } from '../../../bin/local/console/console-server';
import { FunctionLogs } from '../../../bin/local/console/function-logs';
import type { StoredRows } from '../../../bin/local/console/stored-rows';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { CqlType, KeyspacesFanOutQueryFunction, ShardCounts, ShardedKeyspacesTable } from '../../../lib';
import { KEYSPACES_WRITE_OPTIONS, shardColumns } from '../../../lib/core/keyspaces';
import { allPages } from '../../support/all-pages';
import { type RunningCassandra, startCassandra } from './cassandra';

/** Runs an app with a table of Amazon Keyspaces locally, on a Cassandra that is already running. */

function synthesized(tableName = 'blogs'): string {
  const directory = mkdtempSync(join(tmpdir(), 'keyspaces-app-'));
  const app = new App({ outdir: directory });
  const stack = new Stack(app, 'App');
  const keyspace = new CfnKeyspace(stack, 'Tracker', { keyspaceName: 'tracker' });
  const blogs = new ShardedKeyspacesTable(stack, 'Blogs', {
    keyspaceName: keyspace.ref,
    tableName,
    partitionKey: [{ name: 'day', cqlType: CqlType.DATE }],
    clusteringColumns: [{ name: 'title', cqlType: CqlType.TEXT }],
    regularColumns: [{ name: 'words', cqlType: CqlType.INT }],
    shardCounts: ShardCounts.uniform(5),
    firstShard: 1,
  });
  new KeyspacesFanOutQueryFunction(stack, 'Query', { tables: [blogs] });
  app.synth();
  return directory;
}

const ROWS = 60;
const day = '2020-07-09';

let cassandra: RunningCassandra;
let stack: LocalStack;
let localConsole: LocalConsole;

beforeAll(async () => {
  cassandra = await startCassandra();
  const address = { host: '127.0.0.1', port: cassandra.port };
  stack = await startLocal({ app: synthesized(), cassandra: address, gates: {} });
  localConsole = await startLocalConsole(stack, stack.gates!, new FunctionLogs());
  const { client, tables } = stack.keyspaces!;
  for (let number = 0; number < ROWS; number++) {
    const blog = { day, title: `t${String(number).padStart(2, '0')}`, words: number };
    const { shard } = shardColumns(tables[0]!.config, blog);
    const query = 'INSERT INTO tracker.blogs (day, shard, title, words) VALUES (?, ?, ?, ?)';
    await client.execute(query, [day, shard, blog.title, blog.words], KEYSPACES_WRITE_OPTIONS);
  }
}, 300_000);

afterAll(async () => {
  await localConsole?.stop();
  await stack?.stop();
  await cassandra?.stop();
}, 60_000);

async function post<T>(action: string, input: object = {}): Promise<T> {
  const response = await fetch(localConsole.url + action, { method: 'POST', body: JSON.stringify(input) });
  return (await response.json()) as T;
}

test('a local run creates the tables of the app, and lists no missing emulator', () => {
  expect(stack.keyspaces!.tables.map(({ path, name }) => [path, name])).toEqual([['App/Blogs', 'tracker.blogs']]);
  expect(stack.leftOut.filter(({ type }) => type.startsWith('AWS::Cassandra'))).toEqual([]);
});

test('the query function reads the rows page by page', async () => {
  type Page = { rows: { title: string }[]; cursor?: string };
  const event = { table: 'blogs', value: { day }, limit: 25 };
  const pages = await allPages(
    async (cursor) => (await stack.invoke('App/Query/Function', { ...event, cursor })) as Page,
  );
  expect(pages.flatMap(({ rows }) => rows.map(({ title }) => title))).toEqual(
    Array.from({ length: ROWS }, (_, number) => `t${String(number).padStart(2, '0')}`),
  );
});

test('the local console lists the Keyspaces tables and counts their rows, and their query function returns rows', async () => {
  expect(await post('app')).toMatchObject({
    indexes: [],
    keyspacesTables: [{ path: 'App/Blogs', name: 'tracker.blogs' }],
  });
  const outcome = await post<{ answer: { count: number } }>('invoke', {
    name: 'App/Query/Function',
    event: { table: 'blogs', value: { day }, where: { title: { gte: 't50' } } },
  });
  expect(outcome.answer.count).toBe(10);
  const { values, strays, hidden } = await post<StoredRows>('stored', { path: 'App/Blogs', index: '' });
  expect(values.map(({ value }) => value)).toEqual([day]);
  expect(Object.keys(values[0]!.itemsOfShards)).toEqual(['0', '1', '2', '3', '4']);
  expect(Object.values(values[0]!.itemsOfShards).reduce((sum, count) => sum + count, 0)).toBe(ROWS);
  expect({ strays, hidden }).toEqual({ strays: { misplaced: 0 }, hidden: 0 });
});

test('a second run on the same Cassandra does not change the tables', async () => {
  const address = { host: '127.0.0.1', port: cassandra.port };
  const again = await startLocal({ app: synthesized(), cassandra: address });
  const event = { table: 'blogs', value: { day }, limit: 1 };
  expect(await again.invoke('App/Query/Function', event)).toMatchObject({ count: 1 });
  await again.stop();
});

test('a local run rejects an existing table with another key, and does not change it', async () => {
  const { client } = stack.keyspaces!;
  await client.execute(
    'CREATE TABLE tracker.posts (day date, shard int, title text, PRIMARY KEY ((day, shard), title)) WITH CLUSTERING ORDER BY (title DESC)',
  );
  const address = { host: '127.0.0.1', port: cassandra.port };
  const starting = startLocal({ app: synthesized('posts'), cassandra: address });
  await expect(starting).rejects.toThrow(
    '[CASSANDRA] cannot use the table tracker.posts, which already existed: its key is day date, shard int, title text desc, but the app declares the key day date, shard int, title text asc',
  );
});
