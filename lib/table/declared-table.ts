import { Stack, Token } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import { constructField, problemsOf } from '../construct/props';
import { templateProperties } from '../construct/template-properties';
import { InvalidIndexConfigError } from '../core/sharded-index/config/sharded-index-errors';

/**
 * Rejects key attributes that differ from the key of a table of this app. The key of a table of another app is not known.
 *
 * @throws InvalidIndexConfigError if the key differs
 */
export function checkDeclaredKey(field: string, table: dynamodb.ITableV2, tableKey: readonly string[]): void {
  const resource = declarationOf(table);
  const schema = resource && Stack.of(resource).resolve(resource.keySchema);
  if (!Array.isArray(schema)) return;
  const declared = schema.map(({ attributeName }) => attributeName);
  if (JSON.stringify(declared) === JSON.stringify(tableKey)) return;
  throw new InvalidIndexConfigError(field, tableKey, `the key of the table: ${JSON.stringify(declared)}`);
}

/**
 * Adds a check to synthesis: a table of this app must have the index. The check runs at synthesis, because an index can be added
 * to the table later.
 */
export function requireDeclaredIndex(table: dynamodb.ITableV2, indexName: string): void {
  const resource = declarationOf(table);
  if (resource === undefined || Token.isUnresolved(indexName)) return;
  const check = () => {
    const { GlobalSecondaryIndexes: indexes = [] } = templateProperties<{
      GlobalSecondaryIndexes?: { IndexName: unknown }[];
    }>(resource);
    const names = indexes.map(({ IndexName }) => IndexName);
    // A name that is not a text is known only at deployment.
    if (names.some((name) => name === indexName || typeof name !== 'string')) return;
    const allowed = `a global secondary index of the table: ${names.length > 0 ? names.join(', ') : 'it has none'}`;
    throw new InvalidIndexConfigError(constructField(table, 'indexName'), indexName, allowed);
  };
  table.node.addValidation({ validate: () => problemsOf(check) });
}

/** The resource of a table that this app declares. Undefined for an imported table. */
function declarationOf({ node }: dynamodb.ITableV2): dynamodb.CfnGlobalTable | dynamodb.CfnTable | undefined {
  const { defaultChild: resource } = node;
  return resource instanceof dynamodb.CfnGlobalTable || resource instanceof dynamodb.CfnTable ? resource : undefined;
}
