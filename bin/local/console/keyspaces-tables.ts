import { TABLES } from '../../../lib/core/contract/function-environment';
import type { CqlKeyType } from '../../../lib/core/keyspaces';
import type { LocalStack } from '../run-local';

/** String types, for which the page offers the condition "begins with". */
const TEXT: readonly CqlKeyType[] = ['ascii', 'text', 'varchar'];

/** The tables of Amazon Keyspaces for the forms of the page, each with its query function. */
export function keyspacesTables({ keyspaces, functions }: LocalStack): object[] {
  return (keyspaces?.tables ?? []).map(({ path, name, config }) => {
    const { keyspaceName, tableName, partitionKey, clusteringColumns, shardColumn, firstShard, shards } = config;
    const queries = functions.flatMap(({ path: functionPath, environment }) =>
      Object.entries<object>(JSON.parse(environment[TABLES] ?? '{}')).flatMap(([table, known]) => {
        const isSame = JSON.stringify([keyspaceName, tableName]) === JSON.stringify(nameOf(known));
        return isSame ? [{ functionPath, event: { table } }] : [];
      }),
    );
    return {
      path,
      name,
      index: '',
      query: queries[0],
      shardColumn,
      firstShard,
      shards,
      partitionKey,
      sortKeyAttributes: clusteringColumns.map(({ name: attribute, type }) => ({
        attribute,
        type: TEXT.includes(type) ? 'S' : type,
      })),
    };
  });
}

function nameOf(config: { keyspaceName?: string; tableName?: string }): unknown[] {
  return [config.keyspaceName, config.tableName];
}
