import type { ShardedKeyspacesConfig } from '../../../../lib/core/keyspaces';
import type { ColumnValue } from '../../../../lib/core/keyspaces/column-value';
import type { RowCursor } from '../../../../lib/core/keyspaces/row-cursor';
import type { RowSelect } from '../../../../lib/core/keyspaces/row-select';
import { type ShardSegment, segmentsBehind, segmentUpTo } from '../../../../lib/core/keyspaces/shard-segment';

const configOf = (order: 'ASC' | 'DESC') =>
  ({
    clusteringColumns: [
      { name: 'a', type: 'int', order },
      { name: 'b', type: 'int', order },
    ],
  }) as ShardedKeyspacesConfig;
const value = (number: number): ColumnValue => ({ text: String(number), rank: number });
const end = (number: number, inclusive: boolean) => ({ value: value(number), inclusive });
const upTo = (segment: ShardSegment, key: number[], order: 'ASC' | 'DESC' = 'ASC') =>
  segmentUpTo(configOf(order), { reversed: false } as RowSelect, segment, key.map(value));

describe('the rest of a shard behind a row', () => {
  const within: ShardSegment = { equal: [], range: { lower: end(2, true), upper: end(9, true) } };
  const behind = (firstOfItsKind: number, inclusive = false, segment = within) =>
    segmentsBehind(
      configOf('ASC'),
      { ...segment, reversed: false } as unknown as RowSelect,
      { item: { key: [value(5), value(1)] }, firstOfItsKind } as RowCursor,
      inclusive,
    );

  test('is what follows it among the rows of its first column, and then those of the range that the query has of that column', () => {
    const rest = { equal: [], range: { lower: end(5, false), upper: end(9, true) } };
    expect(behind(1)).toEqual([{ equal: [value(5)], range: { lower: end(1, false) } }, rest]);
    expect(behind(1, true)).toEqual([{ equal: [value(5)], range: { lower: end(1, true) } }, rest]);
  });

  test('begins with the row itself if that is the first of its first column', () => {
    const rest = { equal: [], range: { lower: end(5, true), upper: end(9, true) } };
    expect(behind(0)).toEqual([rest]);
    expect(behind(0, true)).toEqual([rest]);
  });

  test('is a row with its key, or nothing, where the query has all columns', () => {
    const one = { equal: [value(5), value(1)], range: {} };
    expect([behind(1, true, one), behind(1, false, one)]).toEqual([[one], []]);
  });
});

describe('the part of a segment up to a row', () => {
  const from5: ShardSegment = { equal: [], range: { lower: end(5, true) } };
  const behind5: ShardSegment = { equal: [], range: { lower: end(5, false) } };

  test('is cut at the row, whose own value stays', () => {
    expect(upTo(from5, [6, 0])).toEqual({ equal: [], range: { lower: end(5, true), upper: end(6, true) } });
    expect(upTo(from5, [5, 0])).toEqual({ equal: [], range: { lower: end(5, true), upper: end(5, true) } });
    const upTo7 = { equal: [], range: { upper: end(7, true) } };
    expect(upTo(upTo7, [6, 0])).toEqual({ equal: [], range: { upper: end(6, true) } });
  });

  test('is nothing where the segment begins behind the row', () => {
    expect(upTo(from5, [4, 0])).toBeUndefined();
    expect(upTo(behind5, [5, 0])).toBeUndefined();
    expect(upTo({ equal: [value(7)], range: {} }, [6, 9])).toBeUndefined();
  });

  test('is all of it where it ends in front of the row', () => {
    const segment = { equal: [], range: { lower: end(5, true), upper: end(8, false) } };
    expect(upTo(segment, [8, 0])).toBe(segment);
    expect(upTo(segment, [9, 0])).toBe(segment);
    const earlier = { equal: [value(5)], range: {} };
    expect(upTo(earlier, [6, 0])).toBe(earlier);
  });

  test('goes downwards where the table does', () => {
    const below5: ShardSegment = { equal: [], range: { upper: end(5, true) } };
    expect(upTo(below5, [4, 0], 'DESC')).toEqual({ equal: [], range: { upper: end(5, true), lower: end(4, true) } });
    expect(upTo(below5, [5, 0], 'DESC')).toEqual({ equal: [], range: { upper: end(5, true), lower: end(5, true) } });
    expect(upTo(below5, [6, 0], 'DESC')).toBeUndefined();
  });
});
