import type { DynamoDbItem } from '../../lib/core';
import { itemBytes } from '../../lib/core/sharded-index/query/item-bytes';

/** An item as the API has it in JSON, binary as base64. */
// biome-ignore lint/suspicious/noExplicitAny: a value is of one of ten types
export type JsonItem = Record<string, any>;

/** The size of an item in bytes, as DynamoDB charges for it. */
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
