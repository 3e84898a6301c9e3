import { MAX_KEY_BYTES } from '../../../lib/core/sharded-index/config/check-attribute-value';
import { type JsonItem, jsonItemBytes } from '../json-item';
import { itemAfterUpdate } from '../limits/item-after-update';
import type { TableShape } from '../limits/table-shapes';

/** The maximum depth of a value. Source: the developer guide, "Quotas": nested attributes. */
const DEEPEST_VALUE = 32;

const INVALID = 'One or more parameter values are not valid. ';

/** The message of DynamoDB for an item with a value that dynalite accepts, but DynamoDB does not. */
export function itemProblem(table: TableShape, item: JsonItem = {}): string | undefined {
  return depthProblem(item) ?? indexKeyProblem(table, item);
}

/**
 * The message of DynamoDB for an update that sets such a value.
 *
 * @param before reads the item. Called only if the new value can depend on the item.
 */
export async function updateProblem(
  table: TableShape,
  input: JsonItem,
  before: () => Promise<JsonItem | undefined>,
): Promise<string | undefined> {
  const problem = depthProblem(input.ExpressionAttributeValues ?? {});
  const after = (item: JsonItem | undefined) => indexKeyProblem(table, itemAfterUpdate(item, input as never));
  if (problem !== undefined || after(undefined) === undefined) return problem;
  return after(await before());
}

function depthProblem(values: JsonItem): string | undefined {
  if (Object.values(values).every((value) => depthOf(value) <= DEEPEST_VALUE)) return undefined;
  return 'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit';
}

function depthOf(value: JsonItem): number {
  const children: JsonItem[] = Object.values(Object(value?.M ?? value?.L));
  return 1 + children.reduce((deepest, child) => Math.max(deepest, depthOf(child)), 0);
}

/** The message of DynamoDB for an empty value of a key attribute of the table, or of one of its indexes. */
export function emptyKeyProblem(value: JsonItem | undefined, key: string, indexName?: string): string | undefined {
  const { S, B } = value ?? {};
  if (S !== '' && B !== '') return undefined;
  const of = indexName === undefined ? `Key: ${key}` : `IndexName: ${indexName}, IndexKey: ${key}`;
  const what = `The AttributeValue for a key attribute cannot contain an empty ${S === '' ? 'string' : 'binary'} value. ${of}`;
  return `${INVALID}${indexName === undefined ? '' : 'A value specified for a secondary index key is not supported. '}${what}`;
}

/**
 * The keys of an index have the same limits as the keys of the table. Source: the developer guide, "Quotas", and the
 * messages of DynamoDB Local. dynalite itself checks the types.
 */
function indexKeyProblem({ indexes }: TableShape, item: JsonItem): string | undefined {
  for (const { name, partition, keys } of indexes) {
    for (const key of keys) {
      const { S, B } = item[key] ?? {};
      const problem = emptyKeyProblem(item[key], key, name);
      if (problem !== undefined) return problem;
      const role = partition.includes(key) ? 'partition' : 'sort';
      if ((S ?? B) === undefined || jsonItemBytes({ '': item[key] }) <= MAX_KEY_BYTES[role]) continue;
      const limit = `has exceeded the maximum size limit of ${MAX_KEY_BYTES[role]} bytes`;
      return `One or more parameter values were invalid: Size of ${role === 'sort' ? 'rangekey' : 'hashkey'} ${limit}`;
    }
  }
  return undefined;
}
