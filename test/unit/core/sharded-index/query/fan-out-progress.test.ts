import {
  type DynamoDbItem,
  type FanOutPage,
  type FanOutRequest,
  fanOutQuery,
  type IndexQueryInput,
  type ShardedIndexConfig,
} from '../../../../../lib/core';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import { allPages } from '../../../../support/all-pages';
import { FakeIndex, type FakeIndexOptions } from '../../../../support/fakes/fake-index';
import { indexConfig } from '../../../../support/index-config';

function configOf(shards: number, sortKeyAttributes: string[]): ShardedIndexConfig {
  return indexConfig({
    tableName: 'Events',
    indexName: 'byDay',
    tableKey: ['id'],
    sortKeyAttributes,
    shards: { default: { write: shards, read: shards } },
    strategy: 'random',
    valueAttribute: undefined,
  });
}

const DAY = '2026-11-21';

/** Events of one day. Event n is in shard n modulo the number of shards, and its time is n. */
function oneDay(config: ShardedIndexConfig, count: number, options?: FakeIndexOptions, padding = 0): FakeIndex {
  const index = new FakeIndex(config, options);
  const shards = config.shards.default.read;
  for (let number = 0; number < count; number++) {
    index.put({
      id: { S: `event-${String(number).padStart(6, '0')}` },
      day: { S: DAY },
      time: { N: String(number) },
      shard: { N: String(number % shards) },
      pad: { S: 'x'.repeat(padding) },
    });
  }
  return index;
}

const idsOf = ({ items }: FanOutPage): string[] => items.map(({ id }) => (id as { S: string }).S);

const pagesOf = (index: FakeIndex, config: ShardedIndexConfig, request: FanOutRequest): Promise<FanOutPage[]> =>
  allPages((cursor) => fanOutQuery(index, config, { ...request, cursor }));

const unitsOf = (pages: readonly FanOutPage[]): number =>
  pages.reduce((sum, { stats }) => sum + stats.consumedReadUnits, 0);

describe('fanOutQuery – a deadline and items with equal sort keys', () => {
  test('returns the last item after enough pages, with responses after 400 ms and a deadline of 1 s for each page', async () => {
    const config = configOf(2, ['day', 'time']);
    const index = oneDay(config, 40, { pageItems: 4 });
    const clock = new VirtualClock();
    const client = {
      query: async (input: IndexQueryInput) => {
        await clock.sleep(400);
        return index.query(input);
      },
    };
    const pages = await allPages((cursor) =>
      clock.runUntil(fanOutQuery(client, config, { limit: 16, cursor }, { clock, deadlineMs: 1_000 })),
    );
    expect(pages.flatMap(idsOf)).toEqual(
      Array.from({ length: 40 }, (_, number) => `event-${String(number).padStart(6, '0')}`),
    );
  });
});

describe('fanOutQuery – pages of items with equal sort keys', () => {
  const SHARDS = 10;
  const ITEMS = 4_000;
  const LIMIT = 25;
  const PADDING = 450;

  test.each([
    ['ascending with a second sort key', ['day', 'time'], {}],
    ['ascending by one sort key', ['day'], {}],
    ['descending with a second sort key', ['day', 'time'], { order: 'descending' }],
    ['descending down to their own sort key', ['day'], { order: 'descending', sortKey: { gte: DAY } }],
    ['descending by one sort key', ['day'], { order: 'descending' }],
  ] as [string, string[], FanOutRequest][])(
    'cost at most twice as many read units as a single read of all items: %s',
    async (_, sortKeys, request) => {
      const config = configOf(SHARDS, sortKeys);
      const index = oneDay(config, ITEMS, {}, PADDING);
      const all = (await fanOutQuery(index, config, {})).stats.consumedReadUnits;
      const pages = await pagesOf(index, config, { ...request, limit: LIMIT });
      expect(pages.flatMap(idsOf)).toHaveLength(ITEMS);
      const halfAUnitEach = (SHARDS * ITEMS) / LIMIT / 2;
      expect(unitsOf(pages)).toBeLessThanOrEqual(Math.max(2 * all, 1.1 * halfAUnitEach));
    },
  );
});

test.each(['ascending', 'descending'] as const)(
  'fanOutQuery – beginsWith with a filter – reads only items with the prefix: %s',
  async (order) => {
    const config = configOf(2, ['day']);
    const index = new FakeIndex(config);
    const prefix = order === 'ascending' ? 'a' : 'z';
    for (let number = 0; number < 4_000; number++) {
      const inPrefix = number < 40;
      index.put({
        id: { S: `event-${number}` },
        day: { S: `${inPrefix ? prefix : 'm'}${String(number).padStart(6, '0')}` },
        shard: { N: String(number % 2) },
        hidden: { N: inPrefix && number % 8 === 0 ? '0' : '1' },
        pad: { S: 'x'.repeat(450) },
      } as DynamoDbItem);
    }
    const filtered = (sortKey: FanOutRequest['sortKey']): Promise<FanOutPage[]> =>
      pagesOf(index, config, {
        sortKey,
        order,
        limit: 2,
        filterExpression: '#hidden = :no',
        expressionAttributeNames: { '#hidden': 'hidden' },
        expressionAttributeValues: { ':no': { N: '0' } },
      });
    const prefixed = await filtered({ beginsWith: prefix });
    const between = await filtered({ between: [prefix, `${prefix}999999`] });
    expect(prefixed.flatMap(idsOf)).toHaveLength(5);
    expect(unitsOf(prefixed)).toBeLessThanOrEqual(1.5 * unitsOf(between));
  },
);

test('fanOutQuery – descending pages with a lower bound and a filter – no page reads the items below the bound', async () => {
  const config = configOf(2, ['day']);
  const index = new FakeIndex(config);
  const dayOf = (number: number): string => `day ${String(number).padStart(6, '0')}`;
  for (let number = 0; number < 2_000; number++) {
    index.put({
      id: { S: `event-${number}` },
      day: { S: dayOf(number) },
      shard: { N: String(number % 2) },
      shown: { S: number % 10 === 0 ? 'yes' : 'no' },
    });
  }
  const pages = await pagesOf(index, config, {
    sortKey: { gte: dayOf(1_900) },
    order: 'descending',
    limit: 3,
    filterExpression: '#shown = :yes',
    expressionAttributeNames: { '#shown': 'shown' },
    expressionAttributeValues: { ':yes': { S: 'yes' } },
  });
  expect(pages.flatMap(idsOf)).toHaveLength(10);
  for (const { stats } of pages) expect(stats.itemsRead).toBeLessThanOrEqual(100);
});
