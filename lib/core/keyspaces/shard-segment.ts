import type { RangeEnd, ValueRange } from './clustering-range';
import { type ColumnValue, compareValues } from './column-value';
import { compareKeys, directionOf } from './keyed-row';
import type { RowCursor } from './row-cursor';
import type { RowSelect } from './row-select';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';

/** Rows that lie together in a shard: the first clustering columns are equal to these values, the next is in a range. */
export interface ShardSegment {
  equal: readonly ColumnValue[];
  range: ValueRange;
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
      range: beginningAt(directionOf(config, select, column), column === equal.length ? range : {}, begin),
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
  const [near, far] =
    directionOf(config, select, column) === 1 ? (['lower', 'upper'] as const) : (['upper', 'lower'] as const);
  const definition = config.clusteringColumns[column]!;
  const compare = (a: ColumnValue, b: ColumnValue) =>
    compareValues(definition, a, b) * directionOf(config, select, column);
  const begin = range[near];
  if (begin !== undefined) {
    const difference = compare(begin.value, value);
    if (difference > 0 || (difference === 0 && !begin.inclusive)) return undefined;
  }
  const end = range[far];
  if (end !== undefined && compare(end.value, value) <= 0) return segment;
  return { equal, range: { ...range, [far]: { value, inclusive: true } } };
}

function beginningAt(direction: 1 | -1, range: ValueRange, begin: RangeEnd): ValueRange {
  return direction === 1 ? { ...range, lower: begin } : { ...range, upper: begin };
}
