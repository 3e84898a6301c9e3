import { isAfterRange, rangeFrom, rangeUpTo } from '../fan-out/value-range';
import type { ColumnRange } from './clustering-range';
import { type ColumnValue, compareValues } from './column-value';
import { compareKeys, directionOf } from './keyed-row';
import type { RowCursor } from './row-cursor';
import type { RowSelect } from './row-select';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';

/**
 * Consecutive rows of a shard: the first clustering columns equal these values, and the next clustering column is in a
 * range.
 */
export interface ShardSegment {
  equal: readonly ColumnValue[];
  range: ColumnRange;
}

/**
 * Returns the segments of a shard after a cursor, in the order of the read.
 *
 * Amazon Keyspaces compares only single columns, and does not support `(c1, c2) > (?, ?)`. So the rows after the key (a, b) are
 * in two segments: `c1 = a AND c2 > b`, and then `c1 > a`. The cursor contains the index of the first column in which its row
 * differs from the previous row. A segment that begins with this row can then replace all segments that compare later columns.
 * For example, if every row has a different time, `c1 >= a` is enough.
 */
export function segmentsAfter(
  config: ShardedKeyspacesConfig,
  select: RowSelect,
  cursor: RowCursor,
  /** Whether the segments include the row of this shard that has the key of the cursor. */
  inclusive: boolean,
): ShardSegment[] {
  const { equal, range } = select;
  const { key } = cursor.item;
  const columns = config.clusteringColumns.length;
  if (equal.length === columns) return inclusive ? [{ equal, range }] : [];
  const segments: ShardSegment[] = [];
  const deepest = Math.max(cursor.firstOfItsKind, equal.length);
  for (let column = deepest; column >= equal.length; column--) {
    const value = key[column]!;
    const begin = { value, inclusive: column === deepest && (inclusive || column < columns - 1) };
    segments.push({
      equal: key.slice(0, column),
      range: rangeFrom(column === equal.length ? range : {}, begin, directionOf(config, select, column)),
    });
  }
  return segments;
}

/**
 * Returns the part of a segment that can hold rows up to a position. The result can contain a few rows after the position,
 * because only the column of the range is restricted.
 *
 * @returns undefined if all rows of the segment come after the position
 */
export function segmentUpTo(
  config: ShardedKeyspacesConfig,
  select: RowSelect,
  segment: ShardSegment,
  key: readonly ColumnValue[],
): ShardSegment | undefined {
  const { equal, range } = segment;
  const side = compareKeys(config, select, equal, key);
  if (side > 0) return undefined;
  const column = equal.length;
  const value = key[column];
  if (side < 0 || value === undefined) return segment;
  const direction = directionOf(config, select, column);
  const compare = (a: ColumnValue, b: ColumnValue) => compareValues(config.clusteringColumns[column]!, a, b);
  const isBeforeRange = isAfterRange(value, range, direction === 1 ? -1 : 1, compare);
  if (isBeforeRange) return undefined;
  const narrowed = rangeUpTo(range, value, direction, compare);
  return narrowed === range ? segment : { equal, range: narrowed };
}
