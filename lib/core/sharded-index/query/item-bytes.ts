import type { AttributeValue, DynamoDbItem } from '../../aws-client/attribute-value';
import { numberBytes } from '../../kernel/decimal';

/**
 * The size of an item in bytes, as DynamoDB charges for it.
 * Source: the DynamoDB developer guide, "DynamoDB item sizes and formats".
 */
export function itemBytes(item: DynamoDbItem): number {
  let bytes = 0;
  for (const name in item) bytes += Buffer.byteLength(name) + valueBytes(item[name]!);
  return bytes;
}

/** A list or a map takes 3 bytes, and each of its members takes 1 byte more than its own size. */
const COLLECTION_BYTES = 3;
const MEMBER_BYTES = 1;

function valueBytes(value: AttributeValue): number {
  if ('S' in value) return Buffer.byteLength(value.S);
  if ('N' in value) return numberBytes(value.N);
  if ('B' in value) return value.B.byteLength;
  if ('SS' in value) return sum(value.SS, (text) => Buffer.byteLength(text));
  if ('NS' in value) return sum(value.NS, numberBytes);
  if ('BS' in value) return sum(value.BS, (bytes) => bytes.byteLength);
  if ('L' in value) return COLLECTION_BYTES + sum(value.L, (member) => MEMBER_BYTES + valueBytes(member));
  if ('M' in value) return COLLECTION_BYTES + sum(Object.keys(value.M), () => MEMBER_BYTES) + itemBytes(value.M);
  return 1;
}

function sum<E>(elements: readonly E[], bytesOf: (element: E) => number): number {
  return elements.reduce((total, element) => total + bytesOf(element), 0);
}
