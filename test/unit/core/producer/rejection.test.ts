import { OrderedProducer, type OrderedProducerOptions, RecordExpiredError } from '../../../../lib/core';
import type { FakeKinesisOptions } from '../../../../lib/testing/fake-kinesis';
import { codesOf, producerOnFakeStream, record } from './producer-on-fake-stream';

const MIB = 1024 * 1024;

describe('rejected records', () => {
  test.each<[string, Partial<FakeKinesisOptions>, boolean]>([
    ['throttled at every attempt', { entryFate: () => 'throttled' }, false],
    ['rejected', { entryFate: () => 'refused' }, false],
    ['in a request that was denied', { requestFate: () => 'denied' }, false],
    ['in requests without a response', { requestFate: () => 'answer lost' }, true],
  ])(
    'RecordRejectedError – the record was %s – mayHaveBeenWritten has the correct value: %#',
    async (_, script, expected) => {
      const { clock, producer } = producerOnFakeStream(script, { maxAttempts: 2 });
      await expect(clock.runUntil(producer.put(record('a')))).rejects.toMatchObject({ mayHaveBeenWritten: expected });
    },
  );

  test('with skipRejected, the producer skips a rejected record and continues with its key', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream(
      { entryFate: ({ Data }) => (String(Data) === '2' ? 'refused' : 'stored') },
      { skipRejected: true },
    );
    const puts = ['1', '2', '3', '4'].map((data) => producer.put(record('a', data)));
    const results = await clock.runUntil(Promise.allSettled(puts));
    expect(codesOf(results)).toEqual(['delivered', 'RECORD_REJECTED', 'delivered', 'delivered']);
    expect(kinesis.dataOf('a')).toEqual(['1', '3', '4']);
  });

  test.each<[string, Partial<OrderedProducerOptions>]>([
    ['separate', {}],
    ['aggregated by key', { aggregation: 'per-key' }],
    ['aggregated across keys', { aggregation: 'packed', hashBuckets: 2 }],
  ])(
    'with records that are %s, sends one request, and no second request if the error is about all records',
    async (_, options) => {
      const { clock, kinesis, producer } = producerOnFakeStream({ requestFate: () => 'denied' }, options);
      const puts = Array.from({ length: 100 }, (__, index) => producer.put(record(`key-${index}`)));
      const results = await clock.runUntil(Promise.allSettled(puts));
      expect(new Set(codesOf(results))).toEqual(new Set(['RECORD_REJECTED']));
      expect(kinesis.requests).toHaveLength(1);
    },
  );

  test.each<[string, Partial<OrderedProducerOptions>]>([
    ['separate', {}],
    ['aggregated by key', { aggregation: 'per-key' }],
    ['aggregated across keys', { aggregation: 'packed', hashBuckets: 2 }],
    ['aggregated across keys up to 2 MiB', { aggregation: 'packed', hashBuckets: 2, maxAggregateBytes: 2 * MIB }],
  ])('with records that are %s, rejects only the records that the stream does not accept', async (_, options) => {
    // The stream accepts records of up to 1 MiB, and the option of the producer has another limit.
    const { clock, producer } = producerOnFakeStream({}, { ...options, maxRecordBytes: 2 * MIB });
    const tooLarge = ['b', 'd'];
    const puts = ['a', 'b', 'c', 'd', 'e'].map((partitionKey) =>
      producer.put({ partitionKey, data: Buffer.alloc(tooLarge.includes(partitionKey) ? 1.5 * MIB : 10) }),
    );
    const results = await clock.runUntil(Promise.allSettled(puts));
    const [sent, rejected] = ['delivered', 'RECORD_REJECTED'];
    expect(codesOf(results)).toEqual([sent, rejected, sent, rejected, sent]);
  });

  describe('with maxRecordAgeMs', () => {
    test('rejects records that are not sent before they reach this age', async () => {
      const { clock, kinesis, producer } = producerOnFakeStream({}, { maxRecordAgeMs: 50 });
      const puts = ['1', '2', '3', '4'].map((data) => producer.put(record('a', data)));
      const results = await clock.runUntil(Promise.allSettled(puts));
      expect(codesOf(results)).toEqual(['delivered', 'delivered', 'delivered', 'RECORD_EXPIRED']);
      expect((results[3] as PromiseRejectedResult).reason).toBeInstanceOf(RecordExpiredError);
      expect(kinesis.dataOf('a')).toEqual(['1', '2', '3']);
      expect(clock.nowMs).toBe(60);
    });

    test.each<[string, Partial<FakeKinesisOptions>]>([
      ['is in flight', { roundTripMs: () => 200 }],
      ['waits for a retry', { entryFate: () => 'throttled' }],
    ])('rejects 10,000 records of one key together if the record before them %s', async (_, script) => {
      const { clock, producer } = producerOnFakeStream(script, {
        maxRecordAgeMs: 100,
        backoffBaseMs: 1_000,
        skipRejected: true,
      });
      const puts = Array.from({ length: 10_000 }, () => producer.put(record('a')));
      const ends = codesOf(await clock.runUntil(Promise.allSettled(puts.slice(1))));
      expect(new Set(ends)).toEqual(new Set(['RECORD_EXPIRED']));
      expect(clock.nowMs).toBe(100);
      await clock.runUntil(Promise.allSettled(puts));
    });

    test('makes room in the buffer when a record expires', async () => {
      const { clock, producer } = producerOnFakeStream(
        { requestFate: ({ Records }) => (Records[0]!.PartitionKey === 'a' ? 'silent' : 'answered') },
        { maxRecordAgeMs: 1_000, maxBufferedRecords: 2 },
      );
      const puts = [1, 2].map(() => producer.put(record('a')));
      await expect(clock.runUntil(puts[1]!)).rejects.toThrow(RecordExpiredError);
      await clock.runUntil(producer.putAll([record('b'), record('b')]));
      expect(clock.nowMs).toBeLessThan(2_000);
      await clock.runUntil(Promise.allSettled(puts));
    });
  });
});

describe('flush of one key', () => {
  test('rejects an invalid key', async () => {
    const { producer } = producerOnFakeStream();
    await expect(producer.flush(1 as never)).rejects.toMatchObject({ code: 'INVALID_PARTITION_KEY' });
  });

  test('waits for the records of this key and for no other record', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream({
      entryFate: ({ PartitionKey }) => (PartitionKey === 'b' ? 'throttled' : 'stored'),
    });
    const puts = ['1', '2'].map((data) => producer.put(record('a', data)));
    const other = producer.put(record('b')).catch(() => {});
    await clock.runUntil(producer.flush('a'));
    expect(kinesis.dataOf('a')).toEqual(['1', '2']);
    expect(clock.nowMs).toBe(40);
    await clock.runUntil(producer.flush('never put'));
    await clock.runUntil(Promise.all([...puts, other]));
  });
});

describe('sequential puts', () => {
  test('are retried and rejected like bulk puts', async () => {
    let throttles = 1;
    const { clock, kinesis, producer } = producerOnFakeStream(
      { entryFate: ({ Data }) => (String(Data) === 'bad' ? 'refused' : throttles-- > 0 ? 'throttled' : 'stored') },
      { sequentialPuts: true },
    );
    const puts = ['1', '2', 'bad', '3'].map((data) => producer.put(record('a', data)));
    const results = await clock.runUntil(Promise.allSettled(puts));
    expect(codesOf(results)).toEqual(['delivered', 'delivered', 'RECORD_REJECTED', 'EARLIER_RECORD_FAILED']);
    expect(results[0]).toMatchObject({ value: { attempts: 2 } });
    expect(kinesis.dataOf('a')).toEqual(['1', '2']);
  });

  test('reject a client without putRecord', () => {
    const client = { putRecords: async () => ({}) };
    const make = () => new OrderedProducer(client, { streamName: 'Events', sequentialPuts: true });
    expect(make).toThrow('[INVALID_ARGUMENT] sequentialPuts must be absent for a client without putRecord, got true');
  });
});
