import { describeValue, EvenShardsError, shortened } from '../../lib/core/kernel/errors';
import type { CqlKeyType, ShardedKeyspacesConfig } from '../../lib/core/keyspaces';
import {
  KEYSPACES_SHARDING,
  type KeyspacesMetadata,
  shardingMetadata,
} from '../../lib/deployment-check/sharding-metadata';
import type { AssemblyStack } from '../local/assembly/cloud-assembly';
import { fields, listOf, optional, text } from '../local/assembly/json-shape';
import { constructPath, type LocalScope, localScopes, physicalName } from '../local/assembly/local-names';

/** A table of Amazon Keyspaces that an app declares. */
export interface TableOfApp {
  /** Construct path. */
  readonly path: string;
  readonly properties: CassandraTableProperties;
  /** Undefined unless the construct `ShardedKeyspacesTable` made the table. */
  readonly config?: ShardedKeyspacesConfig;
}

/** The properties of an `AWS::Cassandra::Table` from which its CREATE TABLE is generated, with resolved values. */
export interface CassandraTableProperties {
  readonly KeyspaceName: string;
  readonly TableName: string;
  readonly PartitionKeyColumns: readonly CassandraColumn[];
  readonly ClusteringKeyColumns?: readonly { readonly Column: CassandraColumn; readonly OrderBy?: string }[];
  readonly RegularColumns?: readonly CassandraColumn[];
  readonly DefaultTimeToLive?: number;
}

export interface CassandraColumn {
  readonly ColumnName: string;
  readonly ColumnType: string;
}

const TABLE = 'AWS::Cassandra::Table';

const COLUMN = fields({ ColumnName: text, ColumnType: text });

const TABLE_SHAPE = fields({
  KeyspaceName: text,
  PartitionKeyColumns: listOf(COLUMN),
  ClusteringKeyColumns: optional(listOf(fields({ Column: COLUMN, OrderBy: optional(text) }))),
  RegularColumns: optional(listOf(COLUMN)),
});

/** CloudFormation would reject a resource. */
export class MalformedResourceError extends EvenShardsError {
  constructor(
    path: string,
    readonly reason: string,
  ) {
    super('MALFORMED_RESOURCE', `${path} is malformed: ${shortened(reason)}`);
  }
}

/** The tables of all stacks. Throws a `MalformedResourceError` as `tableOf` does. */
export function tablesOfApp(stacks: readonly AssemblyStack[]): TableOfApp[] {
  return localScopes(stacks).flatMap((scope) =>
    scope.resources.filter(([, { Type }]) => Type === TABLE).map(([logicalId]) => tableOf(scope, logicalId)),
  );
}

/** @throws MalformedResourceError if CloudFormation would reject the table, or if a property is unknown */
export function tableOf(scope: LocalScope, logicalId: string): TableOfApp {
  const path = constructPath(scope, logicalId);
  const declared = scope.properties(logicalId, {
    KeyspaceName: true,
    PartitionKeyColumns: true,
    ClusteringKeyColumns: true,
    RegularColumns: true,
    DefaultTimeToLive: true,
  });
  const name = physicalName(scope, logicalId);
  if ('reason' in declared) throw new MalformedResourceError(path, declared.reason);
  if ('reason' in name) throw new MalformedResourceError(path, name.reason);
  const resolved = { ...declared.value, TableName: name.value };
  const problem = TABLE_SHAPE(resolved, '');
  if (problem !== undefined) throw new MalformedResourceError(path, problem);
  const properties = resolved as unknown as CassandraTableProperties;
  const sharding = shardingMetadata(scope.metadata(logicalId), KEYSPACES_SHARDING);
  return { path, properties, ...(sharding !== undefined && { config: configOf(path, properties, sharding) }) };
}

/** The configuration that the construct emits. It comes from the properties and the metadata of the table. */
function configOf(path: string, table: CassandraTableProperties, sharding: unknown): ShardedKeyspacesConfig {
  const { PartitionKeyColumns, ClusteringKeyColumns = [], RegularColumns = [] } = table;
  const { shards, firstShard, strategy, calculatedFrom = [] } = Object(sharding) as Partial<KeyspacesMetadata>;
  const shardColumn = PartitionKeyColumns.at(-1);
  if (shardColumn === undefined || shards === undefined || firstShard === undefined || strategy === undefined) {
    throw new MalformedResourceError(path, `it is not sharded as its metadata says, ${describeValue(sharding)}`);
  }
  const keyColumn = ({ ColumnName, ColumnType }: CassandraColumn) => ({
    name: ColumnName,
    type: ColumnType as CqlKeyType,
  });
  return {
    keyspaceName: table.KeyspaceName,
    tableName: table.TableName,
    partitionKey: PartitionKeyColumns.slice(0, -1).map(keyColumn),
    shardColumn: shardColumn.ColumnName,
    firstShard,
    clusteringColumns: ClusteringKeyColumns.map(({ Column, OrderBy }) => ({
      ...keyColumn(Column),
      order: OrderBy === 'DESC' ? 'DESC' : 'ASC',
    })),
    columns: RegularColumns.map(({ ColumnName }) => ColumnName),
    shards,
    strategy,
    ...(calculatedFrom.length > 0 && { calculatedFrom }),
  };
}
