import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { boundValues } from '../../../../lambda/bound-values';
import { parseQueryEvent } from '../../../../lambda/query-fanout/query-event';
import { ValueNotAllowedError } from '../../../../lambda/value-not-allowed-error';
import { FanOutQueryFunction, ShardCounts, ShardedTable } from '../../../../lib';
import { fanOutCount, fanOutQuery, type ShardedIndexConfig } from '../../../../lib/core';
import { type AllowedValues, checkAllowedValues } from '../../../../lib/core/contract/allowed-values';
import { ItemSizes } from '../../../../lib/core/fan-out/item-sizes';
import { encodeCursor } from '../../../../lib/core/sharded-index/query/cursor';
import { FakeIndex } from '../../../support/fakes/fake-index';
import { invoiceTable } from '../../../support/fakes/invoice-table';
import { indexConfig } from '../../../support/index-config';

const byTenant = indexConfig({ indexName: 'byTenant', shards: { default: { write: 2, read: 2 } } });
const byOwner: ShardedIndexConfig = { ...byTenant, indexName: 'byOwner', keyLayout: 'single-attribute' };
const byTime: ShardedIndexConfig = { ...byTenant, indexName: 'byTime', valueAttribute: undefined };
const { indexName, ...ofTable } = byOwner;
const invoices = { ...ofTable, valueAttribute: 'shard', shardedBy: ['jobId'], separator: '-', firstShard: 1 } as never;

/** The environment variable that the construct sets for these values. */
function variableFor(values: (string | number)[]): string {
  const stack = new Stack(new App(), 'Stack');
  const id = { name: 'id', type: AttributeType.STRING };
  const index = new ShardedTable(stack, 'Table', { partitionKey: id }).addShardedIndex({
    indexName: 'byTenant',
    valueAttribute: { name: 'tenant', type: AttributeType.STRING },
    shardCounts: ShardCounts.uniform(2),
  });
  new FanOutQueryFunction(stack, 'Query', { indexes: [index], tables: [invoiceTable(stack)], values });
  const [query] = Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function'));
  return query!.Properties.Environment.Variables.EVEN_SHARDS_VALUES;
}

/** The event parser of a function that the construct has bound to these values. */
function parserFor(values: (string | number)[]) {
  const stores = {
    indexes: { byTenant, byOwner, byTime },
    tables: { Invoices: invoices },
    values: boundValues<AllowedValues>(variableFor(values), checkAllowedValues),
  };
  return (event: object) => parseQueryEvent(stores, event);
}

const NUMBERS = [1, -0.5, 9007199254740991];

describe('a query function with a list of allowed values', () => {
  const parse = parserFor(['a', '1b', ...NUMBERS]);

  test.each<object>([
    { index: 'byTenant', value: 'a' },
    { index: 'byTenant', values: ['a', '1b', 1] },
    { index: 'byOwner', value: 'a', cursor: 'anything', filterExpression: '#a = :a' },
    { index: 'byTenant', value: 1 },
    { index: 'byTenant', value: { N: '1.0' } },
    { index: 'byTenant', value: { N: '-5e-1' } },
    { table: 'Invoices', value: 'a' },
  ])('accepts %j', (event) => {
    expect(parse(event).request).toMatchObject({});
  });

  test.each<[object, string]>([
    [{ index: 'byTenant', value: 'a#b' }, 'value'],
    [{ index: 'byTenant', value: '1' }, 'value'],
    [{ index: 'byTenant', value: { N: '2' } }, 'value'],
    [{ index: 'byTenant', value: { S: 'a' } }, 'value'],
    [{ index: 'byTenant' }, 'value'],
    [{ index: 'byTime' }, 'value'],
    [{ table: 'Invoices', value: 'b' }, 'value'],
    [{ index: 'byTenant', value: 'b', select: 'count' }, 'value'],
    [{ index: 'byTenant', values: ['a', 'b'] }, 'values[1]'],
    [{ index: 'byTenant', values: 'a' }, 'values'],
    [{ index: 'byTenant', value: 'b', values: ['a'] }, 'value'],
    [{ index: 'byTenant', value: 'a', values: ['b'] }, 'values[0]'],
  ])('rejects %j before the first read', (event, field) => {
    expect(() => parse(event)).toThrow(ValueNotAllowedError);
    expect(() => parse(event)).toThrow(`[VALUE_NOT_ALLOWED] ${field} must be one of the values`);
  });

  test('returns an error that does not contain the allowed values', () => {
    expect(() => parse({ index: 'byTenant', value: 'b' })).not.toThrow(/1b|9007199254740991/);
  });
});

test.each([1, '1'])(
  'a function that allows only the value %j rejects the same value with the other type, text or number',
  (value) => {
    const parse = parserFor([value]);
    const other = typeof value === 'number' ? '1' : 1;
    expect(parse({ index: 'byTenant', value }).request.value).toBe(value);
    expect(() => parse({ index: 'byTenant', value: other })).toThrow(ValueNotAllowedError);
  },
);

test.each(['', '[]', '["a","a"]', '[1,1.0]', 'null'])(
  'a function whose variable contains %j does not start',
  (variable) => {
    expect(() => boundValues<AllowedValues>(variable, checkAllowedValues)).toThrow('EVEN_SHARDS_VALUES');
  },
);

test('a function without the variable of allowed values accepts any value', () => {
  expect(boundValues<AllowedValues>(undefined, checkAllowedValues)).toBeUndefined();
});

describe.each(['multi-attribute', 'single-attribute'] as const)('a forged cursor – %s layout', (keyLayout) => {
  const config: ShardedIndexConfig = { ...byTenant, keyLayout };
  const index = new FakeIndex(config);
  for (const tenant of ['a', 'a#b']) {
    for (let number = 0; number < 6; number++) {
      const shard = number % 2;
      index.put({
        jobId: { S: `${tenant} ${number}` },
        status: { S: tenant },
        shard: keyLayout === 'multi-attribute' ? { N: String(shard) } : { S: `${tenant}#${shard}` },
        createdAt: { N: String(number) },
      });
    }
  }

  test.each(['ascending', 'descending', 'unordered'] as const)(
    'with the key of an item of another tenant – %s – returns no item of the other tenant',
    async (order) => {
      const request = { value: 'a', order };
      const key = { jobId: { S: 'a#b 2' }, createdAt: { N: '2' }, status: { S: 'a#b' }, shard: { S: 'a#b#0' } };
      const learned = { sizes: new ItemSizes(), stretch: 1 };
      const cursor = encodeCursor(config, request, { shard: 0, item: key }, [0], learned);
      const { items } = await fanOutQuery(index, config, { ...request, cursor });
      expect(items.length).toBeGreaterThan(0);
      expect(items.map(({ status }) => status)).toEqual(items.map(() => ({ S: 'a' })));
    },
  );

  test('is rejected by fanOutCount', async () => {
    await expect(fanOutCount(index, config, { value: 'a', cursor: 'x' })).rejects.toMatchObject({
      code: 'INVALID_CURSOR',
    });
  });
});
