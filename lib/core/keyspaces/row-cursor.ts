import { InvalidCursorError } from '../fan-out/fan-out-errors';
import { ItemSizes } from '../fan-out/item-sizes';
import type { Position } from '../fan-out/total-order';
import { areCounts, sealedText, unsealedValue } from '../kernel/sealed-text';
import { type ColumnValue, valueOfText } from './column-value';
import { behindAllShards, type Keyed } from './keyed-row';
import type { RowSelect } from './row-select';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';

/** The position of the last row of a page: its shard and its key. */
export interface RowCursor extends Position<Keyed> {
  /**
   * The first column in which the row differs from the row before it. So the row is the first of all rows that have its
   * values up to this column. It is the last column if the row before is not known.
   */
  firstOfItsKind: number;
  /** The sizes of the query's rows, as far as they were seen. */
  sizes: ItemSizes;
}

const LAYOUT = 'row cursor 2';

/** A position behind all shards has no number: JSON has no infinity. */
type EncodedCursor = [shard: number | null, firstOfItsKind: number, mean: number, deviation: number, ...string[]];

/** The cursor after a row. It holds one key, whatever the number of shards, and is sealed with the query. */
export function encodeRowCursor(config: ShardedKeyspacesConfig, select: RowSelect, cursor: RowCursor): string {
  const { shard, item, firstOfItsKind, sizes } = cursor;
  // The row of the cursor was seen.
  const sizing = [sizes.mean!, sizes.deviation].map(Math.round) as [number, number];
  const encoded: EncodedCursor = [
    Number.isFinite(shard) ? shard : null,
    firstOfItsKind,
    ...sizing,
    ...item.key.map(({ text }) => text),
  ];
  return sealedText(queryOf(config, select), encoded);
}

/** @throws InvalidCursorError if the cursor was altered or belongs to another query */
export function decodeRowCursor(
  config: ShardedKeyspacesConfig,
  select: RowSelect,
  cursor: string | undefined,
): RowCursor | undefined {
  if (cursor === undefined) return undefined;
  const position = unsealedValue(queryOf(config, select), cursor, (value) => readPosition(config, select, value));
  if (position === undefined) {
    throw new InvalidCursorError('cursor', cursor, 'the unaltered cursor of a page of the same query');
  }
  return position;
}

/** @returns undefined, or throws, for a value that is not the position of a page */
function readPosition(
  { clusteringColumns }: ShardedKeyspacesConfig,
  select: RowSelect,
  value: unknown,
): RowCursor | undefined {
  const [shard, firstOfItsKind, mean, deviation, ...texts] = value as EncodedCursor;
  const isPosition =
    (shard === null || (Number.isSafeInteger(shard) && shard >= 0)) &&
    areCounts([firstOfItsKind, mean, deviation]) &&
    Number.isSafeInteger(firstOfItsKind) &&
    texts.length === clusteringColumns.length &&
    texts.every((text) => typeof text === 'string');
  if (!isPosition) return undefined;
  const key = clusteringColumns.map((column, index) => valueOfText(column, texts[index]!));
  return {
    shard: shard ?? behindAllShards(select),
    item: { key },
    firstOfItsKind,
    sizes: new ItemSizes(mean, deviation),
  };
}

/** What makes two requests the same query: everything but page size, projection, consistency and the cursor itself. */
function queryOf(config: ShardedKeyspacesConfig, select: RowSelect): unknown {
  const { keyspaceName, tableName, partitionKey, shardColumn, clusteringColumns } = config;
  const { partitions, equal, range, reversed, shardByShard } = select;
  const texts = (values: readonly ColumnValue[]) => values.map(({ text }) => text);
  const ends = [range.lower, range.upper].map((end) => end && [end.value.text, end.inclusive]);
  const table = [keyspaceName, tableName, partitionKey, shardColumn, clusteringColumns];
  return [LAYOUT, table, partitions.flatMap(texts), texts(equal), ends, reversed, shardByShard];
}
