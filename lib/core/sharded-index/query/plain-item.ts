import type { AttributeValue, DynamoDbItem } from '../../aws-client/attribute-value';
import { exactNumber } from '../../kernel/decimal';

/**
 * Converts an item to a plain JavaScript object. Use this function for the items of a page, with the type of your own items:
 *
 *     const orders = page.items.map(plainItem<Order>);
 *
 * The conversion is lossless: a number that JavaScript cannot represent exactly becomes a string, binary becomes a Uint8Array,
 * and a set becomes a Set. The type parameter is not checked.
 */
export function plainItem<T extends object = Record<string, unknown>>(item: DynamoDbItem): T {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plainValue(value)])) as T;
}

function plainValue(value: AttributeValue): unknown {
  if ('S' in value) return value.S;
  if ('N' in value) return exactNumber(value.N);
  if ('B' in value) return value.B;
  if ('BOOL' in value) return value.BOOL;
  if ('NULL' in value) return null;
  if ('L' in value) return value.L.map(plainValue);
  if ('M' in value) return plainItem(value.M);
  if ('SS' in value) return new Set(value.SS);
  return 'NS' in value ? new Set(value.NS.map(exactNumber)) : new Set(value.BS);
}
