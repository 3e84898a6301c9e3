import {
  type CqlClient,
  findStrayRows,
  KEYSPACES_WRITE_OPTIONS,
  type ShardedKeyspacesConfig,
} from '../../../lib/core/keyspaces';
import { quoted } from '../../../lib/core/keyspaces/select-statement';
import { checkOnce, joinedText, partitionValues } from '../../../lib/core/keyspaces/shards-of-value';

/** The rows that a table of Amazon Keyspaces holds now, in the form of `StoredItems`. */
export interface StoredRows {
  /** The value with the most rows first. */
  readonly values: readonly { readonly value: string; readonly itemsOfShards: Readonly<Record<number, number>> }[];
  readonly strays: { readonly misplaced: number };
  readonly hidden: number;
}

/** Counts the rows of a table by value and shard, and looks for strays. Reads the whole table twice. */
export async function storedRows(client: CqlClient, config: ShardedKeyspacesConfig): Promise<StoredRows> {
  checkOnce(config);
  const [values, { strays, hidden }] = await Promise.all([rowsByValue(client, config), findStrayRows(client, config)]);
  return { values, strays: { misplaced: strays }, hidden };
}

async function rowsByValue(client: CqlClient, config: ShardedKeyspacesConfig): Promise<StoredRows['values']> {
  const { keyspaceName, tableName, partitionKey, shardColumn, firstShard, clusteringColumns } = config;
  const [first] = clusteringColumns.map(({ name }) => name);
  const columns = [...partitionKey.map(({ name }) => name), shardColumn, first!].map(quoted).join(', ');
  const query = `SELECT ${columns} FROM ${quoted(keyspaceName)}.${quoted(tableName)}`;
  const values = new Map<string, Record<number, number>>();
  let pageState: string | null | undefined;
  do {
    const page = await client.execute(query, [], { ...KEYSPACES_WRITE_OPTIONS, ...(pageState && { pageState }) });
    for (const row of page.rows as Record<string, unknown>[]) {
      // If a shard has static columns and no rows, Cassandra returns a row without a sort key. This row does not count.
      if (row[first!] === null) continue;
      const value = joinedText(partitionValues('row', config, row));
      const shard = Number(row[shardColumn]) - firstShard;
      const itemsOfShards = values.get(value) ?? {};
      itemsOfShards[shard] = (itemsOfShards[shard] ?? 0) + 1;
      values.set(value, itemsOfShards);
    }
    ({ pageState } = page);
  } while (pageState);
  const sum = (counts: Record<number, number>) => Object.values(counts).reduce((total, count) => total + count, 0);
  return [...values]
    .map(([value, itemsOfShards]) => ({ value, itemsOfShards }))
    .sort((a, b) => sum(b.itemsOfShards) - sum(a.itemsOfShards));
}
