import { ItemSizes } from '../fan-out/item-sizes';
import { openedCursor, sealedCursor } from '../fan-out/sealed-cursor';
import type { Position } from '../fan-out/total-order';
import { type ColumnValue, valueOfText } from './column-value';
import { afterAllShards, type Keyed } from './keyed-row';
import { namedClusteringColumns, namedKeyColumns } from './named-parts';
import type { RowSelect } from './row-select';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';

/** The position of the last row of a page: its shard and its key. */
export interface RowCursor extends Position<Keyed> {
  /**
   * The index of the first clustering column in which the row differs from the previous row. So no earlier row has the same
   * values in the columns up to this column. If the previous row is unknown, this is the index of the last column.
   */
  firstOfItsKind: number;
  sizes: ItemSizes;
}

const LAYOUT = 'row cursor 2';

/** Encodes the cursor after a row. A cursor holds one key, whatever the number of shards. */
export function encodeRowCursor(config: ShardedKeyspacesConfig, select: RowSelect, cursor: RowCursor): string {
  const { shard, item, firstOfItsKind, sizes } = cursor;
  const key = item.key.map(({ text }) => text);
  // The query has read at least the row of the cursor, so the mean is known.
  return sealedCursor(queryOf(config, select), shard, [firstOfItsKind, sizes.mean!, sizes.deviation], key);
}

/** @throws InvalidCursorError if the cursor was altered or belongs to another query */
export function decodeRowCursor(
  config: ShardedKeyspacesConfig,
  select: RowSelect,
  cursor: string | undefined,
): RowCursor | undefined {
  if (cursor === undefined) return undefined;
  const { clusteringColumns } = config;
  const after = afterAllShards(select);
  return openedCursor(queryOf(config, select), cursor, after, (shard, [firstOfItsKind, mean, deviation], texts) => {
    const isPosition =
      Number.isSafeInteger(firstOfItsKind) &&
      texts.length === clusteringColumns.length &&
      texts.every((text) => typeof text === 'string');
    if (!isPosition) return undefined;
    const key = clusteringColumns.map((column, index) => valueOfText(column, texts[index] as string));
    return { shard, item: { key }, firstOfItsKind, sizes: new ItemSizes(mean, deviation) };
  });
}

/**
 * Identifies a query. The page size, the projection, the consistency and the cursor may differ between the pages of a
 * query.
 */
function queryOf(config: ShardedKeyspacesConfig, select: RowSelect): unknown {
  const { keyspaceName, tableName, partitionKey, shardColumn, clusteringColumns } = config;
  const { partitions, equal, range, reversed, shardByShard } = select;
  const texts = (values: readonly ColumnValue[]) => values.map(({ text }) => text);
  const ends = [range.lower, range.upper].map((end) => end && [end.value.text, end.inclusive]);
  const key = [namedKeyColumns(partitionKey), shardColumn, namedClusteringColumns(clusteringColumns)];
  const table = [keyspaceName, tableName, ...key];
  return [LAYOUT, table, partitions.flatMap(texts), texts(equal), ends, reversed, shardByShard];
}
