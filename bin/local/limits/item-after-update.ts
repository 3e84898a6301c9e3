import type { JsonItem } from '../json-item';

interface Update {
  readonly Key: JsonItem;
  readonly UpdateExpression?: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues?: JsonItem;
  readonly AttributeUpdates?: Record<string, { Action?: string; Value?: unknown }>;
}

const CLAUSE = /\b(SET|REMOVE|ADD|DELETE)\b([\s\S]*?)(?=\b(?:SET|REMOVE|ADD|DELETE)\b|$)/gi;
const ASSIGNMENT = /([#\w]+)\s*=\s*(?:(:\w+)|if_not_exists\s*\(\s*[#\w]+\s*,\s*(:\w+)\s*\))\s*(?=,|$)/g;

/**
 * Predicts an item after an update, to find the index entries that the update changes. The prediction includes only
 * top-level attributes that the update sets to values or removes. All other attributes stay unchanged, for example
 * attributes with calculated or nested values.
 */
export function itemAfterUpdate(before: JsonItem | undefined, update: Update): JsonItem {
  const { Key, UpdateExpression = '', ExpressionAttributeValues = {}, AttributeUpdates = {} } = update;
  const after: JsonItem = { ...before, ...Key };
  const nameOf = (text: string): string => update.ExpressionAttributeNames?.[text] ?? text;
  for (const [, clause, body = ''] of UpdateExpression.matchAll(CLAUSE)) {
    if (clause!.toUpperCase() === 'REMOVE') for (const name of body.split(',')) delete after[nameOf(name.trim())];
    if (clause!.toUpperCase() !== 'SET') continue;
    for (const [, name, value, valueIfAbsent] of body.matchAll(ASSIGNMENT)) {
      const attribute = nameOf(name!);
      if (value !== undefined) after[attribute] = ExpressionAttributeValues[value];
      else after[attribute] ??= ExpressionAttributeValues[valueIfAbsent!];
    }
  }
  for (const [name, { Action = 'PUT', Value }] of Object.entries(AttributeUpdates)) {
    if (Action === 'PUT') after[name] = Value;
    else if (Action === 'DELETE' && Value === undefined) delete after[name];
  }
  return after;
}
