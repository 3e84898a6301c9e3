import { type JsonItem, jsonItemBytes } from '../../../../../bin/local/json-item';
import { itemAfterUpdate } from '../../../../../bin/local/limits/item-after-update';
import { TableShapes, writeLoads } from '../../../../../bin/local/limits/table-shapes';

const ARN = 'arn:aws:dynamodb:us-east-1:000000000000:table/Jobs';
const key = (name: string, KeyType: string) => ({ AttributeName: name, KeyType });
const TABLE = {
  TableArn: ARN,
  KeySchema: [key('id', 'HASH')],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'byStatus',
      KeySchema: [key('status', 'HASH'), key('at', 'RANGE')],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ],
};

async function loads(before: JsonItem | undefined, after: JsonItem | undefined) {
  const shapes = new TableShapes(async () => ({ status: 200, output: { Table: TABLE } }));
  return writeLoads((await shapes.of('Jobs'))!, before, after).map(({ indexName, key, units }) =>
    [indexName ?? 'table', key, units].join(' '),
  );
}

const item = (status?: string, more: JsonItem = {}): JsonItem => ({
  id: { S: '1' },
  at: { N: '5' },
  ...(status && { status: { S: status } }),
  ...more,
});
const LARGE = { data: { S: 'x'.repeat(3_000) } };

describe('writeLoads', () => {
  test.each([
    ['a new item', undefined, item('open'), ['table 1 1', 'byStatus open 1']],
    ['a large item, of which the index has the keys', undefined, item('open', LARGE), ['table 1 3', 'byStatus open 1']],
    ['an item that the index does not have', undefined, item(), ['table 1 1']],
    ['a change that the index does not show', item('open'), item('open', LARGE), ['table 1 3']],
    ['another value', item('open'), item('done'), ['table 1 1', 'byStatus open 1', 'byStatus done 1']],
    [
      'another sort key',
      item('open'),
      item('open', { at: { N: '6' } }),
      ['table 1 1', 'byStatus open 1', 'byStatus open 1'],
    ],
    ['a deleted item', item('open', LARGE), undefined, ['table 1 3', 'byStatus open 1']],
    ['an item that leaves the index', item('open'), item(), ['table 1 1', 'byStatus open 1']],
  ])('returns the units that %s consumes in the table and in the index', async (_, before, after, expected) => {
    expect(await loads(before, after)).toEqual(expected);
  });
});

describe('itemAfterUpdate', () => {
  const before = item('open', { n: { N: '1' } });
  const after = (UpdateExpression: string, more = {}) =>
    itemAfterUpdate(before, {
      Key: { id: { S: '1' } },
      UpdateExpression,
      ExpressionAttributeNames: { '#s': 'status' },
      ExpressionAttributeValues: { ':done': { S: 'done' }, ':one': { N: '1' } },
      ...more,
    });

  test.each([
    ['SET #s = :done', { status: { S: 'done' } }],
    ['SET n = n + :one, #s = :done', { status: { S: 'done' } }],
    ['SET #s = if_not_exists(#s, :done), other=:one', { other: { N: '1' } }],
    ['set #s=:done remove n', { status: { S: 'done' }, n: undefined }],
    ['REMOVE #s, n ADD m :one', { status: undefined, n: undefined }],
    ['ADD n :one', {}],
  ])('applies %s', (expression, changes) => {
    expect({ ...after(expression), x: undefined }).toEqual({ ...before, ...changes, x: undefined });
  });

  test('applies legacy AttributeUpdates', () => {
    const AttributeUpdates = { status: { Value: { S: 'done' } }, n: { Action: 'DELETE' } };
    expect(itemAfterUpdate(before, { Key: {}, AttributeUpdates })).toEqual({ ...item('done'), n: undefined });
  });
});

test.each<[JsonItem, number]>([
  [{ b: { B: Buffer.from('12345').toString('base64') } }, 6],
  [{ b: { BS: [Buffer.from('12345').toString('base64')] } }, 6],
  [{ B: { S: 'a' }, BS: { L: [{ S: 'a' }] } }, 9],
])('jsonItemBytes counts %j as %d bytes, because it decodes base64', (counted, bytes) => {
  expect(jsonItemBytes(counted)).toBe(bytes);
});
