import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import {
  AdaptiveIndex,
  DynamoDbShardCountReader,
  DynamoDbShardCountStore,
  InvalidArgumentError,
  WriteReporter,
} from '../../../lib/core';
import { adaptiveConfig } from '../../fakes/adaptive-config';

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
