import { isBehindRange, rangeFrom, rangeUpTo } from '../fan-out/value-range';
import type { ColumnRange } from './clustering-range';
import { type ColumnValue, compareValues } from './column-value';
import { compareKeys, directionOf } from './keyed-row';
import type { RowCursor } from './row-cursor';
import type { RowSelect } from './row-select';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';

/** Rows that lie together in a shard: the first clustering columns are equal to these values, the next is in a range. */
export interface ShardSegment {
  equal: readonly ColumnValue[];
  range: ColumnRange;
}

/**
 * The rest of a shard after a cursor, segment by segment in the order of the read.
 *
 * Amazon Keyspaces compares single columns only, not `(c1, c2) > (?, ?)`: after (a, b) come `c1 = a AND c2 > b` and then
 * `c1 > a`. The cursor says up to which column its row is the first with its values. One segment that begins with this row
 * then replaces all deeper ones: if each row has a time of its own, `c1 >= a` is enough.
 */
export function segmentsBehind(
  config: ShardedKeyspacesConfig,
  select: RowSelect,
  cursor: RowCursor,
  /** Whether a row of this shard with the key of the cursor comes after the cursor. */
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
 * The part of a segment that can hold rows up to a position. It may hold some rows after it, because only the segment's own
 * column is cut.
 *
 * @returns undefined if there is none
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
  const isBeforeRange = isBehindRange(value, range, direction === 1 ? -1 : 1, compare);
  if (isBeforeRange) return undefined;
  const narrowed = rangeUpTo(range, value, direction, compare);
  return narrowed === range ? segment : { equal, range: narrowed };
}
