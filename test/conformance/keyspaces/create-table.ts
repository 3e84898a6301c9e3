import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { CassandraTableProperties } from '../../../bin/cassandra/tables-of-app';
import { createTable } from '../../../bin/cql/create-table';
import {
  ClusteringOrder,
  CqlType,
  ShardCounts,
  ShardedKeyspacesTable,
  type ShardedKeyspacesTableProps,
  ShardingStrategy,
} from '../../../lib';
import type { ShardedKeyspacesConfig } from '../../../lib/core';

/** The CQL that creates the table of a template, and the configuration that functions receive. */
export function emitted(props: ShardedKeyspacesTableProps): { cql: string; config: ShardedKeyspacesConfig } {
  const stack = new Stack(new App(), 'Stack');
  const table = new ShardedKeyspacesTable(stack, 'Table', props);
  const [resource] = Object.values(Template.fromStack(stack).findResources('AWS::Cassandra::Table'));
  return {
    cql: createTable((resource as { Properties: CassandraTableProperties }).Properties),
    config: JSON.parse(stack.resolve(table.toConfigJson())) as ShardedKeyspacesConfig,
  };
}

/** The CQL that creates the table of a configuration. */
export function tableOf(config: ShardedKeyspacesConfig, extraColumns: Record<string, CqlType> = {}): string {
  const { cql } = emitted({
    keyspaceName: config.keyspaceName,
    tableName: config.tableName,
    partitionKey: config.partitionKey.map(({ name, type }) => ({ name, cqlType: CqlType.of(type) })),
    clusteringColumns: config.clusteringColumns.map(({ name, type, order }) => ({
      name,
      cqlType: CqlType.of(type),
      order: order === 'ASC' ? ClusteringOrder.ASCENDING : ClusteringOrder.DESCENDING,
    })),
    regularColumns: Object.entries(extraColumns).map(([name, cqlType]) => ({ name, cqlType })),
    shardCounts: ShardCounts.uniform(1),
    strategy: ShardingStrategy.RANDOM,
    shardColumn: config.shardColumn,
  });
  return cql;
}
