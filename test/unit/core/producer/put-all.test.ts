import { Readable } from 'node:stream';
import {
  ProducerAbortedError,
  ProducerClosedError,
  type ProducerRecord,
  RecordRejectedError,
} from '../../../../lib/core';
import { producerOnFakeStream, record } from './producer-on-fake-stream';

describe('putAll – its source and its observer', () => {
  test('throws the rejection of the first rejected record in the order of the source', async () => {
    const { clock, producer } = producerOnFakeStream({ entryFate: () => 'refused' });
    const summary = await clock.runUntil(producer.putAll([record('a'), record('')]));
    expect(summary).toMatchObject({ delivered: 0, rejected: 2, firstRejection: { index: 0 } });
  });

  test.each<[string, unknown]>([
    ['a number', 42],
    ['null', null],
    ['an iterator with an invalid result', { [Symbol.asyncIterator]: () => ({ next: async () => undefined }) }],
  ])('rejects %s as a source', async (_, source) => {
    const { clock, producer } = producerOnFakeStream();
    await expect(clock.runUntil(producer.putAll(source as ProducerRecord[]))).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('records must be an iterable or an async iterable of records'),
    });
  });

  test('rejects an observer that is not a function', async () => {
    const { producer } = producerOnFakeStream();
    await expect(producer.putAll([], null as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('calls the observer with the position, the record, and the receipt or error of each result', async () => {
    const { clock, producer } = producerOnFakeStream({
      entryFate: ({ PartitionKey }) => (PartitionKey === 'a' ? 'refused' : 'stored'),
    });
    const observer = { delivered: jest.fn(), rejected: jest.fn() };
    const records = ['a', 'b'].map((key) => record(key));
    await clock.runUntil(producer.putAll(records, observer));
    expect(observer.delivered.mock.calls).toEqual([[1, records[1], expect.objectContaining({ attempts: 1 })]]);
    expect(observer.rejected.mock.calls).toEqual([[0, records[0], expect.any(RecordRejectedError)]]);
  });

  test('yields to the event loop after 1,000 records', async () => {
    const { producer } = producerOnFakeStream();
    let pulled = 0;
    function* source() {
      for (pulled = 1; pulled <= 1_500; pulled++) yield record('');
    }
    const all = producer.putAll(source());
    expect(pulled).toBe(1_000);
    expect(await all).toMatchObject({ rejected: 1_500 });
  });

  test('closes the source and reads nothing from it if the producer is closed', async () => {
    const { producer } = producerOnFakeStream();
    await producer.close();
    const source = { next: jest.fn(), return: jest.fn() };
    await expect(producer.putAll({ [Symbol.iterator]: () => source })).rejects.toThrow(ProducerClosedError);
    expect(source.return).toHaveBeenCalled();
    expect(source.next).not.toHaveBeenCalled();
  });
});

describe('OrderedProducer.putAll', () => {
  test('sends every record of a source and counts them', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream({ shardCount: 4 });
    async function* source() {
      for (let index = 0; index < 1_000; index++) yield record(String(index % 7), String(index));
    }
    expect(await clock.runUntil(producer.putAll(source()))).toEqual({ delivered: 1_000, rejected: 0 });
    expect(kinesis.dataOf('3').map(Number)).toEqual(Array.from({ length: 143 }, (_, turn) => turn * 7 + 3));
  });

  test.each([
    ['records', { maxBufferedRecords: 10 }, 10],
    ['bytes', { maxBufferedBytes: 1_000 }, 10],
  ])('reads at most as many records as its buffer of %s can hold', async (_, options, most) => {
    const { clock, producer } = producerOnFakeStream({}, options);
    let pulled = 0;
    let delivered = 0;
    let furthestAhead = 0;
    function* source() {
      for (; pulled < 200; pulled++) {
        furthestAhead = Math.max(furthestAhead, pulled + 1 - delivered);
        yield record(String(pulled), 'x'.repeat(100 - String(pulled).length));
      }
    }
    const observer = { delivered: () => void delivered++ };
    await clock.runUntil(producer.putAll(source(), observer));
    expect(delivered).toBe(200);
    expect(furthestAhead).toBe(most);
  });

  test('sends two sources at the same time through one small buffer', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream({}, { maxBufferedRecords: 1 });
    const source = (key: string, length: number) => Array.from({ length }, (_, index) => record(key, String(index)));
    await clock.runUntil(Promise.all([producer.putAll(source('a', 3)), producer.putAll(source('b', 30))]));
    expect(kinesis.dataOf('a')).toHaveLength(3);
    expect(kinesis.dataOf('b')).toHaveLength(30);
  });

  test('sends no other record of a key after a record of the key was rejected, even if the other record is read much later', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream(
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

  test('accepts Node.js streams, and thenables as iterator results', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream();
    await clock.runUntil(producer.putAll(Readable.from([record('a', '1'), record('a', '2')])));
    let step = 0;
    const thenable = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          step += 1;
          const result = step > 1 ? { done: true } : { done: false, value: record('a', '3') };
          // biome-ignore lint/suspicious/noThenProperty: the test needs a thenable that is not a promise
          return { then: (resolve: (result: unknown) => void) => resolve(result) };
        },
      }),
    };
    await clock.runUntil(producer.putAll(thenable as unknown as AsyncIterable<ProducerRecord>));
    expect(kinesis.dataOf('a')).toEqual(['1', '2', '3']);
  });

  test('pulls no further record while as many records as the buffer may hold wait for the observer', async () => {
    const { clock, producer } = producerOnFakeStream({}, { maxBufferedRecords: 4 });
    let [pulled, observed, mostUnobserved] = [0, 0, 0];
    function* source() {
      for (; pulled < 50; pulled++) {
        mostUnobserved = Math.max(mostUnobserved, pulled - observed);
        yield record(`k${pulled % 5}`, String(pulled));
      }
    }
    const delivered = async () => {
      await clock.sleep(1_000);
      observed += 1;
    };
    expect(await clock.runUntil(producer.putAll(source(), { delivered }))).toMatchObject({ delivered: 50 });
    expect(observed).toBe(50);
    // The buffer holds up to four records without a result, and four more records wait for the observer.
    expect(mostUnobserved).toBeLessThanOrEqual(8);
  });

  test('an observer whose method cannot be read – rejects the call, and the producer stays usable', async () => {
    const { clock, producer } = producerOnFakeStream();
    const observer = {
      get delivered(): never {
        throw new Error('unreadable');
      },
    };
    await expect(clock.runUntil(producer.putAll([record('a')], observer))).rejects.toThrow('unreadable');
    expect(await clock.runUntil(producer.put(record('a')))).toMatchObject({ attempts: 1 });
  });

  test('lets an observer put a rejected record again, which is then sent in a later request', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream({
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

  test('stops if its source aborts the signal', async () => {
    const abort = new AbortController();
    const { clock, producer } = producerOnFakeStream({}, { signal: abort.signal });
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

  test('throws the error of its source after all records that it read before the error have ended', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream();
    function* source() {
      yield record('a');
      throw new Error('source failed');
    }
    await expect(clock.runUntil(producer.putAll(source()))).rejects.toThrow('source failed');
    expect(kinesis.dataOf('a')).toEqual(['x']);
  });

  test('throws the error of its observer after all records that it has read have ended', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream({}, { maxBufferedRecords: 2 });
    let pulled = 0;
    function* source() {
      for (; pulled < 100; pulled++) yield record(String(pulled));
    }
    const observer = {
      delivered: () => {
        throw new Error('observer failed');
      },
    };
    await expect(clock.runUntil(producer.putAll(source(), observer))).rejects.toThrow('observer failed');
    expect(pulled).toBeLessThan(10);
    expect(kinesis.allData()).toHaveLength(pulled + 1);
    await expect(clock.runUntil(producer.put(record('a')))).resolves.toMatchObject({ attempts: 1 });
  });
});
