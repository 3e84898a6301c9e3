import { attributeOf } from '../config/attribute-of';
import type { ShardedIndexConfig } from '../config/sharded-index-config';
import { InvalidIndexValueError } from '../config/sharded-index-errors';
import { numberText } from '../query/item-text';

/**
 * The first attribute of the sort key that an item lacks. DynamoDB leaves such an item out of the index. Undefined if the item has
 * the whole sort key. A property that an object inherits, such as a getter of its class, is not stored.
 *
 * @param item the item as plain JavaScript values
 */
export function missingSortKey(
  { sortKeyAttributes }: ShardedIndexConfig,
  item: Record<string, unknown>,
): string | undefined {
  return sortKeyAttributes.find((name) => !Object.hasOwn(item, name) || !canBeKey(item[name]));
}

/** @throws InvalidIndexValueError if the index would not contain the item, and is not declared as sparse */
export function checkSortKey(config: ShardedIndexConfig, item: Record<string, unknown>): void {
  const missing = config.sparse === true ? undefined : missingSortKey(config, item);
  if (missing === undefined) return;
  const allowed =
    `a non-empty string, a finite number or non-empty binary, because index ${config.indexName} contains no item without its ` +
    'sort key; if such items are meant to be missing from the index, give it sparse: true';
  throw new InvalidIndexValueError(`item.${missing}`, attributeOf(item, missing), allowed);
}

/** Source: the DynamoDB developer guide, "Naming rules and data types": a key is a string, a number or binary, and is not empty. */
function canBeKey(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength > 0;
  return value instanceof Blob ? value.size > 0 : numberText(value) !== undefined;
}
