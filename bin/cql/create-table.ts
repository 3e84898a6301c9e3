import type { CassandraColumn, CassandraTableProperties } from '../cassandra/tables-of-app';

/** The statement that creates the table in a Cassandra database, with columns, key, order and time to live. */
export function createTable(table: CassandraTableProperties): string {
  const { PartitionKeyColumns, ClusteringKeyColumns = [], RegularColumns = [], DefaultTimeToLive } = table;
  const clustering = ClusteringKeyColumns.map(({ Column }) => Column);
  const columns = [...PartitionKeyColumns, ...clustering, ...RegularColumns];
  const key = [`(${names(PartitionKeyColumns)})`, ...clustering.map(({ ColumnName }) => identifier(ColumnName))];
  const order = ClusteringKeyColumns.map(
    ({ Column, OrderBy = 'ASC' }) => `${identifier(Column.ColumnName)} ${OrderBy}`,
  );
  const settings = [
    ...(order.length > 0 ? [`CLUSTERING ORDER BY (${order.join(', ')})`] : []),
    ...(DefaultTimeToLive ? [`default_time_to_live = ${DefaultTimeToLive}`] : []),
  ];
  return [
    `CREATE TABLE IF NOT EXISTS ${identifier(table.KeyspaceName)}.${identifier(table.TableName)} (`,
    ...columns.map(({ ColumnName, ColumnType }) => `  ${identifier(ColumnName)} ${ColumnType},`),
    `  PRIMARY KEY (${key.join(', ')})`,
    `)${settings.length > 0 ? ` WITH ${settings.join('\n  AND ')}` : ''};`,
  ].join('\n');
}

/** The statement that creates a keyspace in a Cassandra database with one node. */
export function createKeyspace(name: string): string {
  const replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
  return `CREATE KEYSPACE IF NOT EXISTS ${identifier(name)} WITH replication = ${replication};`;
}

function names(columns: readonly CassandraColumn[]): string {
  return columns.map(({ ColumnName }) => identifier(ColumnName)).join(', ');
}

/** A name in CQL: quoted, unless the name works without quotes. */
function identifier(name: string): string {
  return /^[a-z][a-z0-9_]*$/.test(name) && !RESERVED.has(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** Source: Apache Cassandra, CQL reference, appendix A, the reserved words. */
const RESERVED = new Set(
  `add allow alter and apply asc authorize batch begin by columnfamily create default delete desc describe drop entries
  execute from full grant if in index infinity insert into is keyspace limit materialized mbean mbeans modify nan norecursive
  not null of on or order primary rename replace revoke schema select set table to token truncate unlogged unset update use
  using view where with`.split(/\s+/),
);
