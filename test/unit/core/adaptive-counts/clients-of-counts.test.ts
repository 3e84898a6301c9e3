import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import {
  AdaptiveIndex,
  DynamoDbShardCountReader,
  DynamoDbShardCountStore,
  decreaseShardCount,
  endDrain,
  InvalidArgumentError,
  increaseShardCount,
  WriteReporter,
} from '../../../../lib/core';
import { adaptiveConfig } from '../../../support/fakes/adaptive-config';

/** Writers go on with the initial counts whatever happens to their copy, so a client that never answers would not be noticed. */

const plain = new DynamoDB({ region: 'eu-west-1' });
const documents = DynamoDBDocument.from(plain);
const takers: [string, new (client: never, config: typeof adaptiveConfig) => object][] = [
  ['DynamoDbShardCountReader', DynamoDbShardCountReader],
  ['DynamoDbShardCountStore', DynamoDbShardCountStore],
  ['WriteReporter', WriteReporter],
];

describe.each(takers)('a %s', (_, Taker) => {
  test('takes a client of attribute values', () => {
    expect(() => new Taker(plain as never, adaptiveConfig)).not.toThrow();
  });

  test.each<[string, unknown]>([
    ['a DynamoDBDocument', documents],
    ['an empty object', {}],
    ['nothing', undefined],
  ])('refuses %s', (_name, client) => {
    expect(() => new Taker(client as never, adaptiveConfig)).toThrow(InvalidArgumentError);
    expect(() => new Taker(client as never, adaptiveConfig)).toThrow(/client must be a client with \w+/);
  });
});

test.each([undefined, {}, plain])('an AdaptiveIndex refuses what reads no counts: %p', (store) => {
  expect(() => new AdaptiveIndex(adaptiveConfig, store as never)).toThrow(/store must be what reads counts/);
});

describe('the counts of another index', () => {
  const byTime = { ...adaptiveConfig, indexName: 'byTime' };
  const client = { query: async () => ({ Items: [] }), putItem: async () => ({}) };
  const store = new DynamoDbShardCountStore(client, byTime);
  const why = { value: 'open', reason: 'a sale', changedBy: 'a test' };
  const message =
    'store must be a reader of the counts of the index byStatus of the table orders, got "one of byTime of orders"';

  test('are refused by an AdaptiveIndex', () => {
    expect(() => new AdaptiveIndex(adaptiveConfig, store)).toThrow(InvalidArgumentError);
    expect(() => new AdaptiveIndex(adaptiveConfig, store)).toThrow(message);
    const ofTable = new DynamoDbShardCountReader(client, { ...adaptiveConfig, tableName: 'jobs' });
    expect(() => new AdaptiveIndex(adaptiveConfig, ofTable)).toThrow('got "one of byStatus of jobs"');
  });

  test('are not changed', async () => {
    await expect(increaseShardCount(adaptiveConfig, store, { ...why, to: 2 })).rejects.toThrow(message);
    await expect(decreaseShardCount(adaptiveConfig, store, { ...why, to: 1 })).rejects.toThrow(message);
    await expect(endDrain(adaptiveConfig, store, { ...why, version: 1 })).rejects.toThrow(message);
  });

  test('are not looked for in a reader that does not say whose it has', () => {
    expect(() => new AdaptiveIndex(adaptiveConfig, { readCounts: async () => [] })).not.toThrow();
  });
});
