import { Token } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { IConstruct } from 'constructs';
import { newConstructField } from '../construct/props';
import { InvalidArgumentError } from '../core/kernel/errors';

/** Source: the DynamoDB API reference, TableName and GlobalSecondaryIndex: IndexName. */
const NAME = /^[a-zA-Z0-9_.-]{3,255}$/;
export const ALLOWED_NAME = '3 to 255 characters of a-z, A-Z, 0-9, underscore, hyphen and dot';

/** Source: the DynamoDB API reference, KeySchemaElement and Projection: names of attributes, in UTF-8. */
const MAX_ATTRIBUTE_BYTES = 255;
export const ALLOWED_ATTRIBUTE = `a name of 1 to ${MAX_ATTRIBUTE_BYTES} bytes`;

/** Whether DynamoDB accepts a text as the name of a table or an index. A token is not checked. */
export function isName(name: unknown): boolean {
  return Token.isUnresolved(name) || (typeof name === 'string' && NAME.test(name));
}

/** Whether DynamoDB accepts a text as the name of an attribute of a key or a projection. A token is not checked. */
export function isAttributeName(name: unknown): boolean {
  if (Token.isUnresolved(name)) return true;
  return typeof name === 'string' && name !== '' && Buffer.byteLength(name) <= MAX_ATTRIBUTE_BYTES;
}

/**
 * Checks the names of the attributes that an index projects.
 *
 * @throws InvalidArgumentError if DynamoDB rejects one of the names
 */
export function checkProjected(field: string, names: readonly string[] = []): void {
  for (const name of names) {
    if (!isAttributeName(name)) throw new InvalidArgumentError(field, name, ALLOWED_ATTRIBUTE);
  }
}

/**
 * Checks the names in the properties of a table before the table is created, because `TableV2` does not check these names.
 *
 * @returns the properties
 * @throws InvalidArgumentError if DynamoDB rejects a name
 */
export function withCheckedNames<P extends dynamodb.TablePropsV2>(scope: IConstruct, id: string, props: P): P {
  const { tableName, partitionKey, sortKey, timeToLiveAttribute } = props;
  const { globalSecondaryIndexes: global = [], localSecondaryIndexes: local = [] } = props;
  const rejectIf = (wrong: boolean, field: string, value: unknown, allowed: string): void => {
    if (wrong) throw new InvalidArgumentError(newConstructField(scope, id, field), value, allowed);
  };
  const checkAttribute = (field: string, name: unknown) =>
    rejectIf(!isAttributeName(name), field, name, ALLOWED_ATTRIBUTE);
  const checkKey = (field: string, attribute: dynamodb.Attribute | undefined) => {
    if (attribute !== undefined) checkAttribute(`${field}.name`, attribute.name);
  };
  if (tableName !== undefined) rejectIf(!isName(tableName), 'tableName', tableName, ALLOWED_NAME);
  checkKey('partitionKey', partitionKey);
  checkKey('sortKey', sortKey);
  const isSame = sortKey !== undefined && sortKey.name === partitionKey?.name;
  rejectIf(isSame, 'sortKey.name', sortKey?.name, 'another attribute than the partition key');
  if (timeToLiveAttribute !== undefined) checkAttribute('timeToLiveAttribute', timeToLiveAttribute);
  for (const index of [...global, ...local]) {
    const { indexName, nonKeyAttributes } = index;
    const {
      partitionKey: value,
      partitionKeys = [],
      sortKeys = [],
    }: Partial<dynamodb.GlobalSecondaryIndexPropsV2> = index;
    rejectIf(!isName(indexName), 'indexName', indexName, ALLOWED_NAME);
    for (const each of [value, ...partitionKeys]) checkKey(`${indexName}.partitionKey`, each);
    for (const each of [index.sortKey, ...sortKeys]) checkKey(`${indexName}.sortKey`, each);
    checkProjected(newConstructField(scope, id, `${indexName}.nonKeyAttributes`), nonKeyAttributes);
  }
  return props;
}
