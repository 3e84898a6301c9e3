import { EvenShardsError } from '../../lib/core/kernel/errors';
import { tablesOfApp } from '../cassandra/tables-of-app';
import { parsedFlags } from '../flags';
import { readCloudAssembly } from '../local/assembly/cloud-assembly';
import { printable } from '../plain-text';
import { printText } from '../print';
import { createKeyspace, createTable } from './create-table';

const COMMAND = 'even-shards cql';

const HELP = `usage: even-shards cql [options]

Prints the CREATE TABLE of each Amazon Keyspaces table of a synthesized CDK app, and the keyspaces for a Cassandra with one node.
To create the tables on your own Cassandra: even-shards cql | cqlsh

options:
  --app DIRECTORY  the cloud assembly (default: cdk.out)
  --help           show this text`;

const OPTIONS = {
  app: { type: 'string', default: 'cdk.out' },
  help: { type: 'boolean', default: false },
} as const;

/** The app has no table of Amazon Keyspaces, so there is no statement to print. */
class CqlError extends EvenShardsError {
  constructor(problem: string) {
    super('CQL', problem);
  }
}

export async function cql(args: string[]): Promise<void> {
  const { app, help } = parsedFlags(COMMAND, { args, options: OPTIONS }).values;
  if (help) return printText(HELP);
  const tables = tablesOfApp(readCloudAssembly(app));
  if (tables.length === 0) throw new CqlError(`${app} has no table of Amazon Keyspaces: name its assembly with --app`);
  const keyspaces = [...new Set(tables.map(({ properties }) => properties.KeyspaceName))];
  const statements = [
    ...keyspaces.map(createKeyspace),
    ...tables.map(({ path, properties }) => `-- ${printable(path)}\n${createTable(properties)}`),
  ];
  printText(statements.join('\n\n'));
}
