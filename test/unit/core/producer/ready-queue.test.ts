import {
  deaggregate,
  OrderedProducer,
  type OrderedProducerOptions,
  type ProducerRecord,
  type PutRecordsClient,
} from '../../../../lib/core';
import { FakeKinesis } from '../../../../lib/testing/fake-kinesis';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { codesOf, producerOnFakeStream, record } from './producer-on-fake-stream';

const MIB = 1024 * 1024;

const withHashKey = (partitionKey: string, explicitHashKey: bigint): ProducerRecord => ({
  ...record(partitionKey),
  explicitHashKey,
});

/**
 * A request is in flight for 35 ms, so other records wait. These records expire after 30 ms, and the producer then
 * sends the next records of their keys.
 */
const BUSY = { maxRequestsInFlight: 1, maxRecordAgeMs: 30, skipRejected: true };
const roundTrips = (...timesMs: number[]) => ({ roundTripMs: () => timesMs.shift() ?? 1 });

/** A producer with a request in flight for 35 ms. */
async function busyProducer(options: Partial<OrderedProducerOptions> = {}) {
  const setUp = producerOnFakeStream(roundTrips(35), { ...BUSY, ...options });
  const puts = [setUp.producer.put(record('busy'))];
  await setUp.clock.runUntil(setUp.clock.sleep(1));
  return { ...setUp, puts };
}

describe('put – a record expires before it is sent', () => {
  test('the next record of its key is sent instead', async () => {
    const { clock, kinesis, producer, puts } = await busyProducer({ sequentialPuts: true });
    puts.push(producer.put(record('a', 'expires')));
    clock.schedule(() => puts.push(producer.put(record('b'))), 10);
    clock.schedule(() => puts.push(producer.put(record('a', 'next'))), 12);
    await clock.runUntil(clock.sleep(15));
    expect(codesOf(await clock.runUntil(Promise.allSettled(puts)))).toEqual([
      'delivered',
      'RECORD_EXPIRED',
      'delivered',
      'delivered',
    ]);
    expect(kinesis.records().map(({ partitionKey }) => partitionKey)).toEqual(['busy', 'a', 'b']);
  });

  test('the next record of its key is aggregated by its own explicit hash key', async () => {
    const { clock, kinesis, producer, puts } = await busyProducer({ aggregation: 'packed', hashBuckets: 2 });
    puts.push(producer.put(withHashKey('a', 7n)));
    clock.schedule(() => puts.push(producer.put(withHashKey('b', 7n)), producer.put(withHashKey('a', 8n))), 12);
    await clock.runUntil(clock.sleep(15));
    await clock.runUntil(Promise.allSettled(puts));
    const stored = kinesis.records().filter(({ partitionKey }) => partitionKey.startsWith('hash-key'));
    expect(stored.map((each) => [each.explicitHashKey, deaggregate(each).map((user) => [user.partitionKey])])).toEqual([
      ['7', [['b']]],
      ['8', [['a']]],
    ]);
  });

  test('a later record of the same aggregation group is sent', async () => {
    const { clock, kinesis, producer, puts } = await busyProducer({ aggregation: 'packed', hashBuckets: 2 });
    puts.push(producer.put(withHashKey('a', 7n)));
    await clock.runUntil(Promise.allSettled(puts));
    await clock.runUntil(producer.put(withHashKey('b', 7n)));
    expect(kinesis.dataOf('hash-key-7')).toHaveLength(1);
  });

  test('the next record of its key is sent after the producer has read the size limit of the stream', async () => {
    const clock = new VirtualClock();
    const kinesis = new FakeKinesis({ clock, maxRecordKiB: 2_048, ...roundTrips(35) });
    const client: PutRecordsClient = {
      putRecords: (input) => kinesis.putRecords(input),
      describeStreamSummary: async () => {
        await clock.sleep(8);
        return { StreamDescriptionSummary: { MaxRecordSizeInKiB: 2_048 } };
      },
    };
    const producer = new OrderedProducer(client, { streamName: 'Events', clock, ...BUSY });
    const puts = [producer.put(record('busy'))];
    await clock.runUntil(clock.sleep(1));
    puts.push(producer.put(record('a')));
    clock.schedule(() => puts.push(producer.put(record('a', 'x'.repeat(MIB)))), 20);
    await clock.runUntil(clock.sleep(25));
    expect(codesOf(await clock.runUntil(Promise.allSettled(puts)))).toEqual([
      'delivered',
      'RECORD_EXPIRED',
      'delivered',
    ]);
    expect(clock.nowMs).toBe(40);
  });

  test('after the shard map was read, the producer sends only the waiting records that have not expired', async () => {
    const clock = new VirtualClock();
    const kinesis = new FakeKinesis({ clock, shardCount: 2, ...roundTrips(1, 50) });
    const client: PutRecordsClient = {
      putRecords: (input) => kinesis.putRecords(input),
      listShards: async (input) => {
        await clock.sleep(40);
        return kinesis.listShards(input);
      },
    };
    const producer = new OrderedProducer(client, { streamName: 'Events', clock, ...BUSY });
    await clock.runUntil(producer.put(record('first')));
    const puts = [producer.put(record('busy'))];
    await clock.runUntil(clock.sleep(1));
    puts.push(...['a', 'b'].map((key) => producer.put(record(key))));
    clock.schedule(() => puts.push(producer.put(record('a', 'later'))), 29);
    await clock.runUntil(clock.sleep(29));
    expect(codesOf(await clock.runUntil(Promise.allSettled(puts)))).toEqual([
      'delivered',
      'RECORD_EXPIRED',
      'RECORD_EXPIRED',
      'delivered',
    ]);
    expect(kinesis.allData().sort()).toEqual(['later', 'x', 'x']);
  });
});

describe('put – a request', () => {
  const sizesOf = (kinesis: FakeKinesis) => kinesis.requests.map(({ Records }) => Records.length);

  test.each(['per-key', 'packed'] as const)('has at most 10 MiB with full aggregates: %s', async (aggregation) => {
    const { clock, kinesis, producer } = producerOnFakeStream(
      { maxRecordKiB: 10_240 },
      { maxRecordBytes: 10 * MIB, aggregation },
    );
    const puts = [record('large', 'x'.repeat(10 * MIB - 30_000))];
    // Two records of one key. Without the additional bytes of an aggregate, both would fit into the request.
    for (let index = 0; index < 2; index++) puts.push(record('two', 'x'.repeat(14_990)));
    await clock.runUntil(Promise.all(puts.map((each) => producer.put(each))));
    expect(sizesOf(kinesis)).toEqual([1, 1]);
  });

  test('contains only one record if this record and the aggregation overhead exceed the size limit of a request', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream(
      { maxRecordKiB: 10_240 },
      { maxRecordBytes: 10 * MIB, aggregation: 'per-key' },
    );
    const puts = [6, 6, 9.9].map((mib, key) => producer.put(record(String(key), 'x'.repeat(mib * MIB))));
    await clock.runUntil(Promise.all(puts));
    expect(sizesOf(kinesis)).toEqual([1, 1, 1]);
  });
});

describe('putAll – the buffer', () => {
  test.each([
    ['2 of at most 8 records if all have one key', { maxBufferedRecords: 8 }, 1, 'a', 2],
    ['8 of at most 8 records if each has another key', { maxBufferedRecords: 8 }, 1, undefined, 8],
    ['1 record of one key if the record fills a quarter of the bytes', { maxBufferedBytes: 400 }, 99, 'a', 1],
    [
      '2 records of one key if one record fills less than a quarter of the bytes',
      { maxBufferedBytes: 404 },
      99,
      'a',
      2,
    ],
    ['8 records that fill the bytes', { maxBufferedBytes: 400 }, 49, undefined, 8],
    ['1 record, however small it is', { maxBufferedRecords: 1, maxBufferedBytes: 1 }, 99, 'a', 1],
  ])('holds %s', async (_, limits, dataBytes, key, expected) => {
    let pulled = 0;
    function* source() {
      for (pulled = 1; pulled <= 10; pulled++) yield record(key ?? String(pulled - 1), 'x'.repeat(dataBytes));
    }
    const { clock, producer } = producerOnFakeStream({}, limits);
    const all = producer.putAll(source());
    await clock.runUntil(clock.sleep(1));
    expect(pulled).toBe(expected);
    expect(await clock.runUntil(all)).toEqual({ delivered: 10, rejected: 0 });
  });
});
