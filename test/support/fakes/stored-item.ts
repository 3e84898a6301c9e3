import type { AttributeValue, DynamoDbItem } from '../../../lib/core';
import { plainDecimal } from '../../../lib/core/kernel/decimal';

/**
 * An item as DynamoDB stores it: numbers as digits, and sets and maps in a fixed order. Two values are equal in
 * DynamoDB if their JSON from this function is equal.
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
