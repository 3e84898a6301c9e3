import {
  AdaptiveIndex,
  CorruptShardCountError,
  type DynamoDbItem,
  DynamoDbShardCountReader,
  DynamoDbShardCountStore,
  type IndexQueryInput,
  type IndexQueryOutput,
  ShardCountsUnavailableError,
} from '../../../../lib/core';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { adaptiveConfig } from '../../../support/fakes/adaptive-config';

const GOOD = {
  index: { S: 'orders/byStatus' },
  value: { S: '=open' },
  write: { N: '4' },
  read: { N: '6' },
  version: { N: '3' },
  commit: { S: 'c' },
  changedBy: { S: 'somebody' },
  changedAt: { S: '2026-11-21T12:00:00.000Z' },
  reason: { S: 'busy' },
};

const texts = { commit: 'c', changedBy: 'somebody', changedAt: '2026-11-21T12:00:00.000Z', reason: 'busy' };

const storeOf = (...pages: unknown[]) => {
  const query = async () => (pages.length > 1 ? pages.shift() : pages[0]) as IndexQueryOutput;
  return new DynamoDbShardCountStore({ query, putItem: async () => ({}) }, adaptiveConfig);
};
const storeWith = (...items: unknown[]) => storeOf({ Items: items });

const damaged: [string, unknown][] = [
  ['null in place of an item', null],
  ['an item without attributes', {}],
  ['a value without its prefix', { ...GOOD, value: { S: 'open' } }],
  ['a write count above the read count', { ...GOOD, write: { N: '7' } }],
  ['a write count of 0', { ...GOOD, write: { N: '0' } }],
  ['a read count above 10,000', { ...GOOD, read: { N: '10001' } }],
  ['a read count with an exponent', { ...GOOD, read: { N: '1e1' } }],
  ['a fraction as version', { ...GOOD, version: { N: '1.5' } }],
  ...Object.keys(GOOD)
    .filter((name) => name !== 'index')
    .map((name): [string, unknown] => [`no ${name}`, { ...GOOD, [name]: undefined }]),
];

test('readCount returns the stored counts', async () => {
  expect(await storeWith(GOOD).readCount('open')).toMatchObject({ value: 'open', write: 4, read: 6, version: 3 });
  expect(await storeWith({ ...GOOD, read: { N: '10000' } }).readCount('open')).toMatchObject({ read: 10_000 });
  expect(await storeWith({ ...GOOD, value: { S: '*' } }).readCounts()).toMatchObject([{ value: undefined }]);
});

test.each(damaged)('readCount throws CorruptShardCountError for %s', async (_, item) => {
  await expect(storeWith(item).readCount('open')).rejects.toThrow(CorruptShardCountError);
});

test('an index with damaged counts rejects reads, and writes with the initial counts', async () => {
  const clock = new VirtualClock();
  const reader = new DynamoDbShardCountReader(
    { query: async () => ({ Items: [GOOD, null] }) } as never,
    adaptiveConfig,
  );
  const index = new AdaptiveIndex(adaptiveConfig, reader, { clock, timeOfDay: () => 0 });
  const failure = await clock.runUntil(index.forReading().catch((error) => error));
  expect(failure).toBeInstanceOf(ShardCountsUnavailableError);
  expect(failure.cause).toBeInstanceOf(CorruptShardCountError);
  expect(await index.forWriting()).toBe(index.initial);
});

test('writeCount writes the first count of a value only if no count is stored, and a later count only in place of the previous version', async () => {
  const sent: object[] = [];
  const failures: (Error | undefined)[] = [
    undefined,
    undefined,
    Object.assign(new Error('refused'), { name: 'ConditionalCheckFailedException' }),
    new Error('throttled'),
  ];
  const putItem = async ({ Item: _item, ...condition }: { Item: object }) => {
    sent.push(condition);
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
  };
  const store = new DynamoDbShardCountStore({ query: async () => ({}), putItem } as never, adaptiveConfig);
  const write = (expected: number) =>
    store.writeCount({ ...texts, value: 'open', write: 1, read: 2, version: expected + 1 }, expected);
  expect([await write(0), await write(1), await write(1)]).toEqual([true, true, false]);
  await expect(write(1)).rejects.toThrow('throttled');
  const common = { TableName: 'counts', ExpressionAttributeNames: { '#version': 'version' } };
  expect(sent.slice(0, 2)).toEqual([
    { ...common, ConditionExpression: 'attribute_not_exists(#version)' },
    { ...common, ConditionExpression: '#version = :version', ExpressionAttributeValues: { ':version': { N: '1' } } },
  ]);
});

test.each([
  ['open', '=open'],
  ['*', '=*'],
  ['', '='],
  [undefined, '*'],
])('the item key of the value %j is %j, so that no value has the key of the whole table', async (value, key) => {
  const keys: unknown[] = [];
  const client = {
    query: async ({ ExpressionAttributeValues: values }: IndexQueryInput) => {
      keys.push(values![':value']);
      return { Items: [] } as IndexQueryOutput;
    },
    putItem: async ({ Item }: { Item: DynamoDbItem }) => void keys.push(Item.value),
  };
  const store = new DynamoDbShardCountStore(client as never, adaptiveConfig);
  await store.readCount(value);
  await store.writeCount({ ...texts, value, write: 1, read: 2, version: 1 }, 0);
  expect(keys).toEqual([{ S: key }, { S: key }]);
});
