import {
  bucketHashKey,
  deaggregate,
  OrderedProducer,
  type OrderedProducerOptions,
  type ProducerRecord,
} from '../../../../lib/core';
import type { FakeKinesisOptions } from '../../../../lib/testing/fake-kinesis';
import { codesOf, producerOnFakeStream, record } from './producer-on-fake-stream';

/** A producer with two aggregation groups. */
function packedProducer(script: Partial<FakeKinesisOptions> = {}, options: Partial<OrderedProducerOptions> = {}) {
  const setUp = producerOnFakeStream(script, { aggregation: 'packed', hashBuckets: 2, ...options });
  const { kinesis } = setUp;
  /** Each Kinesis record in the stream, as a text of the keys and the data of its user records. */
  const aggregates = (): string[] =>
    kinesis.records().map((stored) =>
      deaggregate(stored)
        .map(({ partitionKey, data }) => partitionKey + Buffer.from(data).toString())
        .join(' '),
    );
  return { ...setUp, aggregates };
}

// By the first bit of their MD5: a, c and h are in the first bucket, b is in the second.
const [A, B] = ['a', 'c'];
const C = 'b';

const holds =
  (text: string): FakeKinesisOptions['entryFate'] =>
  ({ Data }) =>
    Buffer.from(Data).includes(text) ? 'refused' : 'stored';

describe("put – with aggregation: 'packed'", () => {
  test('aggregates the next records of all keys of a bucket; the partition key is the name of the bucket, and the hash key is its centre', async () => {
    const { clock, kinesis, producer, aggregates } = packedProducer();
    const puts = [record(A, '1'), record(B, '1'), record(C, '1'), record(A, '2')].map((each) => producer.put(each));
    const receipts = await clock.runUntil(Promise.all(puts));
    expect(aggregates()).toEqual([`${A}1 ${A}2 ${B}1`, `${C}1`]);
    expect(kinesis.records().map(({ partitionKey, explicitHashKey }) => [partitionKey, explicitHashKey])).toEqual([
      ['bucket-0-of-2', String(bucketHashKey(A, 2))],
      ['bucket-1-of-2', String(bucketHashKey(C, 2))],
    ]);
    // Each record has the hash key of its bucket, so that no filter by range drops a record.
    expect(kinesis.records().flatMap((stored) => deaggregate(stored).map((user) => user.explicitHashKey))).toEqual(
      [A, A, B, C].map((key) => bucketHashKey(key, 2)),
    );
    expect(receipts.map(({ subSequenceNumber }) => subSequenceNumber)).toEqual([0, 2, 0, 1]);
  });

  test('aggregates a record with an explicit hash key only with other records of this hash key', async () => {
    const { clock, kinesis, producer, aggregates } = packedProducer();
    const owned = (key: string, explicitHashKey: bigint): ProducerRecord => ({ ...record(key), explicitHashKey });
    await clock.runUntil(producer.putAll([record(A), owned('o', 7n), owned('p', 7n), owned('q', 8n)]));
    expect(aggregates()).toEqual([`${A}x`, 'ox px', 'qx']);
    expect(kinesis.records().map(({ partitionKey }) => partitionKey)).toEqual([
      'bucket-0-of-2',
      'hash-key-7',
      'hash-key-8',
    ]);
  });

  test.each([0, 5])(
    'rejects only the invalid records if Kinesis rejects an aggregate, with a linger of %d ms',
    async (lingerMs) => {
      const { clock, producer, aggregates } = packedProducer({ entryFate: holds('bad') }, { maxAttempts: 1, lingerMs });
      const puts = [record(A, 'good'), record(B, 'bad'), record(A, 'too'), record(B, 'later')].map((each) =>
        producer.put(each),
      );
      const results = await clock.runUntil(Promise.allSettled(puts));
      expect(codesOf(results)).toEqual(['delivered', 'RECORD_REJECTED', 'delivered', 'RECORD_REJECTED']);
      expect(aggregates()).toEqual([`${A}good ${A}too`]);
    },
  );

  test('limits the size of an aggregate, including its partition key, to maxAggregateBytes', async () => {
    const { clock, kinesis, producer } = packedProducer({}, { maxAggregateBytes: 1_000, sequence: true });
    const records = Array.from({ length: 500 }, (_, index) => record(`key-${index % 50}`, 'x'.repeat(index % 200)));
    await clock.runUntil(producer.putAll(records));
    const sizes = kinesis.records().map(({ data, partitionKey }) => data.length + partitionKey.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000);
    expect(kinesis.records().flatMap((stored) => deaggregate(stored))).toHaveLength(500);
  });

  test('accepts a record if the record and the additional bytes of an aggregate are within the size limit of the stream, and rejects a larger record', async () => {
    const { clock, producer } = packedProducer({}, { maxRecordBytes: 10_000, maxAggregateBytes: 10_000 });
    const sizes = Array.from({ length: 300 }, (_, index) => 9_700 + index);
    const puts = sizes.map((bytes) => producer.put({ partitionKey: A, data: Buffer.alloc(bytes) }));
    const codes = codesOf(await clock.runUntil(Promise.allSettled(puts)));
    expect(new Set(codes)).toEqual(new Set(['delivered', 'RECORD_TOO_LARGE']));
    expect(codes.lastIndexOf('delivered')).toBe(codes.indexOf('RECORD_TOO_LARGE') - 1);
  });

  describe('with linger', () => {
    test('sends an aggregate after the linger time', async () => {
      const { clock, producer, aggregates } = packedProducer({}, { lingerMs: 5 });
      const puts = [producer.put(record(A))];
      clock.schedule(() => puts.push(producer.put(record(B))), 4);
      clock.schedule(() => puts.push(producer.put(record('h'))), 6);
      await clock.runUntil(clock.sleep(7));
      await clock.runUntil(Promise.all(puts));
      expect(aggregates()).toEqual([`${A}x ${B}x`, 'hx']);
      expect(clock.nowMs).toBeGreaterThanOrEqual(31);
    });

    test('sends an aggregate before the linger time has passed if the records of a waiting key fill the aggregate', async () => {
      const { clock, kinesis, producer } = packedProducer({}, { lingerMs: 1_000, maxAggregateBytes: 300 });
      const first = producer.put(record(A, 'x'.repeat(100)));
      await clock.runUntil(clock.sleep(10));
      const later = [1, 2].map(() => producer.put(record(A, 'x'.repeat(100))));
      await clock.runUntil(first);
      expect(clock.nowMs).toBe(30);
      await clock.runUntil(Promise.all(later));
      expect(kinesis.records().length).toBeLessThanOrEqual(2);
    });
  });

  describe('the options', () => {
    const make = (options: Partial<OrderedProducerOptions>) => () =>
      new OrderedProducer(
        { putRecords: async () => ({}), putRecord: async () => ({}) },
        { streamName: 'Events', ...options },
      );

    test.each<[Partial<OrderedProducerOptions>, string]>([
      [{ aggregation: 'by-shard' as never }, "aggregation must be true, false, 'per-key' or 'packed', got"],
      [{ aggregation: 'packed', hashBuckets: 100 }, 'hashBuckets must be a power of two from 2 to 65536, got 100'],
      [{ aggregation: 'packed', lingerMs: -1 }, 'lingerMs must be a number'],
      [{ aggregation: 'per-key', lingerMs: 5 }, "lingerMs must be absent without aggregation: 'packed', got 5"],
      [
        { aggregation: 'packed', lingerMs: 50, maxRecordAgeMs: 50 },
        'lingerMs must be less than maxRecordAgeMs, which is 50, got 50',
      ],
      [
        { aggregation: 'packed', lingerMs: 1, maxRecordAgeMs: 0.5 },
        'lingerMs must be less than maxRecordAgeMs, which is 0.5, got 1',
      ],
      [
        { aggregation: 'packed', sequentialPuts: true },
        "sequentialPuts must be absent with aggregation: 'packed' (its aggregates contain several keys), got true",
      ],
    ])('new OrderedProducer rejects the options %j', (options, message) => {
      expect(make(options)).toThrow(message);
    });

    test('uses 256 buckets by default', async () => {
      const { clock, kinesis, producer } = packedProducer({}, { hashBuckets: undefined });
      await clock.runUntil(producer.put(record(A)));
      expect(kinesis.records()).toMatchObject([{ explicitHashKey: String(bucketHashKey(A, 256)) }]);
    });

    test('the option hashBuckets also gives each record the hash key of its bucket in the other aggregation modes', async () => {
      for (const aggregation of [false, 'per-key'] as const) {
        const { clock, kinesis, producer } = producerOnFakeStream({}, { aggregation, hashBuckets: 16 });
        await clock.runUntil(producer.putAll([record(A), record(A), { ...record(B), explicitHashKey: 7n }]));
        expect(
          new Set(kinesis.records().map(({ partitionKey, explicitHashKey }) => `${partitionKey} ${explicitHashKey}`)),
        ).toEqual(new Set([`${A} ${bucketHashKey(A, 16)}`, `${B} 7`]));
      }
    });
  });
});
