import {
  type OrderedProducerOptions,
  ProducerAbortedError,
  ProducerClosedError,
  type ProducerRecord,
  RecordRejectedError,
} from '../../../../lib/core';
import { producerSettings } from '../../../../lib/core/producer/producer-options';
import { codesOf, producerOnFakeStream, record } from './producer-on-fake-stream';

describe('OrderedProducer', () => {
  test('returns the shard and the sequence number of each record', async () => {
    const { clock, producer } = producerOnFakeStream({ shardCount: 2 });
    const receipts = await clock.runUntil(Promise.all([producer.put(record('6')), producer.put(record('1'))]));
    expect(receipts).toEqual([
      { shardId: 'shardId-000000000000', sequenceNumber: '0', attempts: 1 },
      { shardId: 'shardId-000000000001', sequenceNumber: '1', attempts: 1 },
    ]);
  });

  test.each([
    [{ streamName: 'Events' }, { StreamName: 'Events' }],
    [{ streamName: undefined, streamArn: 'arn:stream' }, { StreamARN: 'arn:stream' }],
  ])('sends the stream %j as %j', async (options, expected) => {
    const { clock, kinesis, producer } = producerOnFakeStream({}, options);
    await clock.runUntil(producer.put(record('a')));
    expect(kinesis.requests[0]).toMatchObject(expected);
  });

  test('sends the five rows of "Guaranteeing Order with Kinesis Bulk Puts" in three requests, each with the first unsent row of each key', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream();
    const [first, second, third] = [
      '8a9e7a19-9fe1-49b2-9b42-591520784449',
      'd0d97986-0c90-404f-bccd-9ac6c27f9235',
      'b20d88bc-ba68-41e3-87cb-3a93cc619833',
    ] as const;
    const data = (action: string) => `{"resource":"app","action":"${action}"}`;
    const rows = [
      record(first, data('create')),
      record(second, data('create')),
      record(first, data('update')),
      record(first, data('destroy')),
      record(third, data('update')),
    ];
    await clock.runUntil(Promise.all(rows.map((each) => producer.put(each))));
    const posted = kinesis.requests.map(({ Records }) =>
      Records.map(({ PartitionKey, Data }) => [PartitionKey, Buffer.from(Data).toString()]),
    );
    expect(posted).toEqual([
      [
        [first, data('create')],
        [second, data('create')],
        [third, data('update')],
      ],
      [[first, data('update')]],
      [[first, data('destroy')]],
    ]);
  });

  test('fills a request with 500 records', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream();
    const records = Array.from({ length: 501 }, (_, index) => record(String(index)));
    await clock.runUntil(Promise.all(records.map((each) => producer.put(each))));
    expect(kinesis.requests.map(({ Records }) => Records.length)).toEqual([500, 1]);
  });

  test('fills a request with 10 MiB, including partition keys in UTF-8', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream();
    const tenOfThem = (lastKey: string) =>
      [...'012345678', lastKey].map((partitionKey) => ({
        partitionKey,
        data: Buffer.alloc(1024 * 1024 - Buffer.byteLength(partitionKey)),
      }));
    await clock.runUntil(Promise.all(tenOfThem('9').map((each) => producer.put(each))));
    expect(kinesis.requests.map(({ Records }) => Records.length)).toEqual([10]);
    const overfull = tenOfThem('9').map((each, index) =>
      index < 9 ? each : { ...each, partitionKey: 'é', data: Buffer.alloc(1024 * 1024 - 2) },
    );
    await clock.runUntil(Promise.all([...overfull, record('more')].map((each) => producer.put(each))));
    expect(kinesis.requests.slice(1).map(({ Records }) => Records.length)).toEqual([10, 1]);
  });

  describe('failed records', () => {
    test('sends a throttled record again before the next record of its key', async () => {
      let throttles = 2;
      const { clock, kinesis, producer } = producerOnFakeStream({
        entryFate: ({ Data }) => (String(Data) === 'one' && throttles-- > 0 ? 'throttled' : 'stored'),
      });
      const puts = ['one', 'two', 'three'].map((data) => producer.put(record('a', data)));
      expect((await clock.runUntil(Promise.all(puts))).map(({ attempts }) => attempts)).toEqual([3, 1, 1]);
      expect(kinesis.dataOf('a')).toEqual(['one', 'two', 'three']);
    });

    test('keeps record1, record2 and record3 of "Guaranteeing Order with Kinesis Bulk Puts" in order, although record2 fails once', async () => {
      const onceFailed = () => {
        let failures = 1;
        return producerOnFakeStream({
          entryFate: ({ Data }) => (String(Data) === 'record2' && failures-- > 0 ? 'failed' : 'stored'),
        });
      };
      const names = ['record1', 'record2', 'record3'];

      const seed = onceFailed();
      let left = names.map((Data) => ({ PartitionKey: 'a', Data: Buffer.from(Data) }));
      while (left.length > 0) {
        const put = seed.kinesis.putRecords({ StreamName: 'Events', Records: left });
        const { Records = [] } = await seed.clock.runUntil(put);
        left = left.filter((_, index) => Records[index]!.ErrorCode !== undefined);
      }
      expect(seed.kinesis.dataOf('a')).toEqual(['record1', 'record3', 'record2']);

      const { clock, kinesis, producer } = onceFailed();
      await clock.runUntil(Promise.all(names.map((data) => producer.put(record('a', data)))));
      expect(kinesis.dataOf('a')).toEqual(names);
    });

    test('increases the delay exponentially, with full jitter and a maximum', async () => {
      const { clock, producer } = producerOnFakeStream(
        { entryFate: () => 'throttled', roundTripMs: () => 0 },
        { maxAttempts: 5, backoffBaseMs: 100, backoffCapMs: 300, random: () => 0.5 },
      );
      await expect(clock.runUntil(producer.put(record('a')))).rejects.toThrow(RecordRejectedError);
      expect(clock.nowMs).toBe(50 + 100 + 150 + 150);
    });

    test('rejects an invalid record and the later records of its key, but no record of another key', async () => {
      const { clock, kinesis, producer } = producerOnFakeStream({
        entryFate: ({ Data }) => (String(Data) === 'bad' ? 'refused' : 'stored'),
      });
      const puts = ['good', 'bad', 'later', 'last'].map((data) => producer.put(record('a', data)));
      const other = producer.put(record('b'));
      const results = await clock.runUntil(Promise.allSettled([...puts, other]));
      expect(codesOf(results)).toEqual([
        'delivered',
        'RECORD_REJECTED',
        'EARLIER_RECORD_FAILED',
        'EARLIER_RECORD_FAILED',
        'delivered',
      ]);
      expect(kinesis.dataOf('a')).toEqual(['good']);
      expect((results[2] as PromiseRejectedResult).reason.cause).toBeInstanceOf(RecordRejectedError);
    });

    test.each([
      ['an invalid record', { partitionKey: 'a', data: 'text' as never }, 'fulfilled'],
      ['a record that waits for the limit of its stream', record('a', 'x'.repeat(1024 * 1024)), 'rejected'],
    ])(
      'a record of the same key that is put after %s is sent or rejected as the guide describes',
      async (_, refused, status) => {
        const { clock, producer } = producerOnFakeStream();
        const puts = [refused, record('a', 'behind')].map((each) => producer.put(each));
        expect((await clock.runUntil(Promise.allSettled(puts))).map((put) => put.status)).toEqual(['rejected', status]);
        expect(await clock.runUntil(producer.put(record('a', 'later')))).toMatchObject({ attempts: 1 });
      },
    );

    test.each([false, true])(
      'rejects a record after one attempt if a retry cannot help; with PutRecord: %s',
      async (sequentialPuts) => {
        const { clock, producer } = producerOnFakeStream({ requestFate: () => 'denied' }, { sequentialPuts });
        await expect(clock.runUntil(producer.put(record('a')))).rejects.toMatchObject({
          serviceCode: 'AccessDeniedException',
          attempts: 1,
        });
        expect(producer.statistics().requests).toBe(1);
      },
    );
  });

  describe('flush, close and abort', () => {
    test('flush waits for the records that were put before the call', async () => {
      const { clock, kinesis, producer } = producerOnFakeStream();
      void producer.put(record('a', '1'));
      void producer.put(record('a', '2'));
      await clock.runUntil(producer.flush());
      expect(kinesis.dataOf('a')).toEqual(['1', '2']);
    });

    test('close sends the records that were put before the call, and rejects later records', async () => {
      const { clock, kinesis, producer } = producerOnFakeStream();
      void producer.put(record('a'));
      const closed = producer.close();
      await expect(producer.put(record('a'))).rejects.toThrow(ProducerClosedError);
      await clock.runUntil(closed);
      expect(kinesis.dataOf('a')).toEqual(['x']);
    });

    test('abort rejects the waiting records and returns the results of the records in flight', async () => {
      const abort = new AbortController();
      const { clock, kinesis, producer } = producerOnFakeStream({}, { signal: abort.signal });
      const puts = ['1', '2', '3'].map((data) => producer.put(record('a', data)));
      clock.schedule(() => abort.abort(), 10);
      const results = await clock.runUntil(Promise.allSettled(puts));
      expect(codesOf(results)).toEqual(['delivered', 'PRODUCER_ABORTED', 'PRODUCER_ABORTED']);
      expect(kinesis.dataOf('a')).toEqual(['1']);
      await expect(producer.put(record('b'))).rejects.toThrow(ProducerAbortedError);
    });
  });

  describe('invalid input', () => {
    const tooLarge = record('a', 'x'.repeat(10 * 1024 * 1024));
    const outsideOfTheSpace = { ...record('a'), explicitHashKey: 2n ** 128n };
    test.each<[string, unknown, string, string]>([
      [
        'an empty partition key',
        record(''),
        'PARTITION_KEY] partitionKey must be a string of 1 to 256 characters',
        '""',
      ],
      ['a partition key of 257 characters', record('k'.repeat(257)), 'PARTITION_KEY]', '(257 characters)'],
      ['a lone surrogate', record('\ud800'), 'PARTITION_KEY]', 'well-formed'],
      ['data that are no bytes', { partitionKey: 'a', data: 'text' }, 'ARGUMENT] data must be a Uint8Array', 'text'],
      ['a hash key of 2^128', outsideOfTheSpace, 'HASH_KEY]', '340282366920938463463374607431768211456'],
      ['more than 10 MiB', tooLarge, 'at most 10485760 bytes together with the partition key', 'got 10485761'],
      ['null instead of a record', null, 'ARGUMENT] record must be an object', 'null'],
    ])('rejects %s and sends nothing', async (_, bad, message, got) => {
      const { kinesis, producer } = producerOnFakeStream();
      const put = producer.put(bad as ProducerRecord);
      await expect(put).rejects.toThrow(message);
      await expect(put).rejects.toThrow(got);
      expect(kinesis.requests).toHaveLength(0);
    });

    test('accepts a partition key of 256 characters, and larger records if the stream has a larger size limit', async () => {
      const { clock, producer } = producerOnFakeStream({ maxRecordKiB: 10_240 }, { maxRecordBytes: 10 * 1024 * 1024 });
      const put = producer.put(record('k'.repeat(256), 'x'.repeat(2 * 1024 * 1024)));
      expect(await clock.runUntil(put)).toMatchObject({ attempts: 1 });
    });

    test.each<[Partial<OrderedProducerOptions>]>([
      [{}],
      [{ skipRejected: true }],
      [{ aggregation: 'per-key' }],
      [{ aggregation: 'packed', skipRejected: true }],
    ])(
      'with %j, never sends a record above the limit of the stream that it accepted before it knew the limit',
      async (options) => {
        const { clock, kinesis, producer } = producerOnFakeStream({ maxRecordKiB: 1_024 }, options);
        const large = 'x'.repeat(3_000_000);
        const tooLarge = [record('asks', large), record('a', 'a0'), record('a', large), record('a', large)];
        const results = [...tooLarge, record('b', 'b0')].map((each) =>
          producer.put(each).then(
            () => 'stored',
            (error) => error.code,
          ),
        );
        const later = options.skipRejected ? 'RECORD_TOO_LARGE' : 'EARLIER_RECORD_FAILED';
        expect(await clock.runUntil(Promise.all(results))).toEqual([
          'RECORD_TOO_LARGE',
          'stored',
          'RECORD_TOO_LARGE',
          later,
          'stored',
        ]);
        const sizes = kinesis.requests.flatMap(({ Records }) => Records.map(({ Data }) => Data.byteLength));
        expect(Math.max(...sizes)).toBeLessThan(1024 * 1024);
      },
    );

    test.each<[Partial<OrderedProducerOptions>, string]>([
      [{ streamName: undefined }, 'streamName must be'],
      [{ streamArn: 'arn:stream' }, 'streamArn must be absent when streamName is given'],
      [
        { maxRecordBytes: 10 * 1024 * 1024 + 1 },
        'maxRecordBytes must be a whole number from 1 to 10485760, got 10485761',
      ],
      [{ maxRecordBytes: 1n as never }, 'maxRecordBytes must be a whole number from 1 to 10485760, got 1'],
      [{ backoffCapMs: 1n as never }, 'backoffCapMs must be a number from 0 to 2147483647, got 1'],
      [{ maxRequestsInFlight: 0 }, 'maxRequestsInFlight must be'],
      [{ maxBufferedRecords: 1.5 }, 'maxBufferedRecords must be'],
      [{ maxBufferedBytes: Number.NaN }, 'maxBufferedBytes must be'],
      [{ maxAttempts: -1 }, 'maxAttempts must be'],
      [{ requestTimeoutMs: 0 }, 'requestTimeoutMs must be'],
      [{ lingerMs: 1 }, "lingerMs must be absent without aggregation: 'packed'"],
      [{ backoffBaseMs: -1 }, 'backoffBaseMs must be'],
      [{ backoffCapMs: Number.POSITIVE_INFINITY }, 'backoffCapMs must be'],
      [{ maxRecordAgeMs: -1 }, 'maxRecordAgeMs must be a number above 0 and at most 2147483647, got -1'],
      [{ maxRecordAgeMs: 0 }, 'maxRecordAgeMs must be a number above 0'],
      [{ backoffBaseMs: 11, backoffCapMs: 10 }, 'backoffBaseMs must be at most backoffCapMs, which is 10, got 11'],
      [{ backoffBaseMs: 5_001 }, 'backoffBaseMs must be at most backoffCapMs, which is 5000, got 5001'],
      [{ maxAggregateBytes: 1024 * 1024 + 1 }, 'maxAggregateBytes must be at most maxRecordBytes, which is 1048576'],
      [
        { maxRecordBytes: 1_000, maxAggregateBytes: 1_001 },
        'maxAggregateBytes must be at most maxRecordBytes, which is 1000',
      ],
    ])('rejects the options %j', (options, message) => {
      expect(() => producerOnFakeStream({}, options)).toThrow(`[INVALID_ARGUMENT] ${message}`);
    });
  });

  test.each<Partial<OrderedProducerOptions>>([
    { backoffCapMs: 2 ** 31 - 1 },
    { backoffCapMs: 10 },
    { maxRecordAgeMs: 0.1 },
    { maxAggregateBytes: 1024 * 1024 },
  ])('accepts the options %j', (options) => {
    expect(() => producerOnFakeStream({}, options)).not.toThrow();
  });

  test('has the default options that the reference documents', () => {
    expect(producerSettings({ streamName: 'Events' })).toMatchObject({
      aggregation: 'none',
      hashBuckets: undefined,
      lingerMs: 0,
      maxAggregateBytes: 51_200,
      skipRejected: false,
      maxRecordAgeMs: undefined,
      requestTimeoutMs: 10_000,
      maxRequestsInFlight: 8,
      maxBufferedRecords: 10_000,
      maxBufferedBytes: 67_108_864,
      maxAttempts: 20,
      backoffBaseMs: 50,
      backoffCapMs: 5_000,
    });
    expect(producerSettings({ streamName: 'Events', sequentialPuts: true })).toMatchObject({ maxRequestsInFlight: 50 });
  });
});
