import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { type CassandraTableProperties, createTable } from '../../../bin/cql/create-table';
import { ShardedKeyspacesTable, type ShardedKeyspacesTableProps } from '../../../lib';
import type { ShardedKeyspacesConfig } from '../../../lib/core';

/** What the construct emits of a table: the CQL of its template, and the configuration that functions get. */
export function emitted(props: ShardedKeyspacesTableProps): { cql: string; config: ShardedKeyspacesConfig } {
  const stack = new Stack(new App(), 'Stack');
  const table = new ShardedKeyspacesTable(stack, 'Table', props);
  const [resource] = Object.values(Template.fromStack(stack).findResources('AWS::Cassandra::Table'));
  return {
    cql: createTable((resource as { Properties: CassandraTableProperties }).Properties),
    config: JSON.parse(stack.resolve(table.toConfigJson())) as ShardedKeyspacesConfig,
  };
}
