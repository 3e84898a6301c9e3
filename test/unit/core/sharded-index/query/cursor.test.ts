import type { DynamoDbItem, FanOutRequest, SortableValue } from '../../../../../lib/core';
import { ItemSizes } from '../../../../../lib/core/fan-out/item-sizes';
import {
  type CursorPosition,
  decodeCursor,
  encodeCursor,
  isFewTies,
  UNKNOWN_TIES,
} from '../../../../../lib/core/sharded-index/query/cursor';
import { tiesBefore } from '../../../../../lib/core/sharded-index/query/cursor-ties';
import { indexConfig } from '../../../../support/index-config';

const config = indexConfig({ tableKey: ['id'], sortKeyAttributes: ['at'] });
const sizes = new ItemSizes();

describe('a cursor', () => {
  const behind = (item: DynamoDbItem, request: FanOutRequest = { value: 'a' }) =>
    encodeCursor(config, request, { shard: 3, item }, [7], { sizes, stretch: 2 });

  test.each<SortableValue>([{ S: 'text' }, { N: '12345678901234567890' }, { B: Uint8Array.of(0, 255) }])(
    'goes on behind a key of its type: %j',
    (key) => {
      const cursor = behind({ id: key, at: key, more: { S: 'x' } });
      const position = { shard: 3, item: { id: key, at: key }, isItem: true, ties: [7], stretch: 2 };
      expect(decodeCursor(config, { value: 'a', cursor })).toMatchObject(position);
    },
  );

  test('behind items that a filter has hidden knows the first attributes of the sort key alone', () => {
    const cursor = behind({ at: { S: 'x' } });
    const position = { item: { at: { S: 'x' } }, isItem: false };
    expect(decodeCursor(config, { value: 'a', cursor })).toMatchObject(position);
  });

  test('belongs to a query in whatever order its placeholders are written', () => {
    const [a, b] = [{ S: 'a' }, { S: 'b' }];
    const filter = (expressionAttributeValues: Record<string, SortableValue>): FanOutRequest => ({
      value: 'a',
      filterExpression: 'x = :a OR x = :b',
      expressionAttributeValues,
    });
    const cursor = behind({ id: a, at: a }, filter({ ':a': a, ':b': b }));
    expect(decodeCursor(config, { ...filter({ ':b': b, ':a': a }), cursor })).toMatchObject({ shard: 3 });
    expect(() => decodeCursor(config, { ...filter({ ':a': b, ':b': a }), cursor })).toThrow('cursor must be');
  });
});

test.each([
  [0, 100_000, true],
  [2, 500, true],
  [2, 5_000, false],
  [1, undefined, true],
  [2, undefined, false],
  [30, 1, false],
  [UNKNOWN_TIES, 1, false],
])('%d items of %p bytes are few enough to read again: %p', (ties, bytes, isFew) => {
  expect(isFewTies(ties, { sizes: new ItemSizes(bytes) } as CursorPosition)).toBe(isFew);
});

describe('how many items tie with the end of a page', () => {
  const itemOf = ([day, time]: number[]): DynamoDbItem => ({
    day: { N: String(day) },
    ...(time !== undefined && { time: { N: String(time) } }),
  });
  const ties = (page: number[][], before?: { item: number[]; ties: number[] }, itemsRead?: number) => {
    const positions = page.map((key) => ({ shard: 0, item: itemOf(key) }));
    const gathered = { positions, end: positions.at(-1), stats: { itemsRead: itemsRead ?? 100 } };
    const cursor = before && { item: itemOf(before.item), ties: before.ties };
    return tiesBefore(['day', 'time'], gathered as never, cursor as never, itemsRead !== undefined);
  };

  test('is counted for the first attribute, and for the first two together', () => {
    expect(
      ties([
        [1, 2],
        [2, 1],
        [2, 2],
        [2, 2],
      ]),
    ).toEqual([2, 1]);
    expect(
      ties([
        [1, 2],
        [2, 2],
      ]),
    ).toEqual([0, 0]);
    expect(
      ties([
        [2, 1],
        [2, 1],
      ]),
    ).toEqual([1, 1]);
  });

  test('goes on from the pages before if the whole page ties with them', () => {
    expect(
      ties(
        [
          [2, 2],
          [2, 2],
        ],
        { item: [2, 2], ties: [5, 3] },
      ),
    ).toEqual([7, 5]);
    expect(
      ties(
        [
          [2, 2],
          [2, 2],
        ],
        { item: [2, 1], ties: [5, 3] },
      ),
    ).toEqual([7, 1]);
    expect(
      ties(
        [
          [2, 1],
          [2, 2],
        ],
        { item: [2, 2], ties: [5, 3] },
      ),
    ).toEqual([7, 0]);
    expect(ties([[2, 2]], { item: [2], ties: [5, 3] })).toEqual([6, 0]);
    expect(ties([[2, 2]], { item: [2, 2], ties: [UNKNOWN_TIES, 3] })).toEqual([UNKNOWN_TIES, 4]);
  });

  test('counts an item as often as the filter let items be read for one', () => {
    expect(
      ties(
        [
          [1, 1],
          [2, 2],
          [2, 2],
          [2, 2],
        ],
        undefined,
        10,
      ),
    ).toEqual([7, 7]);
  });

  test('is not known behind items that a filter has hidden, and does not matter behind the last page', () => {
    const positions = [{ shard: 0, item: itemOf([1, 1]) }];
    const stats = { itemsRead: 9 };
    const end = { shard: 0, item: itemOf([2]) };
    expect(tiesBefore(['day', 'time'], { positions, end, stats } as never, undefined, true)).toEqual([-1, -1]);
    expect(tiesBefore(['day', 'time'], { positions, stats } as never, undefined, true)).toEqual([]);
  });
});
