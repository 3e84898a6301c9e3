import { type FanOutOrder, fanOutQuery } from '../../../../../lib/core';
import { ItemSizes } from '../../../../../lib/core/fan-out/item-sizes';
import { positionOrder } from '../../../../../lib/core/sharded-index/query/position-order';
import {
  type PieceContext,
  piecesBehind,
  piecesBehindTies,
  pieceUpTo,
  type ShardPiece,
  tiesBehind,
} from '../../../../../lib/core/sharded-index/query/shard-piece';
import type { RangeEnd } from '../../../../../lib/core/sharded-index/query/sort-key-range';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { indexConfig } from '../../../../support/index-config';

const N = (number: number) => ({ N: String(number) });
const upTo = (piece: ShardPiece, a: number, b: number, direction: 1 | -1 = 1) =>
  pieceUpTo(piece, { a: N(a), b: N(b) }, ['a', 'b'], direction);
const from = (value: number) => ({ lower: { value: N(value), inclusive: true } });

describe('the part of a piece up to an item', () => {
  const ofFive: ShardPiece = { equal: [N(5)], range: from(7), repeats: 0 };

  test('is cut at the item where that lies in the piece', () => {
    expect(upTo(ofFive, 5, 9)?.range).toEqual({ ...from(7), upper: { value: N(9), inclusive: true } });
  });

  test('is nothing where the piece lies behind the item', () => {
    expect(upTo(ofFive, 4, 9)).toBeUndefined();
    expect(upTo(ofFive, 5, 6)).toBeUndefined();
    expect(upTo(ofFive, 6, 9, -1)).toBeUndefined();
    expect(upTo(ofFive, 4.5, 9)).toBeUndefined();
  });

  test('is all of it where the piece lies in front of the item', () => {
    expect(upTo(ofFive, 6, 0)).toBe(ofFive);
    expect(upTo(ofFive, 4, 0, -1)).toBe(ofFive);
    const ends: ShardPiece = { ...ofFive, range: { upper: { value: N(8), inclusive: false } } };
    expect(upTo(ends, 5, 8)).toBe(ends);
    expect(upTo(ends, 5, 9)).toBe(ends);
    expect(upTo(ends, 5, 7.5)?.range).toEqual({ upper: { value: N(7.5), inclusive: true } });
    const whole = { equal: [N(5), N(7)], range: {}, repeats: 0 };
    expect(upTo(whole, 5, 7)).toBe(whole);
  });
});

describe('what is left of a shard behind a cursor at (5, 7) of shard 1', () => {
  const end = (sign: string, { value, inclusive }: RangeEnd): string =>
    `${sign}${inclusive ? '=' : ''}${(value as { N: string }).N}`;
  const outline = (pieces: ShardPiece[]): string[] =>
    pieces.map(({ equal, range: { lower, upper }, startKey, repeats }) =>
      [
        ...equal.map((value) => (value as { N: string }).N),
        ...(lower === undefined ? [] : [end('>', lower)]),
        ...(upper === undefined ? [] : [end('<', upper)]),
        ...(startKey === undefined ? [] : ['behind the cursor']),
        ...(repeats > 0 ? [`${repeats} again`] : []),
      ].join(' '),
    );
  const context = (change: Partial<PieceContext> = {}, ties = [100, 0], isItem = true): PieceContext => ({
    sortKeyAttributes: ['a', 'b'],
    select: { equal: [], range: {} },
    order: positionOrder(change.shardByShard ? 'unordered' : 'ascending', ['a', 'b']),
    direction: 1,
    shardByShard: false,
    cursor: {
      shard: isItem ? 1 : Number.POSITIVE_INFINITY,
      item: { a: N(5), ...(isItem && { b: N(7) }) },
      isItem,
      ties,
      sizes: new ItemSizes(100),
      stretch: 1,
    },
    ...change,
  });
  const of = (given: PieceContext) => [0, 1, 2].map((shard) => outline(piecesBehind(given, shard)));

  test('is the rest of its first attribute, and what has a later one: with the sort key of the cursor in later shards', () => {
    expect(of(context())).toEqual([['5 >7', '>5'], ['behind the cursor'], ['5 >=7', '>5']]);
    const upTo9 = { upper: { value: N(9), inclusive: true } };
    const bounded = of(context({ select: { equal: [], range: upTo9 } }));
    expect([bounded[0], bounded[2]]).toEqual([
      ['5 >7', '>5 <=9'],
      ['5 >=7', '>5 <=9'],
    ]);
    const only = { equal: [], range: { upper: { value: N(5), inclusive: true } } };
    expect(of(context({ select: only }))[0]).toEqual(['5 >7']);
    expect(of(context({ select: { equal: [N(5)], range: upTo9 } }))[0]).toEqual(['5 >7 <=9']);
  });

  test('is one piece from the first attribute on where few items have it', () => {
    expect(of(context({}, [2, 0]))).toEqual([['>=5 2 again'], ['behind the cursor'], ['>=5 2 again']]);
  });

  test('is one piece behind the first attribute where the cursor knows no more', () => {
    expect(of(context({}, [0, 0], false))).toEqual([['>5'], ['>5'], ['>5']]);
  });

  test('is a whole shard or nothing where one shard is read after the other, or all items have one sort key', () => {
    expect(of(context({ shardByShard: true }))).toEqual([[], ['behind the cursor'], ['']]);
    expect(of(context({ select: { equal: [N(5), N(7)], range: {} } }))).toEqual([
      [],
      ['5 7 behind the cursor'],
      ['5 7'],
    ]);
  });

  test('is, among many ties, those of the sort key of the cursor, and then all that follow', () => {
    expect([0, 1, 2].map((shard) => outline(tiesBehind(context(), shard)))).toEqual([
      [],
      ['5 7 behind the cursor'],
      ['5 7'],
    ]);
    expect(outline(piecesBehindTies(context({}, [2, 0])))).toEqual(['5 >7', '>5']);
    expect(piecesBehindTies(context({ select: { equal: [N(5), N(7)], range: {} } }))).toEqual([]);
  });
});

test.each(
  (['ascending', 'descending'] as FanOutOrder[]).flatMap((order) =>
    [1, 3, 10, 40].map((same) => [order, same] as const),
  ),
)('%s pages show each item once, in order, where %d have one first attribute', async (order, same) => {
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
});

test('unordered pages show each of many items of one sort key once', async () => {
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
