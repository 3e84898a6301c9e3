import { type DynamoDbItem, type FanOutRequest, fanOutQuery, type ShardedIndexConfig } from '../../lib/core';
import { FakeIndex } from '../fakes/fake-index';

/**
 * What paging through ties costs: the read units of all pages together, against reading the index once, and against half
 * a unit for each shard and page. The index is in memory and charges as DynamoDB does, so the numbers are exact.
 *
 *     npm run bench fan-out-ties [items] [shards] [limit] [bytes]
 */

const DAY = '2026-11-21';
const UNIT_BYTES = 8_192;

/** A case and its mirror image. */
const CASES: [string, string[], FanOutRequest][] = [
  ['[day, time]', ['day', 'time'], { order: 'ascending' }],
  ['[day, time], descending', ['day', 'time'], { order: 'descending' }],
  ['[day], lte', ['day'], { order: 'ascending', sortKey: { lte: DAY } }],
  ['[day], gte, descending', ['day'], { order: 'descending', sortKey: { gte: DAY } }],
  ['[day], between, descending', ['day'], { order: 'descending', sortKey: { between: ['2026-11-01', DAY] } }],
  ['[day]', ['day'], { order: 'ascending' }],
  ['[day], descending', ['day'], { order: 'descending' }],
  ['[day], beginsWith + filter', ['day'], { order: 'ascending', sortKey: { beginsWith: '2026-11-2' } }],
  ['[day], beginsWith + filter, desc.', ['day'], { order: 'descending', sortKey: { beginsWith: '2026-11-2' } }],
];

/** A fifth of the items passes. */
const FILTER: FanOutRequest = {
  filterExpression: '#kind = :kind',
  expressionAttributeNames: { '#kind': 'kind' },
  expressionAttributeValues: { ':kind': { N: '0' } },
};

async function main(items: number, shards: number, limit: number, bytes: number): Promise<void> {
  console.log(`${items} items of ${bytes} bytes and of one day, in ${shards} shards, in pages of ${limit}\n`);
  console.log('case                              pages     units  index once   half a unit each   of the larger');
  let worst = 0;
  for (const [name, sortKeyAttributes, request] of CASES) {
    const config = dayIndex(shards, sortKeyAttributes);
    const index = fill(config, items, shards, bytes);
    const filtered = name.includes('filter');
    const { units, pages } = await pageThrough(index, config, { ...request, ...(filtered ? FILTER : {}), limit });
    const once = (items * bytes) / UNIT_BYTES;
    const half = (pages * shards) / 2;
    const ratio = units / Math.max(2 * once, half);
    worst = Math.max(worst, ratio);
    const cells = [pages, units, once, half].map((number) => number.toFixed(0));
    console.log(
      `${name.padEnd(32)}${cells[0]!.padStart(7)}${cells[1]!.padStart(10)}${cells[2]!.padStart(12)}${cells[3]!.padStart(19)}${`${ratio.toFixed(2)}x`.padStart(16)}`,
    );
  }
  console.log(
    `\nthe larger of twice the index and half a unit for each shard and page: at most ${worst.toFixed(2)} of it`,
  );
}

function dayIndex(shards: number, sortKeyAttributes: string[]): ShardedIndexConfig {
  return {
    tableName: 'Table',
    indexName: 'byDay',
    tableKey: ['id'],
    keyLayout: 'multi-attribute',
    shardAttribute: 'shard',
    sortKeyAttributes,
    shards: { default: { write: shards, read: shards } },
    strategy: 'random',
  };
}

function fill(config: ShardedIndexConfig, items: number, shards: number, bytes: number): FakeIndex {
  const index = new FakeIndex(config);
  for (let number = 0; number < items; number++) {
    const item: DynamoDbItem = {
      id: { S: `item-${String(number).padStart(8, '0')}` },
      day: { S: DAY },
      time: { N: String(number) },
      shard: { N: String((number * 7) % shards) },
      kind: { N: String(number % 5) },
    };
    index.put({ ...item, pad: { S: 'x'.repeat(bytes - 60) } });
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

const [items = 10_000, shards = 10, limit = 25, bytes = 500] = process.argv.slice(2).map(Number);
void main(items, shards, limit, bytes);
