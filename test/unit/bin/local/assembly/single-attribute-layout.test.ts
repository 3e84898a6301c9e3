import { inSingleAttributes, withLayoutOfThisRun } from '../../../../../bin/local/assembly/single-attribute-layout';
import type { TableProperties } from '../../../../../bin/local/assembly/table-definition';

const definition = (AttributeName: string, AttributeType: 'S' | 'N' = 'S') => ({ AttributeName, AttributeType });
const hash = (AttributeName: string) => ({ AttributeName, KeyType: 'HASH' as const });
const range = (AttributeName: string) => ({ AttributeName, KeyType: 'RANGE' as const });

const ALL = { Projection: { ProjectionType: 'ALL' as const } };

const ORDERS: TableProperties = {
  KeySchema: [hash('orderId')],
  AttributeDefinitions: ['orderId', 'status', 'createdAt']
    .map((name) => definition(name))
    .concat(definition('shard', 'N')),
  GlobalSecondaryIndexes: [
    { ...ALL, IndexName: 'byStatus', KeySchema: [hash('status'), hash('shard'), range('createdAt')] },
  ],
};
const BY_STATUS = {
  keyLayout: 'multi-attribute',
  valueAttribute: 'status',
  shardAttribute: 'shard',
  sortKeyAttributes: ['createdAt'],
};

describe('a table on dynalite', () => {
  test('has a sharded index by value and shard in one attribute, of text', () => {
    expect(inSingleAttributes(ORDERS, { byStatus: BY_STATUS })).toEqual({
      converted: ['byStatus'],
      properties: {
        KeySchema: [hash('orderId')],
        AttributeDefinitions: [definition('orderId'), definition('createdAt'), definition('shard')],
        GlobalSecondaryIndexes: [{ ...ALL, IndexName: 'byStatus', KeySchema: [hash('shard'), range('createdAt')] }],
      },
    });
  });

  test('keeps the definition of an attribute that another index needs', () => {
    const indexes = [...ORDERS.GlobalSecondaryIndexes!, { ...ALL, IndexName: 'plain', KeySchema: [hash('status')] }];
    const { properties } = inSingleAttributes({ ...ORDERS, GlobalSecondaryIndexes: indexes }, { byStatus: BY_STATUS });
    expect(properties.AttributeDefinitions).toContainEqual(definition('status'));
    expect(properties.GlobalSecondaryIndexes).toContainEqual(indexes[1]);
  });

  test.each([
    ['nothing is said of it', undefined],
    ['its metadata is something else', { byStatus: null }],
    ['it has another key than is said', { byStatus: { ...BY_STATUS, valueAttribute: 'customer' } }],
    ['it has a tie-breaker', { byStatus: { ...BY_STATUS, sortKeyAttributes: ['createdAt', 'orderId'] } }],
  ])('has an index as it is declared if %s', (_, described) => {
    expect(inSingleAttributes(ORDERS, described)).toEqual({ converted: [], properties: ORDERS });
  });
});

describe('a variable of a function', () => {
  const config = { tableName: 'Orders', indexName: 'byStatus', ...BY_STATUS };
  const isConverted = (tableName: string, indexName: string) => tableName === 'Orders' && indexName === 'byStatus';

  test.each([
    ['of an index', (value: object) => value],
    ['of many indexes', (value: object) => ({ byStatus: value })],
    ['of an index within something else', (value: object) => ({ readers: [{ index: value }] })],
  ])('%s names the layout of this run, and nothing else changes', (_, around) => {
    const variable = JSON.stringify(around(config));
    const converted = JSON.stringify(around({ ...config, keyLayout: 'single-attribute' }));
    expect(withLayoutOfThisRun(variable, isConverted)).toBe(converted);
  });

  test.each([
    ['an index that is not converted', JSON.stringify({ ...config, indexName: 'byCustomer' })],
    ['text that is no JSON', '"keyLayout":"multi-attribute"'],
  ])('of %s stays', (_, variable) => {
    const compact = variable.replaceAll('{ "a": "multi-attribute" }', '{"a":"multi-attribute"}');
    expect(withLayoutOfThisRun(compact, isConverted)).toBe(compact);
  });
});
