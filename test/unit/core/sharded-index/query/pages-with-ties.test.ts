import { type FanOutOrder, fanOutQuery } from '../../../../../lib/core';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { indexConfig } from '../../../../support/index-config';

const N = (number: number) => ({ N: String(number) });

test.each(
  (['ascending', 'descending'] as FanOutOrder[]).flatMap((order) =>
    [1, 3, 10, 40].map((same) => [order, same] as const),
  ),
)(
  'fanOutQuery – %s pages, %d items with one first attribute – returns each item once and in order',
  async (order, same) => {
    const config = indexConfig({
      shards: { default: { write: 3, read: 3 } },
      strategy: 'random',
      valueAttribute: undefined,
      sortKeyAttributes: ['a', 'b'],
    });
    const index = new FakeIndex(config, { pageItems: 4 });
    const numbers = Array.from({ length: 80 }, (_, number) => number);
    for (const number of numbers) {
      const [shard, a, b] = [N((number * 7) % 3), N(Math.floor(number / same)), N(number)];
      index.put({ jobId: { S: String(number) }, shard, a, b });
    }
    const shown: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await fanOutQuery(index, config, { order, limit: 3, cursor });
      shown.push(...page.items.map(({ jobId }) => Number((jobId as { S: string }).S)));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(shown).toEqual(order === 'ascending' ? numbers : numbers.toReversed());
    for (const { Limit } of index.requests) expect(Limit).toBeGreaterThan(0);
  },
);

test('fanOutQuery – unordered pages of many items with one sort key – returns each item once', async () => {
  const config = indexConfig({
    shards: { default: { write: 3, read: 3 } },
    strategy: 'random',
    valueAttribute: undefined,
    sortKeyAttributes: ['a'],
  });
  const index = new FakeIndex(config);
  for (let number = 0; number < 30; number++) {
    index.put({ jobId: { S: String(number) }, shard: N(number % 3), a: N(number < 24 ? 1 : 2) });
  }
  const shown: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await fanOutQuery(index, config, { order: 'unordered', limit: 2, cursor });
    shown.push(...page.items.map(({ jobId }) => (jobId as { S: string }).S));
    cursor = page.cursor;
  } while (cursor !== undefined);
  expect([shown.length, new Set(shown).size]).toEqual([30, 30]);
});
