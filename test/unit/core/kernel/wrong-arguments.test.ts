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

const why = { value: 'open', reason: 'the season is over', changedBy: 'a test' };
const store = () => new FakeCountTable().store();

test.each<[message: string, call: () => unknown]>([
  [
    'client must be a client with putRecords, such as new Kinesis({}), got null',
    () => new OrderedProducer(null as never, { streamName: 'Events' }),
  ],
  ['options must be made of streamName, streamArn, aggregation, ', () => producer({ agregation: true })],
  ['signal must be an AbortSignal or absent, got {}', () => producer({ signal: {} })],
  ['client must be a client with putRecords', () => lightPutClient({} as never)],
  ['kinesis must be a client of the AWS SDK, such as new Kinesis({})', () => lightPutClient(client as never)],
  ['partitionKey must be a string, got 5', () => bucketHashKey(5 as never, 256)],
  [
    'change must be made of value, to, reason, changedBy (options are the next argument), got "longestWriteMs"',
    () => decreaseShardCount(adaptiveConfig, store(), { to: 2, ...why, longestWriteMs: 0 } as never),
  ],
  [
    'change must be made of value, to, reason, changedBy',
    () => increaseShardCount(adaptiveConfig, store(), { to: 2, ...why, clock: undefined } as never),
  ],
  [
    'change must be made of value, version, reason, changedBy',
    () => endDrain(adaptiveConfig, store(), { version: 1, to: 2, ...why } as never),
  ],
  [
    'signal must be an AbortSignal or absent, got {}',
    () => findStrays({ scan: async () => ({}) } as never, indexConfig(), { signal: {} } as never),
  ],
])('a wrong argument is rejected with a typed error: %s', async (message, call) => {
  await expect(async () => call()).rejects.toThrow(`[INVALID_ARGUMENT] ${message}`);
});
