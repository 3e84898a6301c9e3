import { pages } from '../../../lib/core/kernel/pages';
import {
  type CqlClient,
  findStrayRows,
  KEYSPACES_WRITE_OPTIONS,
  type ShardedKeyspacesConfig,
} from '../../../lib/core/keyspaces';
import { quoted } from '../../../lib/core/keyspaces/select-statement';
import { checkOnce, joinedText, partitionValues } from '../../../lib/core/keyspaces/shards-of-value';
import { type CountsByValue, countsByValue } from './counts-by-value';
import type { IndexEntry } from './index-entry';

/** The rows that a table of Amazon Keyspaces holds now, in the form of `StoredItems`. */
export interface StoredRows {
  readonly values: CountsByValue;
  readonly strays: { readonly misplaced: number };
  readonly hidden: number;
}

/** Counts the rows of a table by value and shard, and looks for strays. Reads the whole table twice. */
export async function storedRows(client: CqlClient, config: ShardedKeyspacesConfig): Promise<StoredRows> {
  checkOnce(config);
  const [values, { strays, hidden }] = await Promise.all([
    countsByValue(entriesOf(client, config)),
    findStrayRows(client, config),
  ]);
  return { values, strays: { misplaced: strays }, hidden };
}

async function* entriesOf(client: CqlClient, config: ShardedKeyspacesConfig): AsyncGenerator<IndexEntry> {
  const { keyspaceName, tableName, partitionKey, shardColumn, firstShard, clusteringColumns } = config;
  const [first] = clusteringColumns.map(({ name }) => name);
  const columns = [...partitionKey.map(({ name }) => name), shardColumn, first!].map(quoted).join(', ');
  const query = `SELECT ${columns} FROM ${quoted(keyspaceName)}.${quoted(tableName)}`;
  const read = (pageState: string | undefined) =>
    client.execute(query, [], { ...KEYSPACES_WRITE_OPTIONS, ...(pageState && { pageState }) });
  for await (const page of pages('SELECT', read, ({ pageState }) => pageState || undefined)) {
    for (const row of page.rows as Record<string, unknown>[]) {
      // If a shard has static columns and no rows, Cassandra returns a row without a sort key. This row does not count.
      if (row[first!] === null) continue;
      yield { value: joinedText(partitionValues('row', config, row)), shard: Number(row[shardColumn]) - firstShard };
    }
  }
}
