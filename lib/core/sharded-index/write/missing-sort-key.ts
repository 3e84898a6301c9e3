import { attributeOf } from '../../aws-client/attribute-value';
import { numberText } from '../../sharding/key-value';
import type { ShardedIndexConfig } from '../config/sharded-index-config';
import { InvalidIndexValueError } from '../config/sharded-index-errors';

/**
 * Returns the first sort key attribute that an item lacks, or undefined if the item has the whole sort key. DynamoDB
 * leaves an item without the whole sort key out of the index. Inherited properties, such as a getter of a class, do not
 * count because they are not stored.
 *
 * @param item the item as plain JavaScript values
 */
export function missingSortKey(
  { sortKeyAttributes }: ShardedIndexConfig,
  item: Record<string, unknown>,
): string | undefined {
  return sortKeyAttributes.find((name) => !Object.hasOwn(item, name) || !canBeKey(item[name]));
}

/** @throws InvalidIndexValueError if the item lacks a sort key attribute and the index is not sparse */
export function checkSortKey(config: ShardedIndexConfig, item: Record<string, unknown>): void {
  const missing = config.sparse === true ? undefined : missingSortKey(config, item);
  if (missing === undefined) return;
  const allowed =
    `a non-empty string, a finite number or non-empty binary, because index ${config.indexName} contains no item without its ` +
    'sort key; if such items are meant to be missing from the index, give it sparse: true';
  throw new InvalidIndexValueError(`item.${missing}`, attributeOf(item, missing), allowed);
}

/**
 * Whether a value can be a key: a non-empty string, a number, or non-empty binary. Source: the DynamoDB developer
 * guide, "Naming rules and data types".
 */
function canBeKey(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength > 0;
  return value instanceof Blob ? value.size > 0 : numberText(value) !== undefined;
}
