import { type DynamoDbItem, FanOutHistory, fanOutItems, fanOutQuery, type ShardedIndexConfig } from '../../lib/core';
import { seededRandom } from '../../lib/testing/seeded-random';
import { FakeIndex } from '../support/fakes/fake-index';
import { printTable } from '../support/guide-table';
import { timeIndex } from '../support/tables/fan-out/time-index';

/**
 * Measures the items per second and the memory of three ways to read a whole index: ordered pages, one list that is
 * read and then sorted, and an unordered stream. The index is in memory, so the bench measures the CPU time of the
 * library and of the fake index. All approaches use the same fake index.
 *
 *     npm run bench fan-out-paging [items] [shards]
 */

interface Outcome {
  seconds: number;
  heldMegabytes: number;
}

const SEED = 11;
const LIMITS = [10_000, 1_000, 100];

async function compare(items: number, shards: number): Promise<void> {
  const config = timeIndex(shards);
  const random = seededRandom(SEED);
  const index = new FakeIndex(config);
  for (let number = 0; number < items; number++) {
    const shard = Math.floor(random() * shards);
    index.put({ id: { S: `item-${number}` }, at: { N: String(number) }, shard: { N: String(shard) } });
  }
  const ways: Record<string, () => Promise<unknown>> = {
    'read all and sort': () => readAllAndSort(index, shards, items),
    ...Object.fromEntries(
      LIMITS.map((limit) => [`pages of ${limit.toLocaleString('en')}`, () => inPages(index, config, limit, items)]),
    ),
    '`fanOutItems`, in no order': () => streamed(index, config, items),
  };
  const rows: string[][] = [];
  let baseline: Outcome | undefined;
  for (const [name, work] of Object.entries(ways)) {
    const outcome = await measured(work);
    baseline ??= outcome;
    rows.push([
      name,
      (Math.round(items / outcome.seconds / 1_000) * 1_000).toLocaleString('en'),
      (baseline.seconds / outcome.seconds).toFixed(2),
      `${outcome.heldMegabytes.toFixed(1)} MB`,
    ]);
  }
  const header = [`${items.toLocaleString('en')} items`, 'items/s', 'against read all and sort', 'held at the end'];
  printTable(header, rows);
}

async function inPages(index: FakeIndex, config: ShardedIndexConfig, limit: number, items: number): Promise<unknown> {
  const history = new FanOutHistory();
  let cursor: string | undefined;
  let count = 0;
  let page: DynamoDbItem[];
  do {
    const result = await fanOutQuery(copying(index), config, { limit, cursor }, { history });
    page = result.items;
    count += page.length;
    cursor = result.cursor;
  } while (cursor !== undefined);
  if (count !== items) throw new Error(`read ${count} items instead of ${items}`);
  return page;
}

async function streamed(index: FakeIndex, config: ShardedIndexConfig, items: number): Promise<unknown> {
  let count = 0;
  let last: DynamoDbItem | undefined;
  for await (const item of fanOutItems(copying(index), config, {})) {
    count += 1;
    last = item;
  }
  if (count !== items) throw new Error(`read ${count} items instead of ${items}`);
  return last;
}

async function readAllAndSort(index: FakeIndex, shards: number, items: number): Promise<DynamoDbItem[]> {
  const all: DynamoDbItem[] = [];
  for (let shard = 0; shard < shards; shard++) {
    let from: object | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await copying(index).query({
        TableName: 'Table',
        IndexName: 'byTime',
        KeyConditionExpression: '#shard = :shard',
        ExpressionAttributeNames: { '#shard': 'shard' },
        ExpressionAttributeValues: { ':shard': { N: String(shard) } },
        ScanIndexForward: true,
        ReturnConsumedCapacity: 'TOTAL',
        ...(from ? { ExclusiveStartKey: from as DynamoDbItem } : {}),
      });
      for (const item of Items) all.push(item as DynamoDbItem);
      from = LastEvaluatedKey;
    } while (from !== undefined);
  }
  if (all.length !== items) throw new Error(`read ${all.length} items instead of ${items}`);
  const at = ({ at }: DynamoDbItem): number => Number((at as { N: string }).N);
  return all.sort((a, b) => at(a) - at(b));
}

/** Copies each response, because a response over the network consists of new objects. */
function copying(index: FakeIndex): Pick<FakeIndex, 'query'> {
  return {
    query: async (input) => {
      const output = await index.query(input);
      index.requests.length = 0;
      return { ...output, Items: output.Items?.map((item) => structuredCopy(item as DynamoDbItem)) };
    },
  };
}

function structuredCopy(item: DynamoDbItem): DynamoDbItem {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, { ...value }]));
}

/** Measures the memory at the end of the work, while the last result is still referenced. */
async function measured(work: () => Promise<unknown>): Promise<Outcome> {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const started = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(started);
  globalThis.gc?.();
  const held = process.memoryUsage().heapUsed - before;
  if (result === undefined) throw new Error('no item was read');
  return { seconds: (user + system) / 1e6, heldMegabytes: Math.max(0, held) / 2 ** 20 };
}

const [items = 1_000_000, shards = 20] = process.argv.slice(2).map(Number);
void compare(items, shards);
