import {
  bucketHashKey,
  deaggregate,
  hashPartitionKey,
  OrderedProducer,
  type OrderedProducerOptions,
  type ProducerRecord,
} from '../../../../lib/core';
import type { FakeKinesisOptions } from '../../../../lib/testing/fake-kinesis';
import { producerOnFakeStream, record } from './producer-on-fake-stream';

/** A producer that packs into two buckets. */
function packingProducer(script: Partial<FakeKinesisOptions> = {}, options: Partial<OrderedProducerOptions> = {}) {
  const setUp = producerOnFakeStream(script, { aggregation: 'packed', hashBuckets: 2, ...options });
  const { kinesis } = setUp;
  /** Each Kinesis record in the stream, as the keys and data in it. */
  const packs = (): string[] =>
    kinesis.records().map((stored) =>
      deaggregate(stored)
        .map(({ partitionKey, data }) => partitionKey + Buffer.from(data).toString())
        .join(' '),
    );
  return { ...setUp, packs };
}

// By the first bit of their MD5: a, c and h are in the first bucket, b is in the second.
const [A, B] = ['a', 'c'];
const C = 'b';

const holds =
  (text: string): FakeKinesisOptions['entryFate'] =>
  ({ Data }) =>
    Buffer.from(Data).includes(text) ? 'refused' : 'stored';

describe('packs', () => {
  test('hold the next records of all keys of a bucket, under the name of the bucket, at its centre', async () => {
    const { clock, kinesis, producer, packs } = packingProducer();
    const puts = [record(A, '1'), record(B, '1'), record(C, '1'), record(A, '2')].map((each) => producer.put(each));
    const receipts = await clock.runUntil(Promise.all(puts));
    expect(packs()).toEqual([`${A}1 ${A}2 ${B}1`, `${C}1`]);
    expect(kinesis.records().map(({ partitionKey, explicitHashKey }) => [partitionKey, explicitHashKey])).toEqual([
      ['bucket-0-of-2', String(bucketHashKey(A, 2))],
      ['bucket-1-of-2', String(bucketHashKey(C, 2))],
    ]);
    expect(receipts.map(({ subSequenceNumber }) => subSequenceNumber)).toEqual([0, 2, 0, 1]);
  });

  test('name the centre as the explicit hash key of each record, so that no filter by range leaves one out', async () => {
    const { clock, kinesis, producer } = packingProducer();
    await clock.runUntil(producer.putAll([record(A), record(B)]));
    const [stored] = kinesis.records();
    expect(deaggregate(stored!).map(({ explicitHashKey }) => explicitHashKey)).toEqual(
      [A, B].map((key) => bucketHashKey(key, 2)),
    );
  });

  test('hold records of one explicit hash key of their own, and no others with them', async () => {
    const { clock, kinesis, producer, packs } = packingProducer();
    const owned = (key: string, explicitHashKey: bigint): ProducerRecord => ({ ...record(key), explicitHashKey });
    await clock.runUntil(producer.putAll([record(A), owned('o', 7n), owned('p', 7n), owned('q', 8n)]));
    expect(packs()).toEqual([`${A}x`, 'ox px', 'qx']);
    expect(kinesis.records().map(({ partitionKey }) => partitionKey)).toEqual([
      'bucket-0-of-2',
      'hash-key-7',
      'hash-key-8',
    ]);
  });

  test('have one name for one hash key, so that who reads the partition keys of a shard side by side keeps the order', async () => {
    const { clock, kinesis, producer } = packingProducer();
    const centre = bucketHashKey(A, 2);
    const puts = [centre, undefined, centre].map((explicitHashKey) => producer.put({ ...record(A), explicitHashKey }));
    await clock.runUntil(Promise.all(puts));
    expect(new Set(kinesis.records().map(({ partitionKey }) => partitionKey))).toEqual(new Set(['bucket-0-of-2']));
  });

  test('lie where producers without packs put the same records', async () => {
    const placesWith = async (aggregation: 'packed' | 'per-key' | false): Promise<string[]> => {
      const { clock, producer } = packingProducer({ shardCount: 64 }, { aggregation, hashBuckets: 256 });
      const puts = records.map((each) => producer.put(each));
      return (await clock.runUntil(Promise.all(puts))).map(({ shardId }) => shardId);
    };
    const records = Array.from({ length: 300 }, (_, index): ProducerRecord => {
      const explicitHashKey = index % 3 === 0 ? hashPartitionKey(`place-${index}`) : undefined;
      return { ...record(`key-${index % 20}`), explicitHashKey };
    });
    const places = await placesWith('packed');
    expect(new Set(places).size).toBeGreaterThan(16);
    expect(await placesWith('per-key')).toEqual(places);
    expect(await placesWith(false)).toEqual(places);
  });

  test('keep what each key sends together through every attempt, though another pack may carry it', async () => {
    let throttles = 1;
    const { clock, producer, packs } = packingProducer({ entryFate: () => (throttles-- > 0 ? 'throttled' : 'stored') });
    const puts = [producer.put(record(A, '1')), producer.put(record(B, '1'))];
    clock.schedule(() => puts.push(producer.put(record(A, '2')), producer.put(record('h', '1'))), 15);
    await clock.runUntil(clock.sleep(16));
    const receipts = await clock.runUntil(Promise.all(puts));
    expect(packs().join(' ').split(' ').sort()).toEqual([`${A}1`, `${A}2`, `${B}1`, 'h1'].sort());
    expect(packs().filter((pack) => pack.includes(`${A}1`) && pack.includes(`${A}2`))).toEqual([]);
    expect(receipts[0]).toMatchObject({ attempts: 2 });
  });

  test.each([0, 5])(
    'that are refused come apart: what was at fault is rejected alone, with a linger of %d ms',
    async (lingerMs) => {
      const { clock, producer, packs } = packingProducer({ entryFate: holds('bad') }, { maxAttempts: 1, lingerMs });
      const puts = [record(A, 'good'), record(B, 'bad'), record(A, 'too'), record(B, 'later')].map((each) =>
        producer.put(each),
      );
      const results = await clock.runUntil(Promise.allSettled(puts));
      expect(results.map((result) => (result.status === 'rejected' ? result.reason.code : 'delivered'))).toEqual([
        'delivered',
        'RECORD_REJECTED',
        'delivered',
        'RECORD_REJECTED',
      ]);
      expect(packs()).toEqual([`${A}good ${A}too`]);
    },
  );

  test('take no record that is too large for company: it goes alone, as an aggregate of its bucket', async () => {
    const { clock, kinesis, producer } = packingProducer({}, { maxAggregateBytes: 1_000 });
    await clock.runUntil(producer.putAll([record(A, 'x'.repeat(2_000)), record(B), record(A)]));
    expect(kinesis.records().map((stored) => deaggregate(stored).length)).toEqual([1, 1, 1]);
    expect(new Set(kinesis.records().map(({ partitionKey }) => partitionKey))).toEqual(new Set(['bucket-0-of-2']));
  });

  test('are no larger than maxAggregateBytes, with their partition key', async () => {
    const { clock, kinesis, producer } = packingProducer({}, { maxAggregateBytes: 1_000, sequence: true });
    const records = Array.from({ length: 500 }, (_, index) => record(`key-${index % 50}`, 'x'.repeat(index % 200)));
    await clock.runUntil(producer.putAll(records));
    const sizes = kinesis.records().map(({ data, partitionKey }) => data.length + partitionKey.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000);
    expect(kinesis.records().flatMap((stored) => deaggregate(stored))).toHaveLength(500);
  });

  test('hold a record as large as the stream takes with what an aggregate adds, and no larger one', async () => {
    const { clock, producer } = packingProducer({}, { maxRecordBytes: 10_000, maxAggregateBytes: 10_000 });
    const sizes = Array.from({ length: 300 }, (_, index) => 9_700 + index);
    const puts = sizes.map((bytes) => producer.put({ partitionKey: A, data: Buffer.alloc(bytes) }));
    const results = await clock.runUntil(Promise.allSettled(puts));
    const codes = results.map((result) => (result.status === 'rejected' ? result.reason.code : 'delivered'));
    expect(new Set(codes)).toEqual(new Set(['delivered', 'RECORD_TOO_LARGE']));
    expect(codes.lastIndexOf('delivered')).toBe(codes.indexOf('RECORD_TOO_LARGE') - 1);
  });

  test('do not let a key overtake itself while a pack with it is in flight', async () => {
    const { clock, kinesis, producer, packs } = packingProducer({ roundTripMs: () => 100 });
    const puts = [producer.put(record(A, '1'))];
    await clock.runUntil(clock.sleep(10));
    puts.push(producer.put(record(A, '2')), producer.put(record(B, '1')));
    await clock.runUntil(clock.sleep(10));
    expect(kinesis.requests).toHaveLength(1);
    await clock.runUntil(Promise.all(puts));
    expect(packs()).toEqual([`${A}1`, `${B}1 ${A}2`]);
  });

  describe('with linger', () => {
    test('wait that long for company', async () => {
      const { clock, producer, packs } = packingProducer({}, { lingerMs: 5 });
      const puts = [producer.put(record(A))];
      clock.schedule(() => puts.push(producer.put(record(B))), 4);
      clock.schedule(() => puts.push(producer.put(record('h'))), 6);
      await clock.runUntil(clock.sleep(7));
      await clock.runUntil(Promise.all(puts));
      expect(packs()).toEqual([`${A}x ${B}x`, 'hx']);
      expect(clock.nowMs).toBeGreaterThanOrEqual(31);
    });

    test('wait no longer at another time of the clock', async () => {
      const { clock, producer } = packingProducer({}, { lingerMs: 5 });
      clock.nowMs = 1_000_000;
      await clock.runUntil(producer.put(record(A)));
      expect(clock.nowMs).toBe(1_000_025);
    });

    test('that were throttled go again together', async () => {
      let throttles = 1;
      const entryFate = () => (throttles-- > 0 ? 'throttled' : 'stored');
      const { clock, producer, packs } = packingProducer({ entryFate }, { lingerMs: 5 });
      await clock.runUntil(Promise.all([A, B].map((key) => producer.put(record(key)))));
      expect(packs()).toEqual([`${A}x ${B}x`]);
    });

    test('count a record once that is put while others of its key are told their end', async () => {
      const { clock, producer } = packingProducer({}, { lingerMs: 1_000, maxAggregateBytes: 300 });
      const delivered = async (index: number) => {
        if (index === 0) await producer.put(record(A, 'x'.repeat(150)));
      };
      await clock.runUntil(producer.putAll([record(A), record(A)], { delivered }));
      expect(clock.nowMs).toBe(2 * 1_020);
    });

    test('go at once when they are full', async () => {
      const { clock, kinesis, producer } = packingProducer({}, { lingerMs: 1_000, maxAggregateBytes: 300 });
      const puts = [A, B, 'h', A].map((key) => producer.put(record(key, 'x'.repeat(100))));
      await clock.runUntil(puts[0]!);
      expect(clock.nowMs).toBe(20);
      await clock.runUntil(Promise.all(puts));
      expect(kinesis.records().length).toBeLessThanOrEqual(2);
    });

    test('go at once when a key that is there already fills them', async () => {
      const { clock, kinesis, producer } = packingProducer({}, { lingerMs: 1_000, maxAggregateBytes: 300 });
      const first = producer.put(record(A, 'x'.repeat(100)));
      await clock.runUntil(clock.sleep(10));
      const later = [1, 2].map(() => producer.put(record(A, 'x'.repeat(100))));
      await clock.runUntil(first);
      expect(clock.nowMs).toBe(30);
      await clock.runUntil(Promise.all(later));
      expect(kinesis.records().length).toBeLessThanOrEqual(2);
    });

    test('end with a flush that waits for them', async () => {
      const { clock, producer } = packingProducer({}, { lingerMs: 5 });
      const put = producer.put(record(A));
      await clock.runUntil(producer.close());
      await expect(put).resolves.toMatchObject({ attempts: 1 });
      expect(clock.nowMs).toBe(25);
    });

    test('leave no timer behind an abort', async () => {
      const abort = new AbortController();
      const { clock, producer } = packingProducer({}, { lingerMs: 50, signal: abort.signal });
      const put = producer.put(record(A));
      clock.schedule(() => abort.abort(), 10);
      await expect(clock.runUntil(put)).rejects.toMatchObject({ code: 'PRODUCER_ABORTED' });
      await clock.runOut();
      expect(producer.statistics().requests).toBe(0);
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
        { aggregation: 'packed', lingerMs: 1, maxRecordAgeMs: 0 },
        'lingerMs must be less than maxRecordAgeMs, which is 0, got 1',
      ],
      [
        { aggregation: 'packed', sequentialPuts: true },
        "sequentialPuts must be absent with aggregation: 'packed', which mixes keys, got true",
      ],
    ])('%j are refused', (options, message) => {
      expect(make(options)).toThrow(message);
    });

    test('go to one of 256 buckets by default', async () => {
      const { clock, kinesis, producer } = packingProducer({}, { hashBuckets: undefined });
      await clock.runUntil(producer.put(record(A)));
      expect(kinesis.records()).toMatchObject([{ explicitHashKey: String(bucketHashKey(A, 256)) }]);
    });

    test('a linger that is a little less than the age of a record sends it in time', async () => {
      const { clock, producer } = packingProducer({}, { lingerMs: 49, maxRecordAgeMs: 50 });
      expect(await clock.runUntil(producer.putAll([record(A)]))).toMatchObject({ delivered: 1, rejected: 0 });
    });

    test('without packs, hash buckets give each record the hash key of its bucket all the same', async () => {
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
