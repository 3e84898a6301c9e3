import type { DynamoDbItem } from '../../lib/core';
import { itemBytes } from '../../lib/core/sharded-index/query/item-bytes';

/** An item in the JSON of the DynamoDB API, with binary values as base64. */
// biome-ignore lint/suspicious/noExplicitAny: a value is of one of ten types
export type JsonItem = Record<string, any>;

/** The size of an item in bytes, by DynamoDB's rules for capacity units. */
export function jsonItemBytes(item: JsonItem): number {
  return itemBytes(withBytes(item));
}

function withBytes(item: JsonItem): DynamoDbItem {
  const bytesOf = (text: unknown) => (typeof text === 'string' ? Buffer.from(text, 'base64') : text);
  return JSON.parse(JSON.stringify(item), (name, value) => {
    if (name === 'B') return bytesOf(value);
    return name === 'BS' && Array.isArray(value) ? value.map(bytesOf) : value;
  });
}
