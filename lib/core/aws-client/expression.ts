import { isObject } from '../kernel/checks';
import type { AttributeValue } from './attribute-value';

/**
 * DynamoDB's limits for expressions. `placeholderBytes` applies to all names of a request together, and to all values of the
 * request together. The other limits apply to each expression. Source: the DynamoDB developer guide, "Quotas", expression
 * parameters.
 */
export const EXPRESSION_LIMITS = {
  /** The maximum size of an expression, in bytes. The size includes the placeholders, but not their names and values. */
  bytes: 4_096,
  /** The maximum number of operators and functions in an expression. */
  operators: 300,
  /** The maximum number of operands of an `IN`. */
  inOperands: 100,
  /**
   * The maximum size of the names of all placeholders of a request together, in bytes. The same maximum applies to their
   * values.
   */
  placeholderBytes: 2 * 2 ** 20,
} as const;

const EXPRESSIONS = [
  'UpdateExpression',
  'ConditionExpression',
  'KeyConditionExpression',
  'FilterExpression',
  'ProjectionExpression',
] as const;

/** The expressions of a request, with the names and values of their placeholders. */
export interface ExpressionRequest extends Partial<Record<(typeof EXPRESSIONS)[number], string>> {
  ExpressionAttributeNames?: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's AttributeValue has a further member for unknown types
  ExpressionAttributeValues?: Record<string, any>;
}

/**
 * The names and values of a request that an `ExpressionBuilder` has built. The request always contains names, because each
 * expression contains an attribute.
 */
type BuiltRequest = Required<Pick<ExpressionRequest, 'ExpressionAttributeNames'>> &
  Pick<ExpressionRequest, 'ExpressionAttributeValues'>;

/** DynamoDB's message for a request that exceeds a limit of expressions. Undefined if the request is within the limits. */
export function expressionProblem(request: ExpressionRequest): string | undefined {
  for (const kind of EXPRESSIONS) {
    const expression = request[kind];
    const problem = typeof expression === 'string' ? problemOf(kind, expression) : undefined;
    if (problem !== undefined) return `Invalid ${kind}: ${problem}`;
  }
  const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = request;
  if (bytesOf(names) > EXPRESSION_LIMITS.placeholderBytes) return 'ExpressionAttributeNames exceeds max size';
  if (bytesOf(values) > EXPRESSION_LIMITS.placeholderBytes) return 'ExpressionAttributeValues exceeds max size';
  return undefined;
}

/**
 * Builds the expressions of a request. The builder makes a placeholder for each name and value, because an attribute name can
 * be a reserved word of DynamoDB.
 */
export class ExpressionBuilder {
  private readonly names = new Map<string, string>();
  private readonly values: Record<string, AttributeValue> = {};

  name(attribute: string): string {
    const placeholder = this.names.get(attribute) ?? `#n${this.names.size}`;
    this.names.set(attribute, placeholder);
    return placeholder;
  }

  value(value: AttributeValue): string {
    const placeholder = `:v${Object.keys(this.values).length}`;
    this.values[placeholder] = value;
    return placeholder;
  }

  /** The condition that an attribute has this value, or does not exist if the value is undefined. */
  hasValue(attribute: string, value: AttributeValue | undefined): string {
    const name = this.name(attribute);
    return value === undefined ? `attribute_not_exists(${name})` : `${name} = ${this.value(value)}`;
  }

  /** Returns the fields of the request. Omits the map of values if it is empty, because DynamoDB rejects an empty map. */
  request<T extends ExpressionRequest>(expressions: T): T & BuiltRequest {
    const names = [...this.names].map(([attribute, placeholder]) => [placeholder, attribute]);
    return {
      ...expressions,
      ExpressionAttributeNames: Object.fromEntries(names),
      ...(Object.keys(this.values).length > 0 && { ExpressionAttributeValues: this.values }),
    };
  }
}

/** The fields of a request that reads only these attributes. */
export function projectionOf(attributes: readonly string[]) {
  const builder = new ExpressionBuilder();
  return builder.request({
    ProjectionExpression: attributes.map((attribute) => builder.name(attribute)).join(', '),
  });
}

/** A token of an expression: a placeholder, a word, a comparison or another symbol. */
const TOKEN = /[#:]?\w+|<>|<=|>=|[=<>+\-(),]/g;
const COMPARISON = /^(<>|<=|>=|[=<>+-])$/;
const LOGIC = /^(AND|OR|NOT|BETWEEN|IN)$/i;

/**
 * DynamoDB's message for an expression that exceeds a limit, without its beginning, which names the kind of the expression.
 * Undefined if the expression is within the limits.
 */
function problemOf(kind: (typeof EXPRESSIONS)[number], expression: string): string | undefined {
  const isUpdate = kind === 'UpdateExpression';
  const bytes = Buffer.byteLength(expression);
  if (bytes > EXPRESSION_LIMITS.bytes) {
    return `Expression size has exceeded the maximum allowed size;${isUpdate ? '' : ` expression size: ${bytes}`}`;
  }
  const { operators, inOperands } = counts(expression, isUpdate);
  if (inOperands > EXPRESSION_LIMITS.inOperands) {
    return `The IN operator is provided with too many operands; number of operands: ${inOperands}`;
  }
  if (operators > EXPRESSION_LIMITS.operators) {
    return `The expression contains too many operators; operator count: ${EXPRESSION_LIMITS.operators + 1}`;
  }
  return undefined;
}

/**
 * Counts operators and functions as the developer guide does: `SET a = :b + :c + :d` has two operators. The equals sign of an
 * assignment and the `AND` of a `BETWEEN` do not count.
 */
function counts(expression: string, isUpdate: boolean): { operators: number; inOperands: number } {
  const tokens = expression.match(TOKEN) ?? [];
  let [operators, inOperands, betweens] = [0, 0, 0];
  tokens.forEach((token, index) => {
    const isBoundOfBetween = betweens > 0 && /^AND$/i.test(token);
    if (isBoundOfBetween) betweens -= 1;
    else if (LOGIC.test(token) || (COMPARISON.test(token) && !(isUpdate && token === '='))) operators += 1;
    else if (tokens[index + 1] === '(' && /^[a-z]/i.test(token)) operators += 1;
    if (/^BETWEEN$/i.test(token)) betweens += 1;
    if (/^IN$/i.test(token)) inOperands = Math.max(inOperands, operandsFrom(tokens, index + 1));
  });
  return { operators, inOperands };
}

/** The number of operands in the parentheses that open at the token `start`. */
function operandsFrom(tokens: readonly string[], start: number): number {
  let [depth, operands] = [0, 1];
  for (let index = start; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === '(') depth += 1;
    else if (token === ')') depth -= 1;
    else if (token === ',' && depth === 1) operands += 1;
    if (depth === 0) break;
  }
  return operands;
}

/** Whether DynamoDB rejected a write because its condition was false. */
export function isConditionFailure(error: unknown): boolean {
  return Object(error).name === 'ConditionalCheckFailedException';
}

/**
 * The size of all names of a request, or of all its values, in bytes. Counts texts and binary values, but not placeholders and
 * types.
 */
function bytesOf(part: unknown): number {
  if (typeof part === 'string') return Buffer.byteLength(part);
  if (part instanceof Uint8Array) return part.byteLength;
  if (!isObject(part)) return part === undefined ? 0 : 1;
  return Object.entries(part).reduce((sum, [name, each]) => {
    // If the request is JSON, a binary value is a text in base64.
    const isBase64 = (name === 'B' || name === 'BS') && !(each instanceof Uint8Array);
    return sum + (isBase64 ? (bytesOf(each) * 3) / 4 : bytesOf(each));
  }, 0);
}
