import { Readable } from 'node:stream';
import fc from 'fast-check';
import {
  EarlierRecordFailedError,
  InvalidArgumentError,
  InvalidHashKeyError,
  InvalidPartitionKeyError,
  OrderedProducer,
  type OrderedProducerOptions,
  ProducerAbortedError,
  ProducerClosedError,
  type ProducerRecord,
  type PutRecordsInput,
  RecordRejectedError,
  RecordTooLargeError,
} from '../../../lib/core';
import { FakeKinesis, type FakeKinesisOptions } from '../../../lib/testing/fake-kinesis';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../lib/testing/virtual-clock';

const record = (partitionKey: string, data = 'x'): ProducerRecord => ({ partitionKey, data: Buffer.from(data) });

function setUp(kinesisOptions: Partial<FakeKinesisOptions> = {}, options: Partial<OrderedProducerOptions> = {}) {
  const clock = new VirtualClock();
  const kinesis = new FakeKinesis({ clock, ...kinesisOptions });
  const producer = new OrderedProducer(kinesis, { streamName: 'Events', clock, random: () => 0.5, ...options });
  return { clock, kinesis, producer };
}

async function* asyncSource<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

describe('OrderedProducer', () => {
  test('returns where each record landed', async () => {
    const { clock, producer } = setUp({ shardCount: 2 });
    const receipts = await clock.runUntil(Promise.all([producer.put(record('6')), producer.put(record('1'))]));
    expect(receipts).toEqual([
      { shardId: 'shardId-000000000000', sequenceNumber: '0', attempts: 1 },
      { shardId: 'shardId-000000000001', sequenceNumber: '1', attempts: 1 },
    ]);
  });

  test('sends an explicit hash key as a decimal number', async () => {
    const { clock, kinesis, producer } = setUp({ shardCount: 2 });
    const put = producer.put({ ...record('6'), explicitHashKey: 2n ** 128n - 1n });
    expect((await clock.runUntil(put)).shardId).toBe('shardId-000000000001');
    expect(kinesis.requests[0]!.Records[0]!.ExplicitHashKey).toBe('340282366920938463463374607431768211455');
  });

  test.each([
    [{ streamName: 'Events' }, { StreamName: 'Events' }],
    [{ streamName: undefined, streamArn: 'arn:stream' }, { StreamARN: 'arn:stream' }],
  ])('names the stream %j as %j', async (options, expected) => {
    const { clock, kinesis, producer } = setUp({}, options);
    await clock.runUntil(producer.put(record('a')));
    expect(kinesis.requests[0]).toMatchObject(expected);
  });

  test('posts the seed example as three requests: a cycle for each record of the busiest key', async () => {
    const { clock, kinesis, producer } = setUp();
    const events = ['8a9e create', 'd0d9 create', '8a9e update', '8a9e destroy', 'b20d update'];
    const records = events.map((event) => record(event.slice(0, 4), event.slice(5)));
    await clock.runUntil(Promise.all(records.map((each) => producer.put(each))));
    expect(kinesis.requests.map(({ Records }) => Records.map(({ PartitionKey }) => PartitionKey))).toEqual([
      ['8a9e', 'd0d9', 'b20d'],
      ['8a9e'],
      ['8a9e'],
    ]);
    expect(kinesis.dataOf('8a9e')).toEqual(['create', 'update', 'destroy']);
  });

  test('never has two records of one key, nor too many requests, under way', async () => {
    const { clock, kinesis } = setUp();
    const client = { putRecords: (input: PutRecordsInput) => kinesis.putRecords(input) };
    const producer = new OrderedProducer(client, { streamName: 'Events', clock, maxRequestsInFlight: 3 });
    const records = Array.from({ length: 6_000 }, (_, index) => record(String(index % 3_000)));
    await clock.runUntil(Promise.all(records.map((each) => producer.put(each))));
    expect(kinesis.mostInFlight).toBe(3);
    expect(kinesis.requests).toHaveLength(12);
    for (const { Records } of kinesis.requests) {
      expect(new Set(Records.map(({ PartitionKey }) => PartitionKey)).size).toBe(Records.length);
    }
  });

  test('fills a request to 500 records', async () => {
    const { clock, kinesis, producer } = setUp();
    const records = Array.from({ length: 501 }, (_, index) => record(String(index)));
    await clock.runUntil(Promise.all(records.map((each) => producer.put(each))));
    expect(kinesis.requests.map(({ Records }) => Records.length)).toEqual([500, 1]);
  });

  test('fills a request to 10 MiB, partition keys in UTF-8 included', async () => {
    const { clock, kinesis, producer } = setUp();
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

  test('fills a request to no more than 10 MiB with the numbers of its records', async () => {
    const { clock, kinesis, producer } = setUp({}, { sequence: true, maxRecordBytes: 1024 * 1024 });
    // The last one would still fit without its number, but not with it.
    const sizes = [...Array<number>(10).fill(1024 * 1024 - 1_000), 9_070];
    const puts = sizes.map((bytes, key) => producer.put({ partitionKey: String(key), data: Buffer.alloc(bytes) }));
    await clock.runUntil(Promise.all(puts));
    expect(kinesis.requests.map(({ Records }) => Records.length)).toEqual([10, 1]);
  });

  describe('when records fail', () => {
    test('sends a throttled record again before the next one of its key', async () => {
      let throttles = 2;
      const { clock, kinesis, producer } = setUp({
        entryFate: ({ Data }) => (String(Data) === 'one' && throttles-- > 0 ? 'throttled' : 'stored'),
      });
      const puts = ['one', 'two', 'three'].map((data) => producer.put(record('a', data)));
      expect((await clock.runUntil(Promise.all(puts))).map(({ attempts }) => attempts)).toEqual([3, 1, 1]);
      expect(kinesis.dataOf('a')).toEqual(['one', 'two', 'three']);
    });

    test('lets other keys pass a key that is held up', async () => {
      const { clock, kinesis, producer } = setUp(
        { entryFate: ({ PartitionKey }) => (PartitionKey === 'hot' ? 'throttled' : 'stored') },
        { maxAttempts: 5 },
      );
      const hot = producer.put(record('hot')).catch((error) => error);
      await clock.runUntil(Promise.all(['b', 'c'].map((key) => producer.put(record(key)))));
      expect(kinesis.dataOf('b')).toEqual(['x']);
      expect(await clock.runUntil(hot)).toMatchObject({
        code: 'RECORD_REJECTED',
        serviceCode: 'ProvisionedThroughputExceededException',
        attempts: 5,
      });
    });

    test('sends the records of a failed request again', async () => {
      let failures = 1;
      const { clock, kinesis, producer } = setUp({ requestFate: () => (failures-- > 0 ? 'failed' : 'answered') });
      const receipts = await clock.runUntil(Promise.all(['a', 'b'].map((key) => producer.put(record(key)))));
      expect(receipts.map(({ attempts }) => attempts)).toEqual([2, 2]);
      expect(kinesis.allData()).toHaveLength(2);
    });

    test('backs off exponentially, with full jitter and a cap', async () => {
      const { clock, producer } = setUp(
        { entryFate: () => 'throttled', roundTripMs: () => 0 },
        { maxAttempts: 5, backoffBaseMs: 100, backoffCapMs: 300, random: () => 0.5 },
      );
      await expect(clock.runUntil(producer.put(record('a')))).rejects.toThrow(RecordRejectedError);
      expect(clock.nowMs).toBe(50 + 100 + 150 + 150);
    });

    test('rejects a refused record and the later ones of its key, and nothing else', async () => {
      const { clock, kinesis, producer } = setUp({
        entryFate: ({ Data }) => (String(Data) === 'bad' ? 'refused' : 'stored'),
      });
      const puts = ['good', 'bad', 'later', 'last'].map((data) => producer.put(record('a', data)));
      const other = producer.put(record('b'));
      const results = await clock.runUntil(Promise.allSettled([...puts, other]));
      expect(results.map((result) => (result.status === 'rejected' ? result.reason.code : 'delivered'))).toEqual([
        'delivered',
        'RECORD_REJECTED',
        'EARLIER_RECORD_FAILED',
        'EARLIER_RECORD_FAILED',
        'delivered',
      ]);
      expect(kinesis.dataOf('a')).toEqual(['good']);
      expect((results[2] as PromiseRejectedResult).reason.cause).toBeInstanceOf(RecordRejectedError);
    });

    test('takes a key up again after its rejection was reported', async () => {
      let refusals = 1;
      const { clock, kinesis, producer } = setUp({ entryFate: () => (refusals-- > 0 ? 'refused' : 'stored') });
      await expect(clock.runUntil(producer.put(record('a', 'bad')))).rejects.toThrow(RecordRejectedError);
      await clock.runUntil(producer.put(record('a', 'good')));
      expect(kinesis.dataOf('a')).toEqual(['good']);
    });

    test('rejects at once what repetition cannot mend', async () => {
      const { clock, kinesis, producer } = setUp({ requestFate: () => 'denied' });
      await expect(clock.runUntil(producer.put(record('a')))).rejects.toMatchObject({
        serviceCode: 'AccessDeniedException',
        attempts: 1,
      });
      expect(kinesis.requests).toHaveLength(1);
    });

    test('sends again when an answer does not fit its request', async () => {
      let answers = 0;
      const clock = new VirtualClock();
      const client = {
        putRecords: async () => (answers++ === 0 ? {} : { Records: [{ ShardId: 's', SequenceNumber: '1' }] }),
      };
      const producer = new OrderedProducer(client, { streamName: 'Events', clock });
      expect(await clock.runUntil(producer.put(record('a')))).toMatchObject({ attempts: 2 });
    });
  });

  describe('putAll', () => {
    test('delivers every record of a source and counts them', async () => {
      const { clock, kinesis, producer } = setUp({ shardCount: 4 });
      async function* source() {
        for (let index = 0; index < 1_000; index++) yield record(String(index % 7), String(index));
      }
      expect(await clock.runUntil(producer.putAll(source()))).toEqual({ delivered: 1_000, rejected: 0 });
      expect(kinesis.dataOf('3').map(Number)).toEqual(Array.from({ length: 143 }, (_, turn) => turn * 7 + 3));
    });

    test.each([
      ['records', { maxBufferedRecords: 10 }, 10],
      ['bytes', { maxBufferedBytes: 1_000 }, 10],
    ])('pulls no further than its buffer of %s reaches', async (_, options, most) => {
      const { clock, producer } = setUp({}, options);
      let pulled = 0;
      let delivered = 0;
      let furthestAhead = 0;
      function* source() {
        for (; pulled < 200; pulled++) {
          furthestAhead = Math.max(furthestAhead, pulled - delivered);
          yield record(String(pulled), 'x'.repeat(100 - String(pulled).length));
        }
      }
      const observer = { delivered: () => void delivered++ };
      await clock.runUntil(producer.putAll(source(), observer));
      expect(delivered).toBe(200);
      expect(furthestAhead).toBeLessThanOrEqual(most);
    });

    test('serves two sources at once through one small buffer', async () => {
      const { clock, kinesis, producer } = setUp({}, { maxBufferedRecords: 1 });
      const source = (key: string, length: number) => Array.from({ length }, (_, index) => record(key, String(index)));
      await clock.runUntil(Promise.all([producer.putAll(source('a', 3)), producer.putAll(source('b', 30))]));
      expect(kinesis.dataOf('a')).toHaveLength(3);
      expect(kinesis.dataOf('b')).toHaveLength(30);
    });

    test('sends nothing more of a key once one of its records failed, however late it is pulled', async () => {
      const { clock, kinesis, producer } = setUp(
        { entryFate: ({ Data }) => (String(Data) === 'a1' ? 'refused' : 'stored') },
        { maxBufferedRecords: 1 },
      );
      const names = ['a0', 'a1', 'b0', 'a2', 'b1', 'a3'];
      const ends: string[] = [];
      const summary = await clock.runUntil(
        producer.putAll(
          names.map((name) => record(name[0]!, name)),
          {
            delivered: (index) => ends.push(`${names[index]} delivered`),
            rejected: (index, _, error) => ends.push(`${names[index]} ${(error as RecordRejectedError).code}`),
          },
        ),
      );
      expect(summary).toMatchObject({ delivered: 3, rejected: 3, firstRejection: { index: 1 } });
      expect(ends.sort()).toEqual([
        'a0 delivered',
        'a1 RECORD_REJECTED',
        'a2 EARLIER_RECORD_FAILED',
        'a3 EARLIER_RECORD_FAILED',
        'b0 delivered',
        'b1 delivered',
      ]);
      expect(kinesis.dataOf('a')).toEqual(['a0']);
    });

    test('rejects an invalid record and goes on', async () => {
      const { clock, producer } = setUp();
      const summary = await clock.runUntil(producer.putAll([record(''), record('b')]));
      expect(summary).toMatchObject({ delivered: 1, rejected: 1 });
      expect(summary.firstRejection!.error).toBeInstanceOf(InvalidPartitionKeyError);
    });

    test.each([
      ['null', null, 'INVALID_ARGUMENT'],
      ['undefined', undefined, 'INVALID_ARGUMENT'],
      ['an empty object', {}, 'INVALID_PARTITION_KEY'],
    ])('refuses %s as often as it comes, each for what it is', async (_, nothing, code) => {
      const { clock, kinesis, producer } = setUp();
      const codes: string[] = [];
      const observer = {
        rejected: (_: number, __: unknown, error: Error) => void codes.push((error as RecordRejectedError).code),
      };
      const records = [nothing, nothing, record('a')] as ProducerRecord[];
      expect(await clock.runUntil(producer.putAll(records, observer))).toMatchObject({ delivered: 1, rejected: 2 });
      expect(codes).toEqual([code, code]);
      expect(kinesis.dataOf('a')).toEqual(['x']);
    });

    test("takes Node's own streams, and steps that are promises of another make", async () => {
      const { clock, kinesis, producer } = setUp();
      await clock.runUntil(producer.putAll(Readable.from([record('a', '1'), record('a', '2')])));
      let step = 0;
      const thenable = {
        [Symbol.asyncIterator]: () => ({
          next: () => {
            step += 1;
            const result = step > 1 ? { done: true } : { done: false, value: record('a', '3') };
            // biome-ignore lint/suspicious/noThenProperty: a promise of another make is what is tested
            return { then: (resolve: (result: unknown) => void) => resolve(result) };
          },
        }),
      };
      await clock.runUntil(producer.putAll(thenable as unknown as AsyncIterable<ProducerRecord>));
      expect(kinesis.dataOf('a')).toEqual(['1', '2', '3']);
    });

    test('lets an observer put again what was rejected: it starts anew, in a later request', async () => {
      const { clock, kinesis, producer } = setUp({
        entryFate: ({ Data }) => (String(Data) === 'bad' ? 'refused' : 'stored'),
      });
      const again: Promise<unknown>[] = [];
      const observer = {
        rejected: (_: number, { partitionKey }: ProducerRecord) => {
          again.push(producer.putAll([record(partitionKey, `again ${again.length}`)]));
        },
      };
      const source = ['bad', 'waits', 'waits too'].map((data) => record('a', data));
      await clock.runUntil(producer.putAll(source, observer));
      await clock.runUntil(Promise.all(again));
      expect(kinesis.dataOf('a')).toEqual(['again 0', 'again 1', 'again 2']);
    });

    test('hears an abort that happens inside its source', async () => {
      const abort = new AbortController();
      const { clock, producer } = setUp({}, { signal: abort.signal });
      const source = {
        [Symbol.asyncIterator]: () => ({
          next: () => {
            abort.abort();
            return new Promise<IteratorResult<ProducerRecord>>(() => {});
          },
        }),
      };
      await expect(clock.runUntil(producer.putAll(source))).rejects.toThrow(ProducerAbortedError);
    });

    test('hears an abort while a source yields nothing but records it refuses', async () => {
      const abort = new AbortController();
      const { producer } = setUp({}, { signal: abort.signal });
      function* endless() {
        for (;;) yield record('');
      }
      setTimeout(() => abort.abort());
      await expect(producer.putAll(endless())).rejects.toThrow(ProducerAbortedError);
    });

    test('throws what its observer throws even if its source fails to clean up, after the records have ended', async () => {
      const { clock, producer } = setUp();
      const ends: string[] = [];
      function* source() {
        try {
          yield record('a');
          yield record('');
          yield record('b');
        } finally {
          // biome-ignore lint/correctness/noUnsafeFinally: a source that fails to clean up is what is tested
          throw new Error('cleanup broke');
        }
      }
      const observer = {
        delivered: () => void ends.push('delivered'),
        rejected: () => {
          throw new Error('observer broke');
        },
      };
      await expect(clock.runUntil(producer.putAll(source(), observer))).rejects.toThrow('observer broke');
      expect(ends).toEqual(['delivered']);
    });

    test('throws what its source throws, after the records before it have ended', async () => {
      const { clock, kinesis, producer } = setUp();
      function* source() {
        yield record('a');
        throw new Error('source broke');
      }
      await expect(clock.runUntil(producer.putAll(source()))).rejects.toThrow('source broke');
      expect(kinesis.dataOf('a')).toEqual(['x']);
    });

    test.each([
      ['abort', (abort: AbortController) => abort.abort(), ProducerAbortedError],
      ['close', (_: AbortController, producer: OrderedProducer) => void producer.close(), ProducerClosedError],
    ])('ends on %s even while its source keeps it waiting', async (_, end, error) => {
      const abort = new AbortController();
      const { clock, kinesis, producer } = setUp({}, { signal: abort.signal });
      async function* idle() {
        yield record('a');
        await new Promise(() => {});
      }
      const all = producer.putAll(idle());
      clock.schedule(() => end(abort, producer), 100);
      await expect(clock.runUntil(all)).rejects.toThrow(error);
      expect(kinesis.dataOf('a')).toEqual(['x']);
    });

    test('sends nothing more of a failed key even when answers come within microtasks', async () => {
      const { clock, kinesis, producer } = setUp({
        roundTripMs: () => 0,
        entryFate: ({ Data }) => (String(Data) === 'a0' ? 'refused' : 'stored'),
      });
      const source = async function* () {
        for (const name of ['a0', 'a1', 'a2', 'b0']) yield record(name[0]!, name);
      };
      expect(await clock.runUntil(producer.putAll(source()))).toMatchObject({ delivered: 1, rejected: 3 });
      expect(kinesis.allData()).toEqual(['b0']);
    });

    test('throws what its observer throws, after the records pulled so far have ended', async () => {
      const { clock, kinesis, producer } = setUp({}, { maxBufferedRecords: 2 });
      let pulled = 0;
      function* source() {
        for (; pulled < 100; pulled++) yield record(String(pulled));
      }
      const observer = {
        delivered: () => {
          throw new Error('observer broke');
        },
      };
      await expect(clock.runUntil(producer.putAll(source(), observer))).rejects.toThrow('observer broke');
      expect(pulled).toBeLessThan(10);
      expect(kinesis.allData()).toHaveLength(pulled + 1);
      await expect(clock.runUntil(producer.put(record('a')))).resolves.toMatchObject({ attempts: 1 });
    });

    test('tells its source when it pulls no further', async () => {
      const { clock, producer } = setUp();
      let told = false;
      function* source() {
        try {
          yield record('');
          yield record('b');
        } finally {
          told = true;
        }
      }
      const observer = {
        rejected: () => {
          throw new Error('observer broke');
        },
      };
      await expect(clock.runUntil(producer.putAll(source(), observer))).rejects.toThrow('observer broke');
      expect(told).toBe(true);
    });

    test('stops pulling when the signal aborts', async () => {
      const abort = new AbortController();
      const { clock, producer } = setUp({}, { signal: abort.signal, maxBufferedRecords: 5 });
      let pulled = 0;
      function* endless() {
        for (;;) {
          if (pulled === 20) abort.abort();
          yield record(String(pulled++));
        }
      }
      await expect(clock.runUntil(producer.putAll(endless()))).rejects.toThrow(ProducerAbortedError);
      expect(pulled).toBe(21);
    });
  });

  describe('flush, close and abort', () => {
    test('flush waits for what was put', async () => {
      const { clock, kinesis, producer } = setUp();
      void producer.put(record('a', '1'));
      void producer.put(record('a', '2'));
      await clock.runUntil(producer.flush());
      expect(kinesis.dataOf('a')).toEqual(['1', '2']);
    });

    test('close delivers what was put and takes nothing more', async () => {
      const { clock, kinesis, producer } = setUp();
      void producer.put(record('a'));
      const closed = producer.close();
      await expect(producer.put(record('a'))).rejects.toThrow(ProducerClosedError);
      await clock.runUntil(closed);
      expect(kinesis.dataOf('a')).toEqual(['x']);
    });

    test('abort rejects what waits and keeps the answer of what is under way', async () => {
      const abort = new AbortController();
      const { clock, kinesis, producer } = setUp({}, { signal: abort.signal });
      const puts = ['1', '2', '3'].map((data) => producer.put(record('a', data)));
      clock.schedule(() => abort.abort(), 10);
      const results = await clock.runUntil(Promise.allSettled(puts));
      expect(results.map((result) => (result.status === 'rejected' ? result.reason.code : 'delivered'))).toEqual([
        'delivered',
        'PRODUCER_ABORTED',
        'PRODUCER_ABORTED',
      ]);
      expect(kinesis.dataOf('a')).toEqual(['1']);
      await expect(producer.put(record('b'))).rejects.toThrow(ProducerAbortedError);
    });

    test('abort while a request is under way tells what the request failed of', async () => {
      const abort = new AbortController();
      const { clock, producer } = setUp({ requestFate: () => 'answer lost' }, { signal: abort.signal });
      const puts = [producer.put(record('a', '1')), producer.put(record('a', '2'))];
      clock.schedule(() => abort.abort(), 10);
      const [first, second] = await clock.runUntil(Promise.allSettled(puts));
      expect(first).toMatchObject({ reason: { code: 'RECORD_REJECTED', serviceCode: 'TimeoutError', attempts: 1 } });
      expect(second).toMatchObject({ reason: { code: 'EARLIER_RECORD_FAILED' } });
    });

    test('a signal that has aborted before lets nothing in', async () => {
      const { kinesis, producer } = setUp({}, { signal: AbortSignal.abort() });
      await expect(producer.put(record('a'))).rejects.toThrow(ProducerAbortedError);
      await expect(producer.putAll([record('a')])).rejects.toThrow(ProducerAbortedError);
      expect(kinesis.requests).toHaveLength(0);
    });

    test('flush does not wait for what is put after it', async () => {
      const { clock, kinesis, producer } = setUp();
      void producer.put(record('a', '1'));
      const flushed = producer.flush();
      void producer.put(record('a', '2'));
      await clock.runUntil(flushed);
      expect(kinesis.dataOf('a')).toEqual(['1']);
      await clock.runUntil(producer.close());
      expect(kinesis.dataOf('a')).toEqual(['1', '2']);
    });

    test('abort ends a back-off, and tells what the record failed of', async () => {
      const abort = new AbortController();
      const { clock, kinesis, producer } = setUp({ entryFate: () => 'throttled' }, { signal: abort.signal });
      const put = producer.put(record('a'));
      clock.schedule(() => abort.abort(new Error('deadline')), 30);
      await expect(clock.runUntil(put)).rejects.toMatchObject({
        code: 'RECORD_REJECTED',
        serviceCode: 'ProvisionedThroughputExceededException',
        attempts: 1,
      });
      expect(clock.nowMs).toBe(30);
      expect(kinesis.requests).toHaveLength(1);
    });
  });

  describe('bad input', () => {
    test.each<[string, unknown, new (...args: never[]) => Error, string]>([
      [
        'an empty partition key',
        record(''),
        InvalidPartitionKeyError,
        'partitionKey must be a string of 1 to 256 characters, got ""',
      ],
      ['a partition key of 257 characters', record('k'.repeat(257)), InvalidPartitionKeyError, '(257 characters)'],
      ['a lone surrogate', record('\ud800'), InvalidPartitionKeyError, 'well-formed'],
      ['a partition key that is no string', { ...record('a'), partitionKey: 7 }, InvalidPartitionKeyError, 'got 7'],
      [
        'data that are no bytes',
        { partitionKey: 'a', data: 'text' },
        InvalidArgumentError,
        'data must be a Uint8Array',
      ],
      [
        'a negative hash key',
        { ...record('a'), explicitHashKey: -1n },
        InvalidHashKeyError,
        'explicitHashKey must be an integer from 0 to 2^128 - 1, got -1',
      ],
      [
        'a hash key of 2^128',
        { ...record('a'), explicitHashKey: 2n ** 128n },
        InvalidHashKeyError,
        '340282366920938463463374607431768211456',
      ],
      ['a hash key that is no bigint', { ...record('a'), explicitHashKey: 5 }, InvalidHashKeyError, 'got 5'],
      [
        'more than 10 MiB',
        record('a', 'x'.repeat(10 * 1024 * 1024)),
        RecordTooLargeError,
        'at most 10485760 bytes together with the partition key, got 10485761',
      ],
      ['no record', null, InvalidArgumentError, 'record must be an object'],
    ])('rejects %s and sends nothing', async (_, bad, error, message) => {
      const { kinesis, producer } = setUp();
      const put = producer.put(bad as ProducerRecord);
      await expect(put).rejects.toThrow(error);
      await expect(put).rejects.toThrow(message);
      expect(kinesis.requests).toHaveLength(0);
    });

    test('accepts larger records on a stream that was given a larger limit', async () => {
      const { clock, producer } = setUp({ maxRecordKiB: 10_240 }, { maxRecordBytes: 10 * 1024 * 1024 });
      await clock.runUntil(producer.put(record('a', 'x'.repeat(2 * 1024 * 1024))));
    });

    test.each<[Partial<OrderedProducerOptions>, string]>([
      [{ streamName: undefined }, 'streamName must be'],
      [{ streamName: '' }, 'streamName must be'],
      [{ streamArn: 'arn:stream' }, 'streamArn must be absent when streamName is given'],
      [
        { maxRecordBytes: 10 * 1024 * 1024 + 1 },
        'maxRecordBytes must be a whole number from 1 to 10485760, got 10485761',
      ],
      [{ maxRequestsInFlight: 0 }, 'maxRequestsInFlight must be'],
      [{ maxBufferedRecords: 1.5 }, 'maxBufferedRecords must be'],
      [{ maxBufferedBytes: Number.NaN }, 'maxBufferedBytes must be'],
      [{ maxAttempts: -1 }, 'maxAttempts must be'],
      [{ backoffBaseMs: -1 }, 'backoffBaseMs must be'],
      [{ backoffBaseMs: 2 ** 31 }, 'backoffBaseMs must be a number of milliseconds from 0 to 2147483647'],
      [{ backoffCapMs: Number.POSITIVE_INFINITY }, 'backoffCapMs must be'],
    ])('refuses the options %j', (options, message) => {
      expect(() => setUp({}, options)).toThrow(InvalidArgumentError);
      expect(() => setUp({}, options)).toThrow(message);
    });
  });

  test('keeps every key in order, loses nothing and delivers nothing twice, under random failures', async () => {
    const schedule = fc.record({
      seed: fc.integer(),
      keys: fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 120 }),
      throttled: fc.double({ min: 0, max: 0.6, noNaN: true }),
      refused: fc.double({ min: 0, max: 0.05, noNaN: true }),
      failed: fc.double({ min: 0, max: 0.3, noNaN: true }),
      maxRequestsInFlight: fc.integer({ min: 1, max: 4 }),
      maxBufferedRecords: fc.integer({ min: 1, max: 50 }),
      streamed: fc.constantFrom('no', 'sync', 'async'),
      immediate: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(schedule, async ({ seed, keys, throttled, refused, failed, streamed, immediate, ...limits }) => {
        const random = seededRandom(seed);
        const { clock, kinesis, producer } = setUp(
          {
            shardCount: 3,
            roundTripMs: () => (immediate ? 0 : random() * 50),
            entryFate: () => (random() < refused ? 'refused' : random() < throttled ? 'throttled' : 'stored'),
            requestFate: () => (random() < failed ? 'failed' : 'answered'),
          },
          { ...limits, random, maxAttempts: 4 },
        );
        const records = keys.map((key, index) => record(String(key), String(index)));
        const delivered = new Array<boolean | undefined>(records.length);
        if (streamed !== 'no') {
          const observer = {
            delivered(index: number) {
              delivered[index] = true;
            },
            rejected(index: number) {
              delivered[index] = false;
            },
          };
          const source = streamed === 'sync' ? records : asyncSource(records);
          await clock.runUntil(producer.putAll(source, observer));
        } else {
          const results = await clock.runUntil(Promise.allSettled(records.map((each) => producer.put(each))));
          for (const [index, { status }] of results.entries()) delivered[index] = status === 'fulfilled';
        }
        for (const key of new Set(keys)) {
          const all = keys.flatMap((other, index) => (other === key ? [index] : []));
          const acknowledged = all.filter((index) => delivered[index]);
          expect(kinesis.dataOf(String(key)).map(Number)).toEqual(acknowledged);
          expect(acknowledged).toEqual(all.slice(0, acknowledged.length));
          expect(all.slice(acknowledged.length).every((index) => delivered[index] === false)).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('repeats a record whose answer was lost, right behind its first copy', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const random = seededRandom(seed);
        const { clock, kinesis, producer } = setUp(
          { requestFate: () => (random() < 0.4 ? 'answer lost' : 'answered') },
          { random },
        );
        const puts = Array.from({ length: 30 }, (_, index) => producer.put(record(String(index % 3), String(index))));
        await clock.runUntil(Promise.all(puts));
        for (const key of ['0', '1', '2']) {
          const data = kinesis.dataOf(key);
          const once = data.filter((each, index) => each !== data[index - 1]);
          expect(once.map(Number)).toEqual(Array.from({ length: 10 }, (_, turn) => turn * 3 + Number(key)));
        }
      }),
      { numRuns: 100 },
    );
  });

  test('names errors so that they can be told apart', async () => {
    const { producer } = setUp();
    const error = await producer.put(record('')).catch((reason) => reason);
    expect(error).toMatchObject({
      name: 'InvalidPartitionKeyError',
      code: 'INVALID_PARTITION_KEY',
      field: 'partitionKey',
      value: '',
    });
    expect(new EarlierRecordFailedError('a')).toMatchObject({
      name: 'EarlierRecordFailedError',
      code: 'EARLIER_RECORD_FAILED',
    });
  });
});
