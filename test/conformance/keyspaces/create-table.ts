import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { ShardedKeyspacesTable, type ShardedKeyspacesTableProps } from '../../../lib';
import type { ShardedKeyspacesConfig } from '../../../lib/core';

/** Properties of the resource as a template has them. */
interface TableProperties {
  KeyspaceName: string;
  TableName: string;
  PartitionKeyColumns: ColumnProperty[];
  ClusteringKeyColumns: { Column: ColumnProperty; OrderBy: string }[];
  RegularColumns?: ColumnProperty[];
}
interface ColumnProperty {
  ColumnName: string;
  ColumnType: string;
}

/** What the construct emits of a table: the CQL of its template, and the configuration that functions get. */
export function emitted(props: ShardedKeyspacesTableProps): { cql: string; config: ShardedKeyspacesConfig } {
  const stack = new Stack(new App(), 'Stack');
  const table = new ShardedKeyspacesTable(stack, 'Table', props);
  const [resource] = Object.values(Template.fromStack(stack).findResources('AWS::Cassandra::Table'));
  const {
    KeyspaceName,
    TableName,
    PartitionKeyColumns,
    ClusteringKeyColumns,
    RegularColumns = [],
  } = (resource as { Properties: TableProperties }).Properties;
  const clustering = ClusteringKeyColumns.map(({ Column }) => Column);
  const columns = [...PartitionKeyColumns, ...clustering, ...RegularColumns];
  const names = (of: ColumnProperty[]) => of.map(({ ColumnName }) => `"${ColumnName}"`).join(', ');
  const order = ClusteringKeyColumns.map(({ Column, OrderBy }) => `"${Column.ColumnName}" ${OrderBy}`).join(', ');
  return {
    cql:
      `CREATE TABLE "${KeyspaceName}"."${TableName}" (` +
      `${columns.map(({ ColumnName, ColumnType }) => `"${ColumnName}" ${ColumnType}`).join(', ')}, ` +
      `PRIMARY KEY ((${names(PartitionKeyColumns)}), ${names(clustering)})) WITH CLUSTERING ORDER BY (${order})`,
    config: JSON.parse(stack.resolve(table.toConfigJson())) as ShardedKeyspacesConfig,
  };
}
