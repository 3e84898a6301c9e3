import { Stack, Token } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import { constructField } from '../construct/props';
import { checkAtSynthesis } from '../construct/synthesis-check';
import { templateProperties } from '../construct/template-properties';
import { COUNT_TABLE_INDEX, COUNT_TABLE_VALUE } from '../core/adaptive-counts/shard-count-table';
import { InvalidIndexConfigError } from '../core/sharded-index/config/sharded-index-errors';

/** A key attribute in the template. Its type is undefined if it is known only at deployment. */
interface DeclaredAttribute {
  readonly name: unknown;
  readonly type: unknown;
}

/** The key of a table of this app, partition key first. Undefined if the key is not known, as for a table of another app. */
export function declaredKey(table: dynamodb.ITableV2): readonly DeclaredAttribute[] | undefined {
  const resource = declarationOf(table);
  if (resource === undefined) return undefined;
  const { keySchema, attributeDefinitions } = resource;
  const [schema, definitions] = [keySchema, attributeDefinitions].map((list) => Stack.of(resource).resolve(list));
  if (!Array.isArray(schema)) return undefined;
  const types: { attributeName: unknown; attributeType: unknown }[] = Array.isArray(definitions) ? definitions : [];
  return schema.map(({ attributeName: name }) => ({
    name,
    type: types.find(({ attributeName }) => attributeName === name)?.attributeType,
  }));
}

/**
 * Rejects key attributes that differ from the key of a table of this app.
 *
 * @throws InvalidIndexConfigError if the key differs
 */
export function checkDeclaredKey(field: string, table: dynamodb.ITableV2, tableKey: readonly string[]): void {
  const declared = declaredKey(table)?.map(({ name }) => name);
  if (declared === undefined || JSON.stringify(declared) === JSON.stringify(tableKey)) return;
  throw new InvalidIndexConfigError(field, tableKey, `the key of the table: ${JSON.stringify(declared)}`);
}

/**
 * Rejects a table of this app that cannot hold increased counts.
 *
 * @throws InvalidIndexConfigError if the key is not two strings with the names that readers and writers use
 */
export function checkCountTable(field: string, table: dynamodb.ITableV2): void {
  const declared = declaredKey(table)?.map(({ name, type = dynamodb.AttributeType.STRING }) => `${name} ${type}`);
  const needed = [COUNT_TABLE_INDEX, COUNT_TABLE_VALUE].map((name) => `${name} ${dynamodb.AttributeType.STRING}`);
  if (declared === undefined || JSON.stringify(declared) === JSON.stringify(needed)) return;
  throw new InvalidIndexConfigError(field, declared, `a table with the key ${JSON.stringify(needed)}`);
}

/** An index, with the attributes of its key. */
interface KeyedIndex {
  readonly config: { readonly indexName: string };
  readonly partitionKeys: readonly dynamodb.Attribute[];
  readonly sortKeys: readonly dynamodb.Attribute[];
}

/** The properties of a table that describe its indexes. */
interface TableProperties {
  readonly GlobalSecondaryIndexes?: readonly { readonly IndexName: unknown; readonly KeySchema: unknown }[];
  readonly AttributeDefinitions?: readonly { readonly AttributeName: unknown; readonly AttributeType: unknown }[];
}

/**
 * Adds a check to synthesis: a table of this app must have the index, with the same key. The check runs at synthesis, because an
 * index can be added to the table later.
 */
export function requireDeclaredIndex(
  table: dynamodb.ITableV2,
  { config: { indexName }, partitionKeys, sortKeys }: KeyedIndex,
): void {
  const resource = declarationOf(table);
  if (resource === undefined || Token.isUnresolved(indexName)) return;
  checkAtSynthesis(table, () => {
    const { GlobalSecondaryIndexes: indexes = [], AttributeDefinitions = [] } =
      templateProperties<TableProperties>(resource);
    // An intrinsic function such as Fn::If is known only at deployment.
    if (!Array.isArray(indexes) || !Array.isArray(AttributeDefinitions)) return;
    const names = indexes.map(({ IndexName }) => IndexName);
    const index = indexes.find(({ IndexName }) => IndexName === indexName);
    if (index === undefined) {
      // A name that is not a text is known only at deployment.
      if (names.some((name) => typeof name !== 'string')) return;
      const allowed = `a global secondary index of the table: ${names.length > 0 ? names.join(', ') : 'it has none'}`;
      throw new InvalidIndexConfigError(constructField(table, 'indexName'), indexName, allowed);
    }
    const types = new Map(
      AttributeDefinitions.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType]),
    );
    const declared = keyOf(index.KeySchema, types);
    const imported = {
      partitionKey: partitionKeys.map(({ name, type }) => `${name} ${type}`),
      sortKey: sortKeys.map(({ name, type }) => `${name} ${type}`),
    };
    if (declared === undefined || Token.isUnresolved(JSON.stringify(imported)) || isSameKey(declared, imported)) return;
    const allowed = `the key of the index, which the table declares as ${JSON.stringify(declared)}`;
    throw new InvalidIndexConfigError(constructField(table, `${indexName}.key`), imported, allowed);
  });
}

/** The attributes of a key of an index, each as a name and a type. */
interface IndexKey {
  readonly partitionKey: readonly string[];
  readonly sortKey: readonly string[];
}

/** The key in the template of a table. Undefined if a part of the key is known only at deployment. */
function keyOf(schema: unknown, types: ReadonlyMap<unknown, unknown>): IndexKey | undefined {
  if (!Array.isArray(schema)) return undefined;
  const attributes = schema.map(({ AttributeName: name, KeyType: role }) => ({ name, role, type: types.get(name) }));
  if (!attributes.every((parts) => Object.values(parts).every((part) => typeof part === 'string'))) return undefined;
  const withRole = (wanted: string) =>
    attributes.filter(({ role }) => role === wanted).map(({ name, type }) => `${name} ${type}`);
  return { partitionKey: withRole('HASH'), sortKey: withRole('RANGE') };
}

/** A query gives all attributes of the partition key, in any order. The order of the attributes of the sort key matters. */
function isSameKey(one: IndexKey, other: IndexKey): boolean {
  const textOf = ({ partitionKey, sortKey }: IndexKey) => JSON.stringify([partitionKey.toSorted(), sortKey]);
  return textOf(one) === textOf(other);
}

/** The resource of a table that this app declares. Undefined for an imported table. */
function declarationOf({ node }: dynamodb.ITableV2): dynamodb.CfnGlobalTable | dynamodb.CfnTable | undefined {
  const { defaultChild: resource } = node;
  return resource instanceof dynamodb.CfnGlobalTable || resource instanceof dynamodb.CfnTable ? resource : undefined;
}
