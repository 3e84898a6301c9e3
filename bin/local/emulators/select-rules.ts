import type { JsonItem } from '../json-item';
import type { TableShape } from '../limits/table-shapes';
import { emptyKeyProblem } from './item-rules';

/**
 * The message of DynamoDB for a Query or a Scan whose attributes dynalite does not check. Source: the API reference,
 * Query, Select.
 */
export function selectProblem(table: TableShape, input: JsonItem, isScan: boolean): string | undefined {
  const { IndexName, Select, ProjectionExpression: projection, ExpressionAttributeNames: names = {} } = input;
  if (Select === 'SPECIFIC_ATTRIBUTES' && projection === undefined && input.AttributesToGet === undefined) {
    return 'Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES';
  }
  if (Select === 'ALL_PROJECTED_ATTRIBUTES' && IndexName === undefined) {
    return 'ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName';
  }
  if (Select !== undefined && Select !== 'SPECIFIC_ATTRIBUTES' && projection !== undefined) {
    return `Cannot specify the ProjectionExpression when choosing to get ${Select === 'COUNT' ? 'only the Count' : Select}`;
  }
  for (const [name, value] of keyConditions(input)) {
    const problem = emptyKeyProblem(value, name, IndexName);
    if (problem !== undefined) return problem;
  }
  const index = table.indexes.find(({ name }) => name === IndexName);
  if (index !== undefined && input.ConsistentRead === true) {
    return 'Consistent reads are not supported on global secondary indexes';
  }
  const { projected } = index ?? {};
  if (projected === undefined) return undefined;
  const missing = (paths: readonly string[]) =>
    paths.map((path) => names[path] ?? path).filter((name) => !projected.has(name));
  const read = missing(attributesIn(projection));
  const what = `Global secondary index ${IndexName} does not project [${read.join(', ')}]`;
  if (read.length > 0) return `One or more parameter values were invalid: ${what}`;
  // DynamoDB Local accepts such a filter of a Scan, and the API reference does not mention it.
  const filtered = isScan ? [] : missing(attributesIn(input.FilterExpression));
  const filter = `Secondary index ${IndexName} does not project one or more filter attributes: [${filtered.join(', ')}]`;
  return filtered.length === 0 ? undefined : `One or more parameter values were invalid: ${filter}`;
}

/** The values of the key conditions, each with the name of its key attribute. */
function keyConditions(input: JsonItem): [name: string, value: JsonItem][] {
  const { KeyConditions, KeyConditionExpression, ExpressionAttributeNames: names = {} } = input;
  const values = Object(input.ExpressionAttributeValues);
  const legacy = Object.entries<JsonItem>(Object(KeyConditions)).flatMap(([name, condition]) =>
    [Object(condition).AttributeValueList ?? []].flat().map((value): [string, JsonItem] => [name, value]),
  );
  let name = '';
  const found = [...String(KeyConditionExpression ?? '').matchAll(/[:#\w]+(?!\w*\s*\()/g)].flatMap(
    ([part]): [string, JsonItem][] => {
      if (part.startsWith(':')) return [[name, values[part]]];
      if (!KEYWORDS.has(part.toUpperCase())) name = names[part] ?? part;
      return [];
    },
  );
  return [...legacy, ...found];
}

const KEYWORDS = new Set(['AND', 'OR', 'NOT', 'IN', 'BETWEEN']);

/** The names and placeholders at the beginning of each path. A name before a parenthesis is a function. */
function attributesIn(expression: unknown): string[] {
  const found = String(expression ?? '').matchAll(/(?<![.:\w#])[#A-Za-z_]\w*\b(?!\s*\()/g);
  return [...new Set([...found].map(([name]) => name))].filter((name) => !KEYWORDS.has(name.toUpperCase()));
}
