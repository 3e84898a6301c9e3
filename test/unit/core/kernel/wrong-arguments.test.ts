import {
  bucketHashKey,
  decreaseShardCount,
  endDrain,
  findStrays,
  increaseShardCount,
  lightPutClient,
  OrderedProducer,
  type OrderedProducerOptions,
} from '../../../../lib/core';
import { adaptiveConfig } from '../../../support/fakes/adaptive-config';
import { FakeCountTable } from '../../../support/fakes/fake-count-table';
import { indexConfig } from '../../../support/index-config';

/** Mistakes of callers in plain JavaScript, which have no type checker. */

const client = { putRecords: async () => ({}) };
const producer = (options: object) =>
  new OrderedProducer(client, { streamName: 'Events', ...options } as OrderedProducerOptions);

test.each<[string, () => unknown, string]>([
  [
    'a producer without a client',
    () => new OrderedProducer(null as never, { streamName: 'Events' }),
    'client must be a client with putRecords, such as new Kinesis({}), got null',
  ],
  [
    'a producer with a misspelled option',
    () => producer({ agregation: true }),
    'options must be made of streamName, streamArn, aggregation, ',
  ],
  [
    'a producer with an object that is not a signal',
    () => producer({ signal: {} }),
    'signal must be an AbortSignal or absent, got {}',
  ],
  ['a light client of an object', () => lightPutClient({} as never), 'client must be a client with putRecords'],
  [
    'a light client of another client',
    () => lightPutClient(client as never),
    'kinesis must be a client of the AWS SDK, such as new Kinesis({})',
  ],
  ['a bucket of a number', () => bucketHashKey(5 as never, 256), 'partitionKey must be a string, got 5'],
])('%s is rejected with a typed error', (_, call, message) => {
  expect(call).toThrow(`[INVALID_ARGUMENT] ${message}`);
});

const why = { value: 'open', reason: 'the season is over', changedBy: 'a test' };
const store = () => new FakeCountTable().store();

test.each<[string, () => Promise<unknown>, string]>([
  [
    'decreaseShardCount with an option in the argument of the change',
    () => decreaseShardCount(adaptiveConfig, store(), { to: 2, ...why, longestWriteMs: 0 } as never),
    'change must be made of value, to, reason, changedBy (options are the next argument), got "longestWriteMs"',
  ],
  [
    'increaseShardCount with an option in the argument of the change',
    () => increaseShardCount(adaptiveConfig, store(), { to: 2, ...why, clock: undefined } as never),
    'change must be made of value, to, reason, changedBy',
  ],
  [
    'endDrain with a count',
    () => endDrain(adaptiveConfig, store(), { version: 1, to: 2, ...why } as never),
    'change must be made of value, version, reason, changedBy',
  ],
  [
    'findStrays with an object that is not a signal',
    () => findStrays({ scan: async () => ({}) } as never, indexConfig(), { signal: {} } as never),
    'signal must be an AbortSignal or absent, got {}',
  ],
])('%s is rejected with a typed error', async (_, call, message) => {
  await expect(call()).rejects.toThrow(`[INVALID_ARGUMENT] ${message}`);
});
