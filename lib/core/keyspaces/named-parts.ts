import type { ShardCount } from '../sharded-index';
import type { ClusteringColumn, KeyColumn, ShardedKeyspacesConfig } from './sharded-keyspaces-config';

/*
 * Cursors and resume points are bound to these parts of a configuration. Each function lists its fields by name, in a fixed
 * order. So a cursor stays valid if a later release adds an optional field to the configuration, or emits another order.
 */

export const namedKeyColumns = (columns: readonly KeyColumn[]): KeyColumn[] =>
  columns.map(({ name, type }) => ({ name, type }));

export const namedClusteringColumns = (columns: readonly ClusteringColumn[]): ClusteringColumn[] =>
  columns.map(({ name, type, order }) => ({ name, type, order }));

/** The parts that decide which rows are strays, and the list of columns. */
export function namedConfig({
  keyspaceName,
  tableName,
  partitionKey,
  shardColumn,
  firstShard,
  clusteringColumns,
  columns,
  shards: { default: usual, byValue },
  strategy,
  calculatedFrom,
}: ShardedKeyspacesConfig): ShardedKeyspacesConfig {
  const counts = ({ write, read }: ShardCount): ShardCount => ({ write, read });
  const sorted = (byValue && Object.keys(byValue).sort())?.map((value) => [value, counts(byValue[value]!)] as const);
  return {
    keyspaceName,
    tableName,
    partitionKey: namedKeyColumns(partitionKey),
    shardColumn,
    firstShard,
    clusteringColumns: namedClusteringColumns(clusteringColumns),
    columns,
    shards: { default: counts(usual), byValue: sorted && Object.fromEntries(sorted) },
    strategy,
    calculatedFrom,
  };
}
