import type { Client } from 'cassandra-driver';
import type { ShardedKeyspacesConfig } from '../../../lib/core/keyspaces';
import { type CassandraAddress, CassandraError, connectToCassandra } from '../../cassandra/connect';
import type { CassandraTableProperties, TableOfApp } from '../../cassandra/tables-of-app';
import { createKeyspace, createTable } from '../../cql/create-table';

/** A sharded table of Amazon Keyspaces that this run creates in a Cassandra. */
interface LocalKeyspacesTable {
  /** Construct path. */
  readonly path: string;
  /** The full name: `keyspace.table`. */
  readonly name: string;
  readonly config: ShardedKeyspacesConfig;
}

/** A Cassandra with the tables of an app. */
export interface LocalKeyspaces {
  readonly client: Client;
  readonly tables: readonly LocalKeyspacesTable[];
}

/**
 * Creates the keyspaces and tables of an app in a Cassandra. Existing keyspaces and tables are not changed.
 *
 * @throws CassandraError if the Cassandra cannot be reached or rejects a table, or if an existing table has another key
 */
export async function localKeyspaces(
  address: CassandraAddress,
  declared: readonly TableOfApp[],
): Promise<LocalKeyspaces> {
  const client = await connectToCassandra(address);
  try {
    for (const name of new Set(declared.map(({ properties }) => properties.KeyspaceName)))
      await make(client, `the keyspace ${name}`, createKeyspace(name));
    for (const { path, properties } of declared) {
      await make(client, path, createTable(properties));
      await checkKey(client, properties);
    }
  } catch (error) {
    await client.shutdown();
    throw error;
  }
  return { client, tables: declared.flatMap(sharded) };
}

function sharded({ path, config }: TableOfApp): LocalKeyspacesTable[] {
  return config === undefined ? [] : [{ path, name: `${config.keyspaceName}.${config.tableName}`, config }];
}

async function make(client: Client, what: string, statement: string): Promise<void> {
  try {
    await client.execute(statement);
  } catch (error) {
    throw new CassandraError(`cannot create ${what}`, error);
  }
}

/** Checks the key of an existing table, because queries find no rows in a table with another key. */
async function checkKey(client: Client, table: CassandraTableProperties): Promise<void> {
  const { KeyspaceName, TableName, PartitionKeyColumns, ClusteringKeyColumns = [] } = table;
  const query =
    'SELECT column_name, kind, position, type, clustering_order FROM system_schema.columns WHERE keyspace_name = ? AND table_name = ?';
  const { rows } = await client.execute(query, [KeyspaceName, TableName], { prepare: true });
  const there = rows
    .filter(({ position }) => position >= 0)
    .sort((a, b) => Number(a.kind < b.kind) - Number(a.kind > b.kind) || a.position - b.position)
    .map(({ column_name, type, clustering_order: order }) => keyColumn(column_name, type, order));
  const declared = [
    ...PartitionKeyColumns.map(({ ColumnName, ColumnType }) => keyColumn(ColumnName, ColumnType, 'none')),
    ...ClusteringKeyColumns.map(({ Column, OrderBy = 'ASC' }) =>
      keyColumn(Column.ColumnName, Column.ColumnType, OrderBy.toLowerCase()),
    ),
  ];
  if (String(there) === String(declared)) return;
  const problem = new Error(`its key is ${there.join(', ')}, but the app declares the key ${declared.join(', ')}`);
  throw new CassandraError(`cannot use the table ${KeyspaceName}.${TableName}, which already existed`, problem);
}

function keyColumn(name: string, type: string, order: string): string {
  // Cassandra describes the type varchar as text.
  const known = type
    .trim()
    .toLowerCase()
    .replace(/^varchar$/, 'text');
  return [name, known, ...(order === 'none' ? [] : [order])].join(' ');
}

export function describeTables({ tables }: LocalKeyspaces): string[] {
  return tables.map(({ path, name }) => `table ${path} of Amazon Keyspaces, ${name} on Cassandra`);
}
