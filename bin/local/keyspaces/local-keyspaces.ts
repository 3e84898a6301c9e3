import type { Client } from 'cassandra-driver';
import type { ShardedKeyspacesConfig } from '../../../lib/core/keyspaces';
import { type CassandraAddress, CassandraError, connectToCassandra } from '../../cassandra/connect';
import { type CassandraTableProperties, type TableOfApp, tablesOfApp } from '../../cassandra/tables-of-app';
import { createKeyspace, createTable } from '../../cql/create-table';
import type { AssemblyStack } from '../assembly/cloud-assembly';
import type { LeftOut } from '../assembly/deployment-plan';

/** A sharded table of Amazon Keyspaces, on a Cassandra. */
interface LocalKeyspacesTable {
  /** Construct path. */
  readonly path: string;
  /** The keyspace, a point, and the table. */
  readonly name: string;
  readonly config: ShardedKeyspacesConfig;
}

/** A Cassandra with the tables of an app. */
export interface LocalKeyspaces {
  readonly client: Client;
  readonly tables: readonly LocalKeyspacesTable[];
}

/** The types that are no longer left out if there is a Cassandra. */
const OF_CASSANDRA = ['AWS::Cassandra::Keyspace', 'AWS::Cassandra::Table'];

export function isNotOfCassandra({ type }: LeftOut): boolean {
  return !OF_CASSANDRA.includes(type);
}

/**
 * Creates the keyspaces and tables of an app in a Cassandra. It does not change any that exist.
 *
 * @throws CassandraError if it cannot be reached, or refuses a table
 */
export async function localKeyspaces(
  address: CassandraAddress,
  stacks: readonly AssemblyStack[],
): Promise<LocalKeyspaces> {
  const declared = tablesOfApp(stacks);
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

/** If the table existed before with another key, queries would find nothing. */
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
  const problem = new Error(`its key is ${there.join(', ')}, and that of the app is ${declared.join(', ')}`);
  throw new CassandraError(`cannot use the table ${KeyspaceName}.${TableName}, which was there before`, problem);
}

function keyColumn(name: string, type: string, order: string): string {
  // Cassandra shows varchar by its other name.
  const known = type
    .trim()
    .toLowerCase()
    .replace(/^varchar$/, 'text');
  return [name, known, ...(order === 'none' ? [] : [order])].join(' ');
}

export function describeTables({ tables }: LocalKeyspaces): string[] {
  return tables.map(({ path, name }) => `table ${path} of Amazon Keyspaces, ${name} on Cassandra`);
}
