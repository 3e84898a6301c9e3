import type { JsonItem } from '../json-item';
import type { TableShape } from '../limits/table-shapes';

/**
 * The message of DynamoDB for a Query or a Scan whose attributes dynalite does not check. Source: the API reference,
 * Query, Select.
 */
export function selectProblem(table: TableShape, input: JsonItem): string | undefined {
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
  const filtered = missing(attributesIn(input.FilterExpression));
  const filter = `Secondary index ${IndexName} does not project one or more filter attributes: [${filtered.join(', ')}]`;
  return filtered.length === 0 ? undefined : `One or more parameter values were invalid: ${filter}`;
}

const KEYWORDS = new Set(['AND', 'OR', 'NOT', 'IN', 'BETWEEN']);

/** The names and placeholders at the beginning of each path. A name before a parenthesis is a function. */
function attributesIn(expression: unknown): string[] {
  const found = String(expression ?? '').matchAll(/(?<![.:\w#])[#A-Za-z_]\w*\b(?!\s*\()/g);
  return [...new Set([...found].map(([name]) => name))].filter((name) => !KEYWORDS.has(name.toUpperCase()));
}
