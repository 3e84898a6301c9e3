import { numberBytes } from '../../../lib/core/kernel/decimal';

/** An item as the API has it in JSON, binary as base64. */
// biome-ignore lint/suspicious/noExplicitAny: a value is of one of ten types
export type JsonItem = Record<string, any>;

/** What an item counts, in bytes. Source: the DynamoDB developer guide, item sizes and formats. */
export function itemBytes(item: JsonItem): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) bytes += Buffer.byteLength(name) + valueBytes(value);
  return bytes;
}

function valueBytes(value: JsonItem): number {
  const [type, content] = Object.entries(value)[0]!;
  if (type === 'S') return Buffer.byteLength(content);
  if (type === 'N') return numberBytes(content);
  if (type === 'B') return Buffer.byteLength(content, 'base64');
  if (type === 'SS') return sum(content, (each) => Buffer.byteLength(each));
  if (type === 'NS') return sum(content, numberBytes);
  if (type === 'BS') return sum(content, (each) => Buffer.byteLength(each, 'base64'));
  if (type === 'L') return 3 + sum(content, (each) => 1 + valueBytes(each as unknown as JsonItem));
  if (type === 'M') return 3 + itemBytes(content) + Object.keys(content).length;
  return 1;
}

function sum(values: string[], bytes: (value: string) => number): number {
  return values.reduce((total, value) => total + bytes(value), 0);
}
