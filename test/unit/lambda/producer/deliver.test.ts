import fc from 'fast-check';
import { InvalidEventError } from '../../../../lambda/invalid-event-error';
import { deliverMessages, deliverRecords } from '../../../../lambda/producer/deliver';
import type { SourceMessage } from '../../../../lambda/producer/event-source';
import { FailureTally } from '../../../../lambda/producer/failure-tally';
import { OwnerKeyError } from '../../../../lambda/producer/owner-key-error';
import {
  InvalidArgumentError,
  OrderedProducer,
  type PutRecordsRequestEntry,
  RecordRejectedError,
} from '../../../../lib/core';
import { type EntryFate, FakeKinesis, type RequestFate } from '../../../../lib/testing/fake-kinesis';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';

function setUp(fates: Record<string, EntryFate> = {}, requestFate?: () => RequestFate) {
  const clock = new VirtualClock();
  const entryFate = ({ Data }: PutRecordsRequestEntry) => fates[Buffer.from(Data).toString()] ?? 'stored';
  const kinesis = new FakeKinesis({ clock, entryFate, requestFate });
  return { clock, kinesis, producer: new OrderedProducer(kinesis, { streamName: 'Events', clock, maxAttempts: 2 }) };
}

const record = (name: string) => ({ partitionKey: name[0]!, data: Buffer.from(name) });

/**
 * A message by its name: `a1` has the key a and the data a1. If the first letter is upper-case, the message is
 * unreadable.
 */
const message = (name: string): SourceMessage => ({
  identifier: name,
  orderingKeys: [name[0]!.toLowerCase()],
  record: name[0] === name[0]!.toLowerCase() ? record(name) : new Error('unreadable'),
});

describe('deliverRecords', () => {
  test('returns a receipt or an error for each record, in the order of the records', async () => {
    const { clock, producer } = setUp({ a2: 'refused' });
    const response = await clock.runUntil(
      deliverRecords(producer, ['a1', 'a2', 'b1', 'a3'].map(record), new FailureTally()),
    );
    expect(response).toEqual({
      records: [
        { shardId: 'shardId-000000000000', sequenceNumber: '0', attempts: 1 },
        {
          errorCode: 'RECORD_REJECTED',
          errorMessage: '[RECORD_REJECTED] rejected after 1 attempt(s): InvalidArgumentException: refused',
        },
        { shardId: 'shardId-000000000000', sequenceNumber: '1', attempts: 1 },
        {
          errorCode: 'EARLIER_RECORD_FAILED',
          errorMessage: '[EARLIER_RECORD_FAILED] not sent: an earlier record of the same partition key failed',
        },
      ],
      failedRecordCount: 2,
    });
  });

  test('sets mayHaveBeenWritten for a record whose response was lost', async () => {
    const { clock, kinesis, producer } = setUp({}, () => 'answer lost');
    const response = await clock.runUntil(deliverRecords(producer, ['a1', 'a2'].map(record), new FailureTally()));
    expect(response.records).toEqual([
      { errorCode: 'RECORD_REJECTED', errorMessage: expect.any(String), mayHaveBeenWritten: true },
      { errorCode: 'EARLIER_RECORD_FAILED', errorMessage: expect.any(String) },
    ]);
    expect(kinesis.dataOf('a')).toEqual(['a1', 'a1']);
  });

  test('shortens error messages, because a Lambda response has at most 6 MB', async () => {
    const client = {
      putRecords: () =>
        Promise.reject(Object.assign(new Error('x'.repeat(5_000)), { $metadata: { httpStatusCode: 400 } })),
    };
    const { records } = await deliverRecords(
      new OrderedProducer(client, { streamName: 'Events' }),
      [record('a1')],
      new FailureTally(),
    );
    expect(JSON.stringify(records).length).toBeLessThan(400);
  });
});

describe('deliverRecords when the time of the invocation ends', () => {
  test('returns OUT_OF_TIME for records that the producer has not sent', async () => {
    const clock = new VirtualClock();
    const abort = new AbortController();
    clock.schedule(() => abort.abort(), 210);
    const producer = new OrderedProducer(new FakeKinesis({ clock }), {
      streamName: 'Events',
      clock,
      signal: abort.signal,
      maxBufferedRecords: 400,
    });
    const tally = new FailureTally();
    const records = Array.from({ length: 1_000 }, () => record('a'));
    const response = await clock.runUntil(deliverRecords(producer, records, tally));
    expect(clock.nowMs).toBe(220);
    expect(response.failedRecordCount).toBe(989);
    expect(response.records.slice(11)).toEqual(
      Array(989).fill({ errorCode: 'OUT_OF_TIME', errorMessage: expect.stringContaining('about to end') }),
    );
    expect(tally.counts).toEqual({ OUT_OF_TIME: 989 });
  });
});

describe('FailureTally', () => {
  const logged = jest.spyOn(console, 'warn').mockImplementation(() => {});
  afterEach(() => logged.mockClear());
  afterAll(() => logged.mockRestore());

  test('counts failed records by error code, including unreadable messages and the later records of their key', async () => {
    const { clock, producer } = setUp({ b1: 'throttled' });
    const tally = new FailureTally();
    const names = ['a1', 'A2', 'a3', 'b1', 'b2', 'c1'];
    const messages = names.map(message);
    messages[1]!.record = new InvalidEventError('body', '17 characters', 'a record as a JSON object');
    await clock.runUntil(deliverMessages(producer, messages, tally));
    expect(tally.total).toBe(4);
    tally.log();
    expect(logged.mock.calls).toEqual([
      [
        {
          message: 'records failed',
          failed: 4,
          counts: { INVALID_EVENT: 1, EARLIER_RECORD_FAILED: 2, RECORD_REJECTED: 1 },
          samples: {
            INVALID_EVENT: 'body must be a record as a JSON object',
            EARLIER_RECORD_FAILED: 'not sent: an earlier record of the same partition key failed',
            RECORD_REJECTED: 'rejected after 2 attempt(s): ProvisionedThroughputExceededException',
          },
        },
      ],
    ]);
  });

  test.each<[string, Error]>([
    ['a check', new InvalidArgumentError('partitionKey', 'secret-key', 'a string')],
    ['the service', new RecordRejectedError('ValidationException', "Value 'secret-key' at 'partitionKey'", 1)],
    ['the runtime', new TypeError('cannot read secret-key')],
  ])('logs an error of %s without the key and the data of the record', (_, error) => {
    const tally = new FailureTally();
    tally.add(error);
    tally.log();
    expect(JSON.stringify(logged.mock.calls)).not.toContain('secret-key');
    expect(logged).toHaveBeenCalledTimes(1);
  });

  test('logs nothing if no record failed', () => {
    new FailureTally().log();
    expect(logged).not.toHaveBeenCalled();
  });
});

describe('deliverRecords without the hash key of one owner', () => {
  const busy = new OwnerKeyError('REGISTRY_BUSY', 'the registry did not return a hash key', {
    isRetryable: true,
    summary: 'the registry did not return a hash key',
  });

  test('returns an error for the records of this owner and for later records of the same partition keys, and delivers the other records', async () => {
    const { clock, kinesis, producer } = setUp();
    const records = [record('a1'), { ...record('b1'), ownerKeyError: busy }, record('b2'), record('a2')];
    const response = await clock.runUntil(deliverRecords(producer, records, new FailureTally()));
    expect(response).toMatchObject({
      failedRecordCount: 2,
      records: [
        { attempts: 1 },
        { errorCode: 'REGISTRY_BUSY', isRetryable: true },
        { errorCode: 'EARLIER_RECORD_FAILED' },
        { attempts: 1 },
      ],
    });
    expect(kinesis.allData()).toEqual(['a1', 'a2']);
  });
});

describe('deliverMessages of a FIFO queue', () => {
  const inGroup = (group: string, name: string): SourceMessage => ({
    ...message(name),
    orderingKeys: [`group ${group}`, name[0]!.toLowerCase()],
  });

  test('sends several message groups in one request if each group has one partition key', async () => {
    const { clock, kinesis, producer } = setUp();
    const put = jest.spyOn(kinesis, 'putRecords');
    const messages = ['a1', 'b1', 'c1'].map((name) => inGroup(name[0]!, name));
    await clock.runUntil(deliverMessages(producer, messages, new FailureTally()));
    expect(put).toHaveBeenCalledTimes(1);
  });

  test('keeps the order of each message group and each partition key, whatever records fail', async () => {
    const fate = fc.constantFrom<EntryFate | 'unreadable'>(
      'stored',
      'stored',
      'stored',
      'throttled',
      'refused',
      'unreadable',
    );
    const sent = fc.record({ group: fc.constantFrom('g', 'h', 'a'), key: fc.constantFrom('a', 'b', 'c'), fate });
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { maxLength: 10 }), async (batch) => {
        const named = batch.map(({ key, ...rest }, index) => ({ ...rest, key, name: `${key}${index}` }));
        const fates = named.map((each) => [each.name, each.fate === 'unreadable' ? 'stored' : each.fate] as const);
        const { clock, kinesis, producer } = setUp(Object.fromEntries(fates));
        const messages = named.map(({ group, name, ...each }) => {
          const own = inGroup(group, name);
          return each.fate === 'unreadable' ? { ...own, record: new Error('unreadable') } : own;
        });
        const { batchItemFailures } = await clock.runUntil(deliverMessages(producer, messages, new FailureTally()));
        const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
        const stored = kinesis.allData();
        expect([...stored].sort()).toEqual(
          named
            .map(({ name }) => name)
            .filter((name) => !failed.has(name))
            .sort(),
        );
        for (const same of ['group', 'key'] as const) {
          for (const value of new Set(named.map((each) => each[same]))) {
            const chain = named.filter((each) => each[same] === value).map(({ name }) => name);
            const first = chain.findIndex((name) => failed.has(name));
            const expected = first < 0 ? chain : chain.slice(0, first);
            expect(stored.filter((name) => chain.includes(name))).toEqual(expected);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('deliverMessages', () => {
  const failures = (names: string[]) => ({ batchItemFailures: names.map((itemIdentifier) => ({ itemIdentifier })) });

  test('reports a message that exceeds the size limit because of its sequence number, and reports the later messages of its key', async () => {
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
    expect(await clock.runUntil(deliverMessages(producer, messages, new FailureTally()))).toEqual(
      failures(['a2', 'a3']),
    );
  });

  test('reports messages as failed if they were not sent before the time of the invocation ended', async () => {
    const clock = new VirtualClock();
    const producer = new OrderedProducer(new FakeKinesis({ clock }), {
      streamName: 'Events',
      clock,
      signal: AbortSignal.abort(),
    });
    expect(await clock.runUntil(deliverMessages(producer, ['a1', 'b1'].map(message), new FailureTally()))).toEqual(
      failures(['a1', 'b1']),
    );
  });
});
