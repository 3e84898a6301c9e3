import { deliverMessages, deliverRecords } from '../../../lambda/producer/deliver';
import type { SourceMessage } from '../../../lambda/producer/event-source';
import { OrderedProducer, type PutRecordsRequestEntry } from '../../../lib/core';
import { type EntryFate, FakeKinesis, type RequestFate } from '../../../lib/testing/fake-kinesis';
import { VirtualClock } from '../../../lib/testing/virtual-clock';

function setUp(fates: Record<string, EntryFate> = {}, requestFate?: () => RequestFate) {
  const clock = new VirtualClock();
  const entryFate = ({ Data }: PutRecordsRequestEntry) => fates[Buffer.from(Data).toString()] ?? 'stored';
  const kinesis = new FakeKinesis({ clock, entryFate, requestFate });
  return { clock, kinesis, producer: new OrderedProducer(kinesis, { streamName: 'Events', clock, maxAttempts: 2 }) };
}

const record = (name: string) => ({ partitionKey: name[0]!, data: Buffer.from(name) });

/** A message like `a1`: key a, data a1. One that starts with an upper-case letter cannot be read. */
const message = (name: string): SourceMessage => ({
  identifier: name,
  orderingKeys: [name[0]!.toLowerCase()],
  record: name[0] === name[0]!.toLowerCase() ? record(name) : new Error('unreadable'),
});

describe('deliverRecords', () => {
  test('answers index for index', async () => {
    const { clock, producer } = setUp({ a2: 'refused' });
    const response = await clock.runUntil(deliverRecords(producer, ['a1', 'a2', 'b1', 'a3'].map(record)));
    expect(response).toEqual({
      records: [
        { shardId: 'shardId-000000000000', sequenceNumber: '0', attempts: 1 },
        {
          errorCode: 'RECORD_REJECTED',
          errorMessage: 'rejected after 1 attempt(s): InvalidArgumentException: refused',
        },
        { shardId: 'shardId-000000000000', sequenceNumber: '1', attempts: 1 },
        {
          errorCode: 'EARLIER_RECORD_FAILED',
          errorMessage: 'not sent: an earlier record of the same partition key failed',
        },
      ],
      failedRecordCount: 2,
    });
  });

  test('says where a record may have been written though its answer was lost', async () => {
    const { clock, kinesis, producer } = setUp({}, () => 'answer lost');
    const response = await clock.runUntil(deliverRecords(producer, ['a1', 'a2'].map(record)));
    expect(response.records).toEqual([
      { errorCode: 'RECORD_REJECTED', errorMessage: expect.any(String), mayHaveBeenWritten: true },
      { errorCode: 'EARLIER_RECORD_FAILED', errorMessage: expect.any(String) },
    ]);
    expect(kinesis.dataOf('a')).toEqual(['a1', 'a1']);
  });

  test('keeps its messages short, for Lambda takes back 6 MB at most', async () => {
    const client = {
      putRecords: () =>
        Promise.reject(Object.assign(new Error('x'.repeat(5_000)), { $metadata: { httpStatusCode: 400 } })),
    };
    const { records } = await deliverRecords(new OrderedProducer(client, { streamName: 'Events' }), [record('a1')]);
    expect(JSON.stringify(records).length).toBeLessThan(400);
  });

  test('answers an empty event', async () => {
    const { producer } = setUp();
    expect(await deliverRecords(producer, [])).toEqual({ records: [], failedRecordCount: 0 });
  });
});

describe('deliverMessages', () => {
  const failures = (names: string[]) => ({ batchItemFailures: names.map((itemIdentifier) => ({ itemIdentifier })) });

  test('reports nothing when everything was delivered', async () => {
    const { clock, kinesis, producer } = setUp();
    expect(await clock.runUntil(deliverMessages(producer, ['a1', 'b1', 'a2'].map(message)))).toEqual(failures([]));
    expect(kinesis.dataOf('a')).toEqual(['a1', 'a2']);
  });

  test('reports a failed message and every later one of its key, none of which is sent', async () => {
    const { clock, kinesis, producer } = setUp({ a2: 'throttled' });
    const names = ['a1', 'a2', 'b1', 'a3', 'b2', 'a4'];
    const response = await clock.runUntil(deliverMessages(producer, names.map(message)));
    expect(response).toEqual(failures(['a2', 'a3', 'a4']));
    expect(kinesis.dataOf('a')).toEqual(['a1']);
    expect(kinesis.dataOf('b')).toEqual(['b1', 'b2']);
  });

  test('blocks every key of an unreadable message, and what those messages would have blocked', async () => {
    const { clock, kinesis, producer } = setUp();
    const messages = [
      { ...message('A1'), orderingKeys: ['group', 'a'] },
      { ...message('a2'), orderingKeys: ['other group', 'a'] },
      { ...message('b1'), orderingKeys: ['other group', 'b'] },
      { ...message('c1'), orderingKeys: ['third group', 'c'] },
    ];
    expect(await clock.runUntil(deliverMessages(producer, messages))).toEqual(failures(['A1', 'a2', 'b1']));
    expect(kinesis.allData()).toEqual(['c1']);
  });

  test('reports an unreadable message and every later one of its key, none of which is sent', async () => {
    const { clock, kinesis, producer } = setUp();
    const names = ['a1', 'A2', 'b1', 'a3'];
    expect(await clock.runUntil(deliverMessages(producer, names.map(message)))).toEqual(failures(['A2', 'a3']));
    expect(kinesis.dataOf('a')).toEqual(['a1']);
    expect(kinesis.dataOf('b')).toEqual(['b1']);
  });

  test('reports one too large for its number too, and every later one of its key, none of which is sent', async () => {
    const clock = new VirtualClock();
    const kinesis = new FakeKinesis({ clock });
    const producer = new OrderedProducer(kinesis, {
      streamName: 'Events',
      clock,
      sequence: true,
      maxRecordBytes: 1_000,
    });
    const tooLarge = { ...message('a2'), record: { partitionKey: 'a', data: Buffer.alloc(999) } };
    const messages = [message('a1'), tooLarge, message('b1'), message('a3')];
    expect(await clock.runUntil(deliverMessages(producer, messages))).toEqual(failures(['a2', 'a3']));
  });

  test('reports what was not sent in time', async () => {
    const clock = new VirtualClock();
    const producer = new OrderedProducer(new FakeKinesis({ clock }), {
      streamName: 'Events',
      clock,
      signal: AbortSignal.abort(),
    });
    expect(await clock.runUntil(deliverMessages(producer, ['a1', 'b1'].map(message)))).toEqual(failures(['a1', 'b1']));
  });
});
