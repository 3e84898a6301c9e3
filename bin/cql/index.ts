import { EvenShardsError } from '../../lib/core/foundation/errors';
import { parsedFlags } from '../flags';
import { readCloudAssembly } from '../local/assembly/cloud-assembly';
import { fields, listOf, optional, text } from '../local/assembly/json-shape';
import { type StackScope, stackScopes } from '../local/assembly/stack-scope';
import { type CassandraTableProperties, createKeyspace, createTable } from './create-table';

const COMMAND = 'even-shards cql';

const HELP = `usage: even-shards cql [options]

Prints the CREATE TABLE of each Keyspaces table of a synthesized CDK app, and the keyspaces for a Cassandra of one node, so that
the tables can be tried on a Cassandra of your own: even-shards cql | cqlsh

options:
  --app DIRECTORY  the cloud assembly (default: cdk.out)
  --help           show this text`;

const OPTIONS = {
  app: { type: 'string', default: 'cdk.out' },
  help: { type: 'boolean', default: false },
} as const;

const TABLE = 'AWS::Cassandra::Table';

const COLUMN = fields({ ColumnName: text, ColumnType: text });

const TABLE_SHAPE = fields({
  KeyspaceName: text,
  PartitionKeyColumns: listOf(COLUMN),
  ClusteringKeyColumns: optional(listOf(fields({ Column: COLUMN, OrderBy: optional(text) }))),
  RegularColumns: optional(listOf(COLUMN)),
});

/** An app that has nothing to print, or a table that CloudFormation would refuse. */
class CqlError extends EvenShardsError {
  constructor(problem: string) {
    super('CQL', problem);
  }
}

/** `even-shards cql`. */
export async function cql(args: string[]): Promise<void> {
  const { app, help } = parsedFlags(COMMAND, { args, options: OPTIONS }).values;
  if (help) return console.log(HELP);
  const tables = stackScopes(readCloudAssembly(app)).flatMap((scope) =>
    scope.resources.filter(([, { Type }]) => Type === TABLE).map(([logicalId]) => tableOf(scope, logicalId)),
  );
  if (tables.length === 0) throw new CqlError(`${app} has no table of Amazon Keyspaces: name its assembly with --app`);
  const keyspaces = [...new Set(tables.map(({ properties }) => properties.KeyspaceName))];
  const statements = [
    ...keyspaces.map(createKeyspace),
    ...tables.map(({ path, properties }) => `-- ${path}\n${createTable(properties)}`),
  ];
  console.log(statements.join('\n\n'));
}

function tableOf(scope: StackScope, logicalId: string): { path: string; properties: CassandraTableProperties } {
  const path = scope.constructPath(logicalId);
  const properties = {
    ...scope.properties(logicalId, {
      KeyspaceName: true,
      PartitionKeyColumns: true,
      ClusteringKeyColumns: true,
      RegularColumns: true,
      DefaultTimeToLive: true,
    }),
    TableName: scope.physicalName(logicalId),
  };
  const problem = TABLE_SHAPE(properties, '');
  if (problem !== undefined) throw new CqlError(`${path} is malformed: ${problem}`);
  return { path, properties: properties as unknown as CassandraTableProperties };
}
