import { assert, asyncProperty, constantFrom, integer, record } from 'fast-check';
import {
  type DynamoDbItem,
  FanOutHistory,
  type FanOutOrder,
  fanOutCount,
  fanOutItems,
  fanOutQuery,
  type IndexQueryInput,
  type IndexQueryOutput,
  type QueryClient,
  WrongOrderError,
} from '../../../../../lib/core';
import { compareAttributeValues } from '../../../../../lib/core/sharded-index/query/attribute-order';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { allOf } from '../../../../support/all-of';
import { allPages } from '../../../../support/all-pages';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { type SortType, sortValue } from '../../../../support/fakes/fan-out-model';
import { indexConfig } from '../../../../support/index-config';
import { randomRuns } from '../../../../support/random-runs';

const SHARDS = 3;
const KEYS = ['sort', 'tie', 'last'];

const configOf = (sortKeys: number) =>
  indexConfig({
    sortKeyAttributes: KEYS.slice(0, sortKeys),
    shards: { default: { write: SHARDS, read: SHARDS } },
    strategy: 'random',
  });

type Config = ReturnType<typeof configOf>;

/** Items with few different sort keys, so that many items have equal sort keys. */
function itemsOf(type: SortType, count: number, random: () => number): DynamoDbItem[] {
  const below = (most: number) => Math.floor(random() * most);
  return Array.from({ length: count }, (_, number) => ({
    jobId: { S: `job-${number}` },
    status: { S: 'a' },
    shard: { N: String(below(SHARDS)) },
    sort: sortValue(type, below(6)),
    tie: { N: String(below(3)) },
    last: { S: ['x', 'y'][below(2)]! },
  }));
}

const idOf = ({ jobId }: DynamoDbItem): string => (jobId as { S: string }).S;
const compareBy =
  ({ sortKeyAttributes }: Config) =>
  (a: DynamoDbItem, b: DynamoDbItem): number => {
    for (const name of sortKeyAttributes) {
      const difference = compareAttributeValues(a[name]!, b[name]!);
      if (difference !== 0) return difference;
    }
    return 0;
  };

/** A change of a response, as a proxy or an emulator can make it. Returns whether the items are now in a wrong order. */
type Tampering = (config: Config, input: IndexQueryInput, output: IndexQueryOutput) => boolean;

const TAMPERINGS: Record<string, Tampering> = {
  reverse(config, _, { Items }) {
    const items = Items as DynamoDbItem[];
    items.reverse();
    return items.length > 1 && compareBy(config)(items[0]!, items.at(-1)!) !== 0;
  },
  swap(config, _, { Items }) {
    const items = Items as DynamoDbItem[];
    const at = items.findIndex((item, index) => index > 0 && compareBy(config)(items[index - 1]!, item) !== 0);
    if (at === -1) return false;
    [items[at - 1], items[at]] = [items[at]!, items[at - 1]!];
    return true;
  },
  'last key before the last item'(config, _, output) {
    const items = output.Items as DynamoDbItem[];
    const early = items.find((item) => compareBy(config)(item, items.at(-1)!) !== 0);
    if (early === undefined || output.LastEvaluatedKey === undefined) return false;
    output.LastEvaluatedKey = keyOf(config, early);
    return true;
  },
  'the response of an earlier request'(config, { ExclusiveStartKey: start, ScanIndexForward: forward }, output) {
    const items = output.Items as DynamoDbItem[];
    if (start === undefined || items.length === 0) return false;
    const [first] = items as [DynamoDbItem];
    const early = Object.fromEntries(
      config.sortKeyAttributes.map((name) => [name, edge(start[name] as DynamoDbItem[string], forward)]),
    );
    if (compareBy(config)(early, start) === 0) return false;
    items[0] = { ...first, ...early };
    return true;
  },
};

/** The lowest value of the type for an ascending query, and the highest value for a descending query. */
function edge(value: DynamoDbItem[string], forward: boolean): DynamoDbItem[string] {
  if ('N' in value) return { N: forward ? '-1e30' : '1e30' };
  const text = forward ? '!' : '\u{10ffff}';
  return 'S' in value ? { S: text } : { B: Buffer.from(text) };
}

function keyOf({ sortKeyAttributes }: Config, item: DynamoDbItem): DynamoDbItem {
  return Object.fromEntries(['jobId', 'status', 'shard', ...sortKeyAttributes].map((name) => [name, item[name]!]));
}

/** For each entry point, a function that returns all items of a value, page by page. */
const ENTRY_POINTS = {
  fanOutQuery: async (client: QueryClient, config: Config, order: FanOutOrder, limit: number): Promise<string[]> => {
    const options = { history: new FanOutHistory(), hedgeBudget: 0.1 };
    const pages = await allPages((cursor) =>
      fanOutQuery(client, config, { value: 'a', order, limit, cursor }, options),
    );
    return pages.flatMap(({ items }) => items.map(idOf));
  },
  fanOutItems: async (client: QueryClient, config: Config): Promise<string[]> =>
    (await allOf(fanOutItems(client, config, { value: 'a' }))).map(idOf),
};

const axes = record({
  seed: integer({ min: 0 }),
  type: constantFrom<SortType>('S', 'N', 'B'),
  sortKeys: integer({ min: 0, max: 3 }),
  order: constantFrom<FanOutOrder>('ascending', 'descending', 'unordered'),
  limit: integer({ min: 1, max: 12 }),
  count: integer({ min: 0, max: 40 }),
  pageItems: integer({ min: 1, max: 12 }),
  entryPoint: constantFrom('fanOutQuery', 'fanOutItems'),
});

describe.each(Object.entries(TAMPERINGS))('responses in a wrong order – %s', (_, tamper) => {
  test('a read of all items throws WrongOrderError; if the change left every response in order, it returns each item once', async () => {
    let wrongs = 0;
    await assert(
      asyncProperty(axes, async ({ seed, type, sortKeys, order, limit, count, pageItems, entryPoint }) => {
        const random = seededRandom(seed);
        const config = configOf(sortKeys);
        const index = new FakeIndex(config, { pageItems, falseLastKeys: random() < 0.5 });
        const items = itemsOf(type, count, random);
        for (const item of items) index.put(item);
        let wrong = false;
        const client: QueryClient = {
          async query(input) {
            const output = structuredClone(await index.query(input));
            if (!wrong && random() < 0.5) wrong = tamper(config, input, output);
            return output;
          },
        };
        const outcome = await ENTRY_POINTS[entryPoint as keyof typeof ENTRY_POINTS](client, config, order, limit).catch(
          (error: unknown) => error,
        );
        if (wrong) {
          wrongs += 1;
          expect(outcome).toBeInstanceOf(WrongOrderError);
        } else if (sortKeys > 0) {
          expect([...(outcome as string[])].sort()).toEqual(items.map(idOf).sort());
        }
      }),
      { numRuns: randomRuns(120), seed: 7 },
    );
    expect(wrongs).toBeGreaterThan(10);
  });
});

describe('fanOutQuery with responses in a valid order', () => {
  const index = (compareTies?: (a: DynamoDbItem, b: DynamoDbItem) => number): FakeIndex => {
    const created = new FakeIndex(configOf(1), { pageItems: 3, compareTies });
    for (const item of itemsOf('N', 30, seededRandom(3))) created.put(item);
    return created;
  };
  const ids = Array.from({ length: 30 }, (_, number) => `job-${number}`).sort();

  const byText = (a: DynamoDbItem, b: DynamoDbItem) => idOf(b).localeCompare(idOf(a));
  const repeating = (source: FakeIndex): QueryClient => ({
    async query(input) {
      const output = await source.query(input);
      const [first, ...rest] = output.Items as DynamoDbItem[];
      return first === undefined ? output : { ...output, Items: [first, first, ...rest] };
    },
  });

  test.each(
    (['ascending', 'descending', 'unordered'] as const).flatMap((order): [FanOutOrder, string, QueryClient][] => [
      [order, 'items with equal sort keys are in any order', index(byText)],
      [order, 'a response repeats an item', repeating(index())],
    ]),
  )('%s – %s – the pages return each item once', async (order, _, client) => {
    const shown = await ENTRY_POINTS.fanOutQuery(client, configOf(1), order, 4);
    expect(shown.sort()).toEqual(ids);
  });
});

describe('a LastEvaluatedKey that is before the previous LastEvaluatedKey', () => {
  const config = indexConfig();
  const key = (jobId: string, createdAt: number): DynamoDbItem => ({
    jobId: { S: jobId },
    status: { S: 'a' },
    shard: { N: '0' },
    createdAt: { N: String(createdAt) },
  });
  const leadingTo = (...keys: DynamoDbItem[]): QueryClient => {
    let requests = 0;
    return {
      query: async () => ({ Count: 1, ScannedCount: 1, LastEvaluatedKey: keys[requests++ % keys.length] }),
    };
  };

  test('fanOutCount – a lower sort key – throws WrongOrderError', async () => {
    const counting = fanOutCount(leadingTo(key('a', 5), key('b', 4)), config, { value: 'a' });
    await expect(counting).rejects.toThrow(WrongOrderError);
  });

  test('fanOutCount – keys with equal sort keys repeat in a circle – throws INCOMPLETE_ANSWER', async () => {
    const circle = leadingTo(key('a', 5), key('b', 5), key('c', 5));
    const counting = fanOutCount(circle, config, { value: 'a' }, { attempts: 1 });
    await expect(counting).rejects.toMatchObject({ code: 'INCOMPLETE_ANSWER' });
  });
});

test('fanOutQuery – a response in a wrong order, with onShardFailure "partial" – throws after one request to the shard', async () => {
  const config = configOf(1);
  const index = new FakeIndex(config);
  for (const item of itemsOf('N', 30, seededRandom(5))) index.put(item);
  const client: QueryClient = {
    async query(input) {
      const output = await index.query(input);
      return { ...output, Items: output.Items!.toReversed() };
    },
  };
  const page = fanOutQuery(client, config, { value: 'a' }, { onShardFailure: 'partial' });
  await expect(page).rejects.toMatchObject({ code: 'WRONG_ORDER', operation: 'Query' });
  expect(index.requests).toHaveLength(SHARDS);
});
