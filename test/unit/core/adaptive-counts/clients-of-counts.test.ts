import { DynamoDB } from '@aws-sdk/client-dynamodb';
import {
  AdaptiveIndex,
  DynamoDbShardCountReader,
  DynamoDbShardCountStore,
  decreaseShardCount,
  endDrain,
  InvalidArgumentError,
  increaseShardCount,
} from '../../../../lib/core';
import { adaptiveConfig } from '../../../support/fakes/adaptive-config';

/**
 * A writer uses the initial counts if it cannot read the counts. Without these checks, a wrong client of a writer would
 * have no visible effect.
 */

const plain = new DynamoDB({ region: 'eu-west-1' });
test.each([undefined, {}, plain])('AdaptiveIndex rejects %p as a store', (store) => {
  expect(() => new AdaptiveIndex(adaptiveConfig, store as never)).toThrow(/store must be an object with readCounts/);
});

describe('a store of the counts of another index', () => {
  const byTime = { ...adaptiveConfig, indexName: 'byTime' };
  const client = { query: async () => ({ Items: [] }), putItem: async () => ({}) };
  const store = new DynamoDbShardCountStore(client, byTime);
  const why = { value: 'open', reason: 'a sale', changedBy: 'a test' };
  const message =
    'store must be a reader of the counts of the index byStatus of the table orders, got "a reader of byTime of orders"';

  test('is rejected by AdaptiveIndex', () => {
    expect(() => new AdaptiveIndex(adaptiveConfig, store)).toThrow(InvalidArgumentError);
    expect(() => new AdaptiveIndex(adaptiveConfig, store)).toThrow(message);
    const ofTable = new DynamoDbShardCountReader(client, { ...adaptiveConfig, tableName: 'jobs' });
    expect(() => new AdaptiveIndex(adaptiveConfig, ofTable)).toThrow('got "a reader of byStatus of jobs"');
  });

  test('is rejected by every function that changes counts', async () => {
    await expect(increaseShardCount(adaptiveConfig, store, { ...why, to: 2 })).rejects.toThrow(message);
    await expect(decreaseShardCount(adaptiveConfig, store, { ...why, to: 1 })).rejects.toThrow(message);
    await expect(endDrain(adaptiveConfig, store, { ...why, version: 1 })).rejects.toThrow(message);
  });

  test('is accepted if the store does not report the name of its index', () => {
    expect(() => new AdaptiveIndex(adaptiveConfig, { readCounts: async () => [] })).not.toThrow();
  });
});
