import { ItemSizes } from '../fan-out/item-sizes';
import { openedCursor, sealedCursor } from '../fan-out/sealed-cursor';
import type { Position } from '../fan-out/total-order';
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

/** The cursor after a row. It holds one key, whatever the number of shards. */
export function encodeRowCursor(config: ShardedKeyspacesConfig, select: RowSelect, cursor: RowCursor): string {
  const { shard, item, firstOfItsKind, sizes } = cursor;
  const key = item.key.map(({ text }) => text);
  // The query has read the row of the cursor, so a mean is known.
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
  const behind = behindAllShards(select);
  return openedCursor(queryOf(config, select), cursor, behind, (shard, [firstOfItsKind, mean, deviation], texts) => {
    const isPosition =
      Number.isSafeInteger(firstOfItsKind) &&
      texts.length === clusteringColumns.length &&
      texts.every((text) => typeof text === 'string');
    if (!isPosition) return undefined;
    const key = clusteringColumns.map((column, index) => valueOfText(column, texts[index] as string));
    return { shard, item: { key }, firstOfItsKind, sizes: new ItemSizes(mean, deviation) };
  });
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
