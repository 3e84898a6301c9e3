import {
  inSingleAttributes,
  type TableProperties,
  withLayoutOfThisRun,
} from '../../../../../bin/local/assembly/single-attribute-layout';

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
  LocalSecondaryIndexes: [],
};
const BY_STATUS = {
  keyLayout: 'multi-attribute',
  valueAttribute: 'status',
  shardAttribute: 'shard',
  sortKeyAttributes: ['createdAt'],
};

describe('a table on dynalite', () => {
  test('has, for each sharded index, one text attribute that contains the value and the shard', () => {
    expect(inSingleAttributes(ORDERS, { byStatus: BY_STATUS })).toEqual({
      converted: ['byStatus'],
      properties: {
        KeySchema: [hash('orderId')],
        AttributeDefinitions: [definition('orderId'), definition('createdAt'), definition('shard')],
        GlobalSecondaryIndexes: [{ ...ALL, IndexName: 'byStatus', KeySchema: [hash('shard'), range('createdAt')] }],
        LocalSecondaryIndexes: [],
      },
    });
  });

  test('keeps the definition of a replaced attribute if another index needs it', () => {
    const indexes = [...ORDERS.GlobalSecondaryIndexes, { ...ALL, IndexName: 'plain', KeySchema: [hash('status')] }];
    const { properties } = inSingleAttributes({ ...ORDERS, GlobalSecondaryIndexes: indexes }, { byStatus: BY_STATUS });
    expect(properties.AttributeDefinitions).toContainEqual(definition('status'));
    expect(properties.GlobalSecondaryIndexes).toContainEqual(indexes[1]);
  });

  test.each([
    ['it has no metadata', undefined],
    ['its metadata is malformed', { byStatus: null }],
    ['its key differs from the metadata', { byStatus: { ...BY_STATUS, valueAttribute: 'customer' } }],
    ['it has a tie-breaker', { byStatus: { ...BY_STATUS, sortKeyAttributes: ['createdAt', 'orderId'] } }],
  ])('keeps the index as the app declares it if %s', (_, described) => {
    expect(inSingleAttributes(ORDERS, described)).toEqual({ converted: [], properties: ORDERS });
  });
});

describe('an environment variable', () => {
  const config = { tableName: 'Orders', indexName: 'byStatus', ...BY_STATUS };
  const isConverted = (tableName: string, indexName: string) => tableName === 'Orders' && indexName === 'byStatus';

  test.each([
    ['of an index', (value: object) => value],
    ['of many indexes', (value: object) => ({ byStatus: value })],
    ['of a nested index', (value: object) => ({ readers: [{ index: value }] })],
  ])('with the configuration %s gets the key layout of the local run, and no other change', (_, around) => {
    const variable = JSON.stringify(around(config));
    const converted = JSON.stringify(around({ ...config, keyLayout: 'single-attribute' }));
    expect(withLayoutOfThisRun(variable, isConverted)).toBe(converted);
  });

  test.each([
    ['an index that is not converted', JSON.stringify({ ...config, indexName: 'byCustomer' })],
    ['a text that is not JSON', '"keyLayout":"multi-attribute"'],
  ])('with %s does not change', (_, variable) => {
    const compact = variable.replaceAll('{ "a": "multi-attribute" }', '{"a":"multi-attribute"}');
    expect(withLayoutOfThisRun(compact, isConverted)).toBe(compact);
  });
});
