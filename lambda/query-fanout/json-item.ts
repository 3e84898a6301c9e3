import type { AttributeValue, DynamoDbItem } from '../../lib/core/aws-client/attribute-value';
import { isObject } from '../../lib/core/kernel/checks';
import { exactNumber } from '../../lib/core/kernel/decimal';
import { IncompleteAnswerError } from '../../lib/core/kernel/incomplete-answer-error';

/**
 * An item as plain JSON without loss: a number that a double cannot represent becomes a string, and binary becomes
 * base64.
 */
export function jsonItem(item: DynamoDbItem): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, jsonValue(value)]));
}

/** @throws IncompleteAnswerError if the response contains a value that is not an attribute value */
function jsonValue(value: AttributeValue): unknown {
  if (!isObject(value)) throw new IncompleteAnswerError('Query', 'attribute values');
  if ('S' in value) return value.S;
  if ('N' in value) return exactNumber(value.N);
  if ('BOOL' in value) return value.BOOL;
  if ('NULL' in value) return null;
  if ('B' in value) return base64(value.B);
  if ('L' in value) return value.L.map(jsonValue);
  if ('M' in value) return jsonItem(value.M);
  if ('SS' in value) return value.SS;
  if ('NS' in value) return value.NS.map(exactNumber);
  if ('BS' in value) return value.BS.map(base64);
  throw new IncompleteAnswerError('Query', 'attribute values');
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
