import { App, Stack } from 'aws-cdk-lib';
import { AttributeType, ProjectionType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { type LocalStack, startLocal } from '../../bin/local/run-local';
import {
  FanOutQueryFunction,
  IndexItemMover,
  KeyLayout,
  ShardCounts,
  ShardedIndex,
  ShardingStrategy,
  ShardPlacement,
} from '../../lib';
import { allPages } from '../support/all-pages';

/**
 * Imports indexes that another program writes. This program numbers the shards from 1, as "GSI Sharding in DynamoDB"
 * does. The tests query the indexes and move their items.
 */

const SHARDS = 5;
const EVENTS = 100;
const text = (name: string) => ({ name, type: AttributeType.STRING });
const id = (event: number) => `event-${String(event).padStart(3, '0')}`;

let stack: LocalStack;

beforeAll(async () => {
  stack = await startLocal({ app: synthesize() });
  for (let event = 0; event < EVENTS; event++) await putAsOthers(event);
}, 60_000);

afterAll(() => stack?.stop());

/** Synthesizes a table with indexes that no construct of this library has created. */
function synthesize(): string {
  const app = new App();
  const deployed = new Stack(app, 'Numbered');
  const events = new TableV2(deployed, 'Events', { partitionKey: text('event_id'), tableName: 'events' });
  const shard = { name: 'shard', type: AttributeType.NUMBER };
  events.addGlobalSecondaryIndex({
    indexName: 'time-index',
    partitionKey: shard,
    sortKey: text('time'),
    projectionType: ProjectionType.KEYS_ONLY,
  });
  events.addGlobalSecondaryIndex({ indexName: 'by-type', partitionKey: text('type_shard'), sortKey: text('time') });
  const numbered = { table: events, tableKey: ['event_id'], sortKey: text('time'), firstShard: 1 };
  const shardCounts = ShardCounts.uniform(SHARDS);
  const timeIndex = ShardedIndex.fromShardedIndexAttributes({
    ...numbered,
    indexName: 'time-index',
    shardAttribute: 'shard',
    shardCounts,
    strategy: ShardingStrategy.RANDOM,
  });
  const byType = ShardedIndex.fromShardedIndexAttributes({
    ...numbered,
    indexName: 'by-type',
    valueAttribute: text('type'),
    shardAttribute: 'type_shard',
    keyLayout: KeyLayout.SINGLE_ATTRIBUTE,
    separator: '.',
    shardWidth: 2,
    shardPlacement: ShardPlacement.PREFIX,
    shardCounts,
  });
  new FanOutQueryFunction(deployed, 'Query', { indexes: [timeIndex, byType] });
  new IndexItemMover(deployed, 'Mover', { index: byType, readUnitsPerSecond: 1_000, writeUnitsPerSecond: 1_000 });
  return app.synth().directory;
}

/**
 * Puts an event as the other program does. The shard is 1 to 5 in one index, and the prefix 01 to 05 of the type in
 * another index.
 */
async function putAsOthers(event: number): Promise<void> {
  const shard = 1 + (event % SHARDS);
  await stack.clients.dynamodb.putItem({
    TableName: 'events',
    Item: {
      event_id: { S: id(event) },
      time: { S: new Date(Date.UTC(2020, 0, 1) + event * 900_000).toISOString() },
      shard: { N: String(shard) },
      type: { S: 'commit' },
      type_shard: { S: `0${shard}.commit` },
    },
  });
}

/** Reads all events of an index page by page, in the order of the index. */
async function queried(request: { index: string; value?: string }): Promise<string[]> {
  const pages = await allPages(
    async (cursor) => (await stack.invoke('Numbered/Query/Function', { ...request, limit: 30, cursor })) as Page,
  );
  return pages.flatMap(({ items }) => items.map(({ event_id }) => event_id));
}

interface Page {
  items: { event_id: string }[];
  cursor?: string;
}

interface Work {
  totals: { hidden: number; moved: number; refused: number };
}
const work = (mode: string): Promise<Work> =>
  stack.invoke('Numbered/Mover/Function', { segment: 0, totalSegments: 1, request: { mode } }) as Promise<Work>;

const all = Array.from({ length: EVENTS }, (_, event) => id(event));

test('a query returns the events of the shards 1 to 5 in the order of time', async () => {
  expect(await queried({ index: 'time-index' })).toEqual(all);
});

test('a query of a KEYS_ONLY index returns the key, the shard and the time', async () => {
  const { items } = (await stack.invoke('Numbered/Query/Function', { index: 'time-index', limit: 1 })) as Page;
  expect(items).toEqual([{ event_id: id(0), shard: 1, time: '2020-01-01T00:00:00.000Z' }]);
});

test('a query returns the events of an index whose shard is a prefix of two digits', async () => {
  expect(await queried({ index: 'by-type', value: 'commit' })).toEqual(all);
});

test('a mover moves each event to its calculated shard, from 01 to 05', async () => {
  expect((await work('audit')).totals.hidden).toBe(0);
  const { moved, refused } = (await work('reshard')).totals;
  expect(moved).toBeGreaterThan(EVENTS / 2);
  expect(refused).toBe(0);
  expect((await work('reshard')).totals.moved).toBe(0);
  const { Items = [] } = await stack.clients.dynamodb.scan({ TableName: 'events' });
  expect(new Set(Items.map(({ type_shard }) => type_shard!.S))).toEqual(
    new Set([1, 2, 3, 4, 5].map((shard) => `0${shard}.commit`)),
  );
  expect(await queried({ index: 'by-type', value: 'commit' })).toEqual(all);
});
