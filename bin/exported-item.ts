import type { DynamoDbItem } from '../lib/core/aws-client/attribute-value';
import { isRecord } from '../lib/core/kernel/checks';
import { plainItem } from '../lib/core/sharded-index/query/plain-item';
import { type JsonItem, jsonItemBytes } from './local/json-item';

const TYPES: readonly string[] = ['S', 'N', 'B', 'BOOL', 'NULL', 'L', 'M', 'SS', 'NS', 'BS'];

/**
 * The item of a line of a table export, such as `{"Item": {"id": {"S": "a"}}}`, and its size in DynamoDB. Undefined if the line
 * is not a line of an export. Source: the DynamoDB developer guide, "DynamoDB table export output format".
 */
export function itemOf(line: Record<string, unknown>): { event: Record<string, unknown>; bytes: number } | undefined {
  const { Item: item, ...others } = line;
  if (Object.keys(others).length > 0 || !isRecord(item) || !Object.values(item).every(isTyped)) return undefined;
  return { event: plainItem(item as DynamoDbItem), bytes: jsonItemBytes(item as JsonItem) };
}

function isTyped(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const [type, ...more] = Object.keys(value);
  return type !== undefined && more.length === 0 && TYPES.includes(type);
}
