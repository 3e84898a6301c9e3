import type { AttributeValue, DynamoDbItem } from '../../../lib/core';
import { plainDecimal } from '../../../lib/core/kernel/decimal';

/**
 * An item as DynamoDB keeps it: a number in digits, however it was written, and sets and maps in an order of its own. So two values
 * are equal to DynamoDB if they are the same text here.
 */
export function storedItem(item: DynamoDbItem): DynamoDbItem {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, storedValue(value)]));
}

export function storedValue(value: AttributeValue): AttributeValue {
  if ('N' in value) return { N: plainDecimal(value.N) };
  if ('B' in value) return { B: Buffer.from(value.B) };
  if ('SS' in value) return { SS: [...value.SS].sort() };
  if ('NS' in value) return { NS: value.NS.map(plainDecimal).sort() };
  if ('BS' in value) return { BS: value.BS.map((bytes) => Buffer.from(bytes)).sort(Buffer.compare) };
  if ('L' in value) return { L: value.L.map(storedValue) };
  if ('M' in value) {
    const members = Object.entries(storedItem(value.M)).sort(([a], [b]) => (a < b ? -1 : 1));
    return { M: Object.fromEntries(members) };
  }
  return value;
}
