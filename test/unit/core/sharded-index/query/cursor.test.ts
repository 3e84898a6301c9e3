import type { DynamoDbItem, FanOutRequest, SortableValue } from '../../../../../lib/core';
import { ItemSizes } from '../../../../../lib/core/fan-out/item-sizes';
import { decodeCursor, encodeCursor } from '../../../../../lib/core/sharded-index/query/cursor';
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
