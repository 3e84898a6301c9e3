import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { runInThisContext } from 'node:vm';
import {
  InvalidPartitionKeyError,
  type OrderedProducer,
  ProducerAbortedError,
  ProducerClosedError,
  type ProducerRecord,
  type RecordRejectedError,
} from '../../../../lib/core';
import type { PendingRecord } from '../../../../lib/core/producer/pending-record';
import { type PutSink, putAll } from '../../../../lib/core/producer/put-all';
import { producerOnFakeStream, record } from './producer-on-fake-stream';

/** A sink that leaves every end, and the room it has, to the test. */
class ManualSink implements PutSink {
  readonly ending = new AbortController();
  readonly ended = this.ending.signal;
  readonly accepted: PendingRecord[] = [];
  makeRoom?: () => void;

  constructor(
    readonly skipRejected = false,
    private readonly capacity = Number.POSITIVE_INFINITY,
  ) {}

  accept(record: PendingRecord): void {
    this.accepted.push(record);
  }

  room(): Promise<void> | undefined {
    if (this.accepted.length < this.capacity) return undefined;
    return new Promise((resolve) => {
      this.makeRoom = resolve;
    });
  }

  deliver(position: number): void {
    this.accepted[position]!.delivered({ shardId: 's', sequenceNumber: String(position), attempts: 1 });
  }

  reject(position: number): void {
    this.accepted[position]!.rejected(new Error(`rejected ${position}`));
  }
}

describe('putAll', () => {
  test('ends when every record has ended, and counts the ends', async () => {
    const sink = new ManualSink();
    let isDone = false;
    const all = putAll(
      sink,
      ['a', 'b', 'c'].map((key) => record(key)),
      {},
    ).finally(() => {
      isDone = true;
    });
    await setImmediate();
    sink.deliver(0);
    sink.reject(1);
    await setImmediate();
    expect(isDone).toBe(false);
    sink.deliver(2);
    expect(await all).toEqual({
      delivered: 2,
      rejected: 1,
      firstRejection: { index: 1, error: new Error('rejected 1') },
    });
  });

  test('names the rejection that is first in the source, whichever came first', async () => {
    const sink = new ManualSink();
    const all = putAll(
      sink,
      ['a', 'b'].map((key) => record(key)),
      {},
    );
    await setImmediate();
    sink.reject(1);
    sink.reject(0);
    expect((await all).firstRejection).toMatchObject({ index: 0 });
  });

  test.each<[string, unknown]>([
    ['a number', 42],
    ['null', null],
    ['undefined', undefined],
    ['an object', {}],
    ['a string', 'abc'],
    ['an iterable without an iterator', { [Symbol.iterator]: () => 5 }],
    ['an iterator whose steps are none', { [Symbol.asyncIterator]: () => ({ next: async () => undefined }) }],
  ])('refuses %s for a source, by a code', async (_, source) => {
    const { clock, producer } = producerOnFakeStream();
    await expect(clock.runUntil(producer.putAll(source as ProducerRecord[]))).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('records must be an iterable or an async iterable of records'),
    });
  });

  test('refuses an observer that is none', async () => {
    const { producer } = producerOnFakeStream();
    await expect(producer.putAll([], null as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('waits for an observer that is asynchronous, and fails with its error when every record has ended', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream();
    const told: number[] = [];
    const delivered = async (index: number): Promise<void> => {
      await clock.sleep(100);
      told.push(index);
      if (index === 0) throw new Error('the observer is at fault');
    };
    await expect(clock.runUntil(producer.putAll([record('a'), record('b')], { delivered }))).rejects.toThrow(
      'the observer is at fault',
    );
    expect(told).toEqual([0, 1]);
    expect(kinesis.allData()).toHaveLength(2);
  });

  test('tells the observer each end with its position, its record and its receipt or error', async () => {
    const sink = new ManualSink();
    const observer = { delivered: jest.fn(), rejected: jest.fn() };
    const records = ['a', 'b'].map((key) => record(key));
    const all = putAll(sink, records, observer);
    await setImmediate();
    sink.deliver(1);
    sink.reject(0);
    await all;
    expect(observer.delivered.mock.calls).toEqual([
      [1, records[1], { shardId: 's', sequenceNumber: '1', attempts: 1 }],
    ]);
    expect(observer.rejected.mock.calls).toEqual([[0, records[0], new Error('rejected 0')]]);
  });

  test('pulls the next record only when the sink has room', async () => {
    const sink = new ManualSink(false, 1);
    let pulled = 0;
    function* source() {
      for (; pulled < 3; pulled++) yield record(String(pulled));
    }
    const all = putAll(sink, source(), {});
    for (const turn of [0, 1, 2]) {
      await setImmediate();
      expect(pulled).toBe(turn);
      sink.deliver(turn);
      sink.makeRoom!();
    }
    expect(await all).toEqual({ delivered: 3, rejected: 0 });
  });

  test.each([
    [false, ['a']],
    [true, ['a', 'a']],
  ])('with skipRejected %s offers the sink, of a key that failed: %j', async (skipRejected, expected) => {
    const sink = new ManualSink(skipRejected, 1);
    const all = putAll(sink, [record('a'), record('a')], {});
    await setImmediate();
    sink.reject(0);
    sink.makeRoom!();
    await setImmediate();
    expect(sink.accepted.map(({ record: { partitionKey } }) => partitionKey)).toEqual(expected);
    sink.makeRoom!();
    if (skipRejected) sink.deliver(1);
    expect(await all).toMatchObject({ delivered: skipRejected ? 1 : 0, rejected: skipRejected ? 1 : 2 });
  });

  test('lets others have their turn after a thousand records', async () => {
    const sink = new ManualSink();
    const all = putAll(
      sink,
      Array.from({ length: 1_500 }, (_, index) => record(String(index))),
      {},
    );
    expect(sink.accepted).toHaveLength(1_000);
    await setImmediate();
    await setImmediate();
    expect(sink.accepted).toHaveLength(1_500);
    for (const position of sink.accepted.keys()) sink.deliver(position);
    await all;
  });

  test('waits for the records pulled so far when the sink ends amid the source', async () => {
    const sink = new ManualSink();
    const reason = new Error('the sink ended');
    async function* idle() {
      yield record('a');
      await new Promise(() => {});
    }
    const all = putAll(sink, idle(), {});
    await setImmediate();
    sink.ending.abort(reason);
    await setImmediate();
    sink.deliver(0);
    await expect(all).rejects.toBe(reason);
  });

  test('tells a source that it pulls nothing from when the sink has ended before', async () => {
    const sink = new ManualSink();
    sink.ending.abort(new Error('the sink ended'));
    const source = { next: jest.fn(), return: jest.fn() };
    await expect(putAll(sink, { [Symbol.iterator]: () => source }, {})).rejects.toThrow('the sink ended');
    expect(source.return).toHaveBeenCalled();
    expect(source.next).not.toHaveBeenCalled();
  });

  test('does not tell a source that has come to its end', async () => {
    const source = { next: () => ({ done: true as const, value: undefined }), return: jest.fn() };
    await putAll(new ManualSink(), { [Symbol.iterator]: () => source }, {});
    expect(source.return).not.toHaveBeenCalled();
  });

  test('does not offer the sink a record whose source has ended the sink', async () => {
    const sink = new ManualSink();
    function* source() {
      sink.ending.abort(new Error('the source ended the sink'));
      yield record('a');
    }
    await expect(putAll(sink, source(), {})).rejects.toThrow('the source ended the sink');
    expect(sink.accepted).toEqual([]);
  });
});

describe('OrderedProducer.putAll', () => {
  test('delivers every record of a source and counts them', async () => {
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
  ])('pulls no further than its buffer of %s reaches', async (_, options, most) => {
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

  test('serves two sources at once through one small buffer', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream({}, { maxBufferedRecords: 1 });
    const source = (key: string, length: number) => Array.from({ length }, (_, index) => record(key, String(index)));
    await clock.runUntil(Promise.all([producer.putAll(source('a', 3)), producer.putAll(source('b', 30))]));
    expect(kinesis.dataOf('a')).toHaveLength(3);
    expect(kinesis.dataOf('b')).toHaveLength(30);
  });

  test('sends nothing more of a key once one of its records failed, however late it is pulled', async () => {
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

  test('rejects an invalid record and goes on', async () => {
    const { clock, producer } = producerOnFakeStream();
    const summary = await clock.runUntil(producer.putAll([record(''), record('b')]));
    expect(summary).toMatchObject({ delivered: 1, rejected: 1 });
    expect(summary.firstRejection!.error).toBeInstanceOf(InvalidPartitionKeyError);
  });

  test.each([
    ['null', null, 'INVALID_ARGUMENT'],
    ['undefined', undefined, 'INVALID_ARGUMENT'],
    ['an empty object', {}, 'INVALID_PARTITION_KEY'],
  ])('refuses %s as often as it comes, each for what it is', async (_, nothing, code) => {
    const { clock, kinesis, producer } = producerOnFakeStream();
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
    const { clock, kinesis, producer } = producerOnFakeStream();
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

  test('hears an abort that happens inside its source', async () => {
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

  test('hears an abort while a source yields nothing but records it refuses', async () => {
    const abort = new AbortController();
    const { producer } = producerOnFakeStream({}, { signal: abort.signal });
    function* endless() {
      for (;;) yield record('');
    }
    setTimeout(() => abort.abort());
    await expect(producer.putAll(endless())).rejects.toThrow(ProducerAbortedError);
  });

  test('throws what its observer throws even if its source fails to clean up, after the records have ended', async () => {
    const { clock, producer } = producerOnFakeStream();
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
    const { clock, kinesis, producer } = producerOnFakeStream();
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
    const { clock, kinesis, producer } = producerOnFakeStream({}, { signal: abort.signal });
    async function* idle() {
      yield record('a');
      await new Promise(() => {});
    }
    const all = producer.putAll(idle());
    clock.schedule(() => end(abort, producer), 100);
    await expect(clock.runUntil(all)).rejects.toThrow(error);
    expect(kinesis.dataOf('a')).toEqual(['x']);
  });

  test('waits for any number of sources, and Node.js warns of no leak', async () => {
    // The `process` of a suite is a copy, which hears of no warning.
    const process = runInThisContext('process') as NodeJS.Process;
    const warned = jest.fn();
    process.on('warning', warned);
    const { clock, producer } = producerOnFakeStream();
    const idle = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
    const all = Promise.allSettled(Array.from({ length: 11 }, () => producer.putAll(idle)));
    await clock.runUntil(producer.close());
    await clock.runUntil(all);
    process.off('warning', warned);
    expect(warned).not.toHaveBeenCalled();
  });

  test('sends nothing more of a failed key even when answers come within microtasks', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream({
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
    const { clock, kinesis, producer } = producerOnFakeStream({}, { maxBufferedRecords: 2 });
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
    const { clock, producer } = producerOnFakeStream();
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
    const { clock, producer } = producerOnFakeStream({}, { signal: abort.signal, maxBufferedRecords: 5 });
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

describe('in an endless source', () => {
  const MAX_REJECTED_KEYS = 100_000;

  /** Key by key: the first record of each is rejected at once. */
  class RejectingSink extends ManualSink {
    override accept(record: PendingRecord): void {
      super.accept(record);
      record.rejected(new Error('rejected'));
    }
  }

  const keysSent = async (...keys: (number | string)[]): Promise<string[]> => {
    const sink = new RejectingSink();
    await putAll(
      sink,
      keys.map((key) => record(String(key))),
      {},
    );
    return sink.accepted.map(({ record: { partitionKey } }) => partitionKey);
  };
  const others = [...Array(MAX_REJECTED_KEYS).keys()];

  test('a rejected key holds up its records until 100,000 other keys were rejected', async () => {
    expect((await keysSent('a', ...others.slice(1), 'a')).filter((key) => key === 'a')).toHaveLength(1);
    expect((await keysSent('a', ...others, 'a')).filter((key) => key === 'a')).toHaveLength(2);
  });

  test('each record that it holds up counts as a rejection', async () => {
    const half = others.length / 2;
    const keys = ['a', ...others.slice(0, half), 'a', ...others.slice(half), 'a'];
    expect((await keysSent(...keys)).filter((key) => key === 'a')).toHaveLength(1);
  });
});
