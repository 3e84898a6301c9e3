import { type DynamoDbItem, type FanOutRequest, fanOutQuery, type ShardedIndexConfig } from '../../../../lib/core';
import { FakeIndex } from '../../fakes/fake-index';
import { indexConfig } from '../../index-config';

const DAY = '2026-11-21';
const UNIT_BYTES = 8_192;
const ITEMS = 10_000;
const SHARDS = 10;
const LIMIT = 25;
const ITEM_BYTES = 500;

/** A fifth of the items passes the filter. */
const FILTER: FanOutRequest = {
  filterExpression: '#kind = :kind',
  expressionAttributeNames: { '#kind': 'kind' },
  expressionAttributeValues: { ':kind': { N: '0' } },
};

const IN_NOVEMBER = { beginsWith: '2026-11-2' };

/** All cases. After each case comes the same case in the opposite order. */
export const TIE_CASES: { name: string; sortKeyAttributes: string[]; request: FanOutRequest }[] = [
  { name: '`[day, time]`', sortKeyAttributes: ['day', 'time'], request: {} },
  { name: '`[day, time]`, descending', sortKeyAttributes: ['day', 'time'], request: { order: 'descending' } },
  { name: '`[day]`, `lte`', sortKeyAttributes: ['day'], request: { sortKey: { lte: DAY } } },
  {
    name: '`[day]`, `gte`, descending',
    sortKeyAttributes: ['day'],
    request: { order: 'descending', sortKey: { gte: DAY } },
  },
  {
    name: '`[day]`, `between`, descending',
    sortKeyAttributes: ['day'],
    request: { order: 'descending', sortKey: { between: ['2026-11-01', DAY] } },
  },
  { name: '`[day]`', sortKeyAttributes: ['day'], request: {} },
  { name: '`[day]`, descending', sortKeyAttributes: ['day'], request: { order: 'descending' } },
  {
    name: '`[day]`, `beginsWith` and a filter',
    sortKeyAttributes: ['day'],
    request: { sortKey: IN_NOVEMBER, ...FILTER },
  },
  {
    name: '`[day]`, `beginsWith` and a filter, descending',
    sortKeyAttributes: ['day'],
    request: { order: 'descending', sortKey: IN_NOVEMBER, ...FILTER },
  },
];

export const TIES_HEADER = [
  'sort key and condition',
  'pages',
  'units',
  'index once',
  'half a unit each',
  'of the larger',
];

/**
 * The read units of all pages, for items with equal sort keys. The row also has the units to read the index once, and half a unit
 * for each shard and page. The last column divides the read units by the larger of two numbers: twice the units to read the index
 * once, and the sum of all half units.
 */
export async function tiesRow({ name, sortKeyAttributes, request }: (typeof TIE_CASES)[number]): Promise<string[]> {
  const config = dayIndex(sortKeyAttributes);
  const { units, pages } = await pageThrough(filled(config), config, { ...request, limit: LIMIT });
  const once = (ITEMS * ITEM_BYTES) / UNIT_BYTES;
  const half = (pages * SHARDS) / 2;
  const counts = [pages, units, once, half].map((count) => Math.round(count).toLocaleString('en'));
  return [name, ...counts, (units / Math.max(2 * once, half)).toFixed(2)];
}

function dayIndex(sortKeyAttributes: string[]): ShardedIndexConfig {
  return indexConfig({
    tableName: 'Table',
    indexName: 'byDay',
    tableKey: ['id'],
    sortKeyAttributes,
    shards: { default: { write: SHARDS, read: SHARDS } },
    strategy: 'random',
    valueAttribute: undefined,
  });
}

function filled(config: ShardedIndexConfig): FakeIndex {
  const index = new FakeIndex(config);
  for (let number = 0; number < ITEMS; number++) {
    const item: DynamoDbItem = {
      id: { S: `item-${String(number).padStart(8, '0')}` },
      day: { S: DAY },
      time: { N: String(number) },
      shard: { N: String((number * 7) % SHARDS) },
      kind: { N: String(number % 5) },
    };
    index.put({ ...item, pad: { S: 'x'.repeat(ITEM_BYTES - 60) } });
  }
  return index;
}

async function pageThrough(
  index: FakeIndex,
  config: ShardedIndexConfig,
  request: FanOutRequest,
): Promise<{ units: number; pages: number }> {
  let [units, pages] = [0, 0];
  let cursor: string | undefined;
  do {
    const page = await fanOutQuery(index, config, { ...request, cursor });
    index.requests.length = 0;
    units += page.stats.consumedReadUnits;
    pages += 1;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return { units, pages };
}
