import type { ExpressionRequest } from '../../../lib/core/aws-client/expression';

export interface ExpressionAtALimit {
  name: string;
  /** The response of DynamoDB. */
  answer: 'accepted' | 'rejected';
  request: ExpressionRequest;
  /** The error message of DynamoDB for a rejected request. */
  problem?: string;
}

const list = (count: number, each: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, at) => each(at));
const texts = (count: number, bytes = 1) =>
  Object.fromEntries(list(count, (at) => `:v${at}`).map((placeholder) => [placeholder, { S: 'x'.repeat(bytes) }]));
const TOO_LONG = 'Expression size has exceeded the maximum allowed size;';
const TOO_MANY = 'The expression contains too many operators; operator count: 301';

/** A condition of this number of bytes, which is true for an item without attributes. */
function conditionOf(bytes: number): string {
  const start = 'attribute_not_exists(a)';
  return `${start}${' '.repeat(bytes - start.length)}`;
}

/** For each limit, one expression at the limit and one expression above the limit. */
export function expressionsAtTheLimits(): ExpressionAtALimit[] {
  const cases: (Omit<ExpressionAtALimit, 'answer'> & { problem?: string })[] = [
    { name: 'a condition of 4,096 bytes', request: { ConditionExpression: conditionOf(4_096) } },
    {
      name: 'a condition of 4,097 bytes',
      request: { ConditionExpression: conditionOf(4_097) },
      problem: `Invalid ConditionExpression: ${TOO_LONG} expression size: 4097`,
    },
    {
      name: 'an update of 4,097 bytes',
      request: { UpdateExpression: `REMOVE a${' '.repeat(4_089)}` },
      problem: `Invalid UpdateExpression: ${TOO_LONG}`,
    },
    {
      name: 'a filter of 4,097 bytes',
      request: { FilterExpression: conditionOf(4_097) },
      problem: `Invalid FilterExpression: ${TOO_LONG} expression size: 4097`,
    },
    {
      name: 'a projection of 4,097 bytes',
      request: { ProjectionExpression: `a${' '.repeat(4_096)}` },
      problem: `Invalid ProjectionExpression: ${TOO_LONG} expression size: 4097`,
    },
    {
      name: 'a condition of 299 operators',
      request: { ConditionExpression: list(150, () => 'a<>:v0').join(' OR '), ExpressionAttributeValues: texts(1) },
    },
    {
      name: 'a condition of 301 operators',
      request: { ConditionExpression: list(151, () => 'a<>:v0').join(' OR '), ExpressionAttributeValues: texts(1) },
      problem: `Invalid ConditionExpression: ${TOO_MANY}`,
    },
    {
      name: 'a condition of 300 operators, one of which is NOT',
      request: {
        ConditionExpression: `NOT a=:v0 OR ${list(149, () => 'a<>:v0').join(' OR ')}`,
        ExpressionAttributeValues: texts(1),
      },
    },
    {
      name: 'a condition of 300 operators with BETWEEN',
      request: {
        ConditionExpression: `${list(149, () => 'a<>:v0').join(' OR ')} OR NOT a BETWEEN :v0 AND :v1`,
        ExpressionAttributeValues: { ':v0': { S: 'a' }, ':v1': { S: 'b' } },
      },
    },
    {
      name: 'a condition of 302 operators, 101 of which are functions',
      request: {
        ConditionExpression: list(101, () => 'size(a)<:n').join(' AND '),
        ExpressionAttributeValues: { ':n': { N: '1' } },
      },
      problem: `Invalid ConditionExpression: ${TOO_MANY}`,
    },
    {
      name: 'an update of 300 additions',
      request: {
        UpdateExpression: `SET ${list(300, (at) => `a${at}=:n+:n`).join(',')}`,
        ExpressionAttributeValues: { ':n': { N: '1' } },
      },
    },
    {
      name: 'an update of 301 additions',
      request: {
        UpdateExpression: `SET ${list(301, (at) => `a${at}=:n+:n`).join(',')}`,
        ExpressionAttributeValues: { ':n': { N: '1' } },
      },
      problem: `Invalid UpdateExpression: ${TOO_MANY}`,
    },
    {
      name: 'an update of 320 assignments',
      request: {
        UpdateExpression: `SET ${list(320, (at) => `a${at}=:n`).join(',')}`,
        ExpressionAttributeValues: { ':n': { N: '1' } },
      },
    },
    {
      name: 'an IN of 100 operands',
      request: {
        ConditionExpression: `NOT a IN (${Object.keys(texts(100)).join(',')})`,
        ExpressionAttributeValues: Object.fromEntries(list(100, (at) => `:v${at}`).map((each) => [each, { S: each }])),
      },
    },
    {
      name: 'an IN of 101 operands',
      request: {
        ConditionExpression: `NOT a IN (${Object.keys(texts(101)).join(',')})`,
        ExpressionAttributeValues: Object.fromEntries(list(101, (at) => `:v${at}`).map((each) => [each, { S: each }])),
      },
      problem:
        'Invalid ConditionExpression: The IN operator is provided with too many operands; number of operands: 101',
    },
    {
      name: 'values of more than 2 MB',
      request: {
        ConditionExpression: list(6, (at) => `a<>:v${at}`).join(' AND '),
        ExpressionAttributeValues: texts(6, 380_000),
      },
      problem: 'ExpressionAttributeValues exceeds max size',
    },
    {
      name: 'names of more than 2 MB',
      request: {
        ConditionExpression: list(40, (at) => `attribute_not_exists(#n${at})`).join(' AND '),
        ExpressionAttributeNames: Object.fromEntries(
          list(40, (at) => `#n${at}`).map((each) => [each, `${each}${'n'.repeat(60_000)}`]),
        ),
      },
      problem: 'ExpressionAttributeNames exceeds max size',
    },
  ];
  return cases.map((each) => ({ ...each, answer: each.problem === undefined ? 'accepted' : 'rejected' }));
}
