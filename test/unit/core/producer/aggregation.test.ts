import { deaggregate, type OrderedProducerOptions, type ProducerRecord } from '../../../../lib/core';
import type { FakeKinesisOptions } from '../../../../lib/testing/fake-kinesis';
import { producerOnFakeStream, record } from './producer-on-fake-stream';

function setUp(kinesisOptions?: Partial<FakeKinesisOptions>, options?: Partial<OrderedProducerOptions>) {
  const { kinesis, ...rest } = producerOnFakeStream(kinesisOptions, { aggregation: true, ...options });
  const userRecords = () => kinesis.records().flatMap((stored) => deaggregate(stored));
  const texts = () => userRecords().map(({ data }) => Buffer.from(data).toString());
  return { kinesis, ...rest, userRecords, texts };
}

describe('OrderedProducer with aggregation', () => {
  test('aggregates the waiting records of a key into one Kinesis record, and each receipt contains the position of its record in the aggregate', async () => {
    const { clock, kinesis, producer, texts } = setUp();
    const receipts = await clock.runUntil(Promise.all(['1', '2', '3'].map((data) => producer.put(record('a', data)))));
    expect(kinesis.records()).toHaveLength(1);
    expect(texts()).toEqual(['1', '2', '3']);
    expect(receipts).toEqual(
      [0, 1, 2].map((subSequenceNumber) => ({
        shardId: 'shardId-000000000000',
        sequenceNumber: '0',
        subSequenceNumber,
        attempts: 1,
      })),
    );
  });

  test('aggregates a single record whose data are an aggregate, because a consumer would deaggregate it', async () => {
    const earlier = setUp();
    await earlier.clock.runUntil(Promise.all(['1', '2'].map((data) => earlier.producer.put(record('a', data)))));
    const { data } = earlier.kinesis.records()[0]!;
    const { clock, producer, userRecords } = setUp();
    const receipt = await clock.runUntil(producer.put({ partitionKey: 'a', data }));
    expect(receipt).toHaveProperty('subSequenceNumber', 0);
    expect(userRecords().map((each) => Buffer.from(each.data))).toEqual([Buffer.from(data)]);
  });

  test('fills an aggregate to its size limit, and sends a record above this limit alone', async () => {
    const { clock, kinesis, producer, userRecords } = setUp({}, { maxAggregateBytes: 1_000 });
    const sizes = [300, 300, 300, 300, 5_000, 300, 300];
    const puts = sizes.map((size) => producer.put(record('a', 'x'.repeat(size))));
    const positions = (await clock.runUntil(Promise.all(puts))).map(({ subSequenceNumber }) => subSequenceNumber);
    expect(positions).toEqual([0, 1, 2, undefined, undefined, 0, 1]);
    const stored = kinesis.records();
    expect(stored.map((each) => deaggregate(each).length)).toEqual([3, 1, 1, 2]);
    for (const { data } of stored.filter(({ data }) => data.length !== 5_000)) expect(data.length).toBeLessThan(1_000);
    expect(userRecords().map(({ data }) => data.length)).toEqual(sizes);
  });

  test('sends a failed aggregate again without changes, even if other records were put before the retry', async () => {
    let throttles = 2;
    const { clock, kinesis, producer, texts } = setUp({
      entryFate: () => (throttles-- > 0 ? 'throttled' : 'stored'),
    });
    const puts = [producer.put(record('a', '1')), producer.put(record('a', '2'))];
    clock.schedule(() => puts.push(producer.put(record('a', '3'))), 5);
    await clock.runUntil(clock.sleep(10));
    const receipts = await clock.runUntil(Promise.all(puts));
    expect(receipts.map(({ attempts }) => attempts)).toEqual([3, 3, 1]);
    expect(producer.statistics().retries).toBe(4);
    expect(kinesis.records()).toHaveLength(2);
    expect(texts()).toEqual(['1', '2', '3']);
  });

  test('counts user records and Kinesis records separately', async () => {
    const { clock, kinesis, producer } = setUp({
      entryFate: ({ PartitionKey }) => (PartitionKey === 'b' ? 'refused' : 'stored'),
    });
    const puts = ['a', 'a', 'a', 'b'].map((key) => producer.put(record(key)));
    await clock.runUntil(Promise.allSettled(puts));
    expect(producer.statistics()).toMatchObject({
      userRecordsReceived: 4,
      userRecordsPut: 3,
      userRecordsDataPut: 3,
      userRecordsFailed: 1,
      kinesisRecordsPut: 1,
      kinesisRecordsDataPut: kinesis.records()[0]!.data.length,
      allErrors: 1,
      errorsByCode: { InvalidArgumentException: 1 },
      requests: 1,
      requestRecords: 2,
      requestTimeMs: 20,
    });
  });
});

describe('OrderedProducer with a sequence', () => {
  test.each([true, false])(
    'numbers the records of each key in ascending order (aggregation: %s)',
    async (aggregation) => {
      const { clock, producer, userRecords } = setUp({}, { aggregation, sequence: true });
      const keys = ['a', 'b', 'a', 'a', 'b'];
      await clock.runUntil(Promise.all(keys.map((key, index) => producer.put(record(key, String(index))))));
      for (const key of ['a', 'b']) {
        const numbers = userRecords().flatMap(({ partitionKey, sequence }) =>
          partitionKey === key ? [sequence!.sequenceNumber] : [],
        );
        expect(numbers.every((number, index) => index === 0 || number > numbers[index - 1]!)).toBe(true);
        expect(numbers).toHaveLength(key === 'a' ? 3 : 2);
      }
      expect(new Set(userRecords().map(({ sequence }) => sequence!.producerId)).size).toBe(1);
    },
  );

  test.each(['per-key', 'packed'] as const)(
    'gives all duplicates of a record the same sequence number: %s',
    async (aggregation) => {
      let lost = 1;
      const { clock, producer, userRecords } = setUp(
        { requestFate: () => (lost-- > 0 ? { appliedLateByMs: 500 } : 'answered') },
        { sequence: true, aggregation },
      );
      await clock.runUntil(Promise.all(['1', '2'].map((data) => producer.put(record('a', data)))));
      await clock.runOut();
      expect(userRecords().map(({ sequence }) => sequence!.sequenceNumber)).toEqual([0n, 1n, 0n, 1n]);
    },
  );

  describe('with sequences from the caller', () => {
    const withSequence = (number: bigint, data = 'x'): ProducerRecord => ({
      ...record('a', data),
      sequence: { producerId: 'queue', sequenceNumber: number },
    });

    test.each([{}, { aggregation: false }, { sequence: true }])(
      'writes the sequence of the record with the options %j',
      async (options) => {
        const { clock, producer, userRecords } = setUp({}, options);
        const numbers = [0n, 1n, 20n];
        await clock.runUntil(Promise.all(numbers.map((number) => producer.put(withSequence(number)))));
        expect(userRecords().map(({ sequence }) => sequence)).toEqual(
          numbers.map((sequenceNumber) => ({ producerId: 'queue', sequenceNumber })),
        );
      },
    );

    test.each([
      [{ producerId: '', sequenceNumber: 0n }, 'sequence.producerId must be a string of 1 to 256 characters, got ""'],
      [{ producerId: '\ud800', sequenceNumber: 0n }, 'sequence.producerId must be a string of 1 to 256 characters'],
      [
        { producerId: 'p', sequenceNumber: -1n },
        'sequence.sequenceNumber must be a bigint from 0 to 10^40 - 1, got -1',
      ],
      [{ producerId: 'p', sequenceNumber: 10n ** 40n }, 'sequence.sequenceNumber must be a bigint from 0 to 10^40 - 1'],
    ])('rejects %p as a sequence', async (sequence, message) => {
      const { producer } = setUp();
      await expect(producer.put({ ...record('a'), sequence })).rejects.toThrow(message);
    });
  });
});
