import {
  MemoryParkingStore,
  OrderedConsumer,
  type OrderedConsumerOptions,
  type RecordContext,
  RecordDoneError,
  type ShardRecord,
  type UserRecord,
} from '../../../../lib/core/consumer';
import { sourceName } from '../../../../lib/core/consumer/sequence-position';
import { EvenShardsError } from '../../../../lib/core/kernel/errors';
import { AggregateBuilder } from '../../../../lib/core/producer/aggregate-builder';
import { fenceData } from '../../../../lib/core/stream-format/fence';
import { VirtualClock } from '../../../../lib/testing';
import { allOf } from '../../../support/all-of';
import { kinesisEvent, SOURCE, shardOf, textOf } from '../../../support/fakes/stream-events';

const MINUTE_MS = 60_000;

let log: jest.SpyInstance;
beforeEach(() => {
  log = jest.spyOn(console, 'log').mockImplementation(() => {});
});
afterEach(() => log.mockRestore());

interface World {
  clock: VirtualClock;
  parking: MemoryParkingStore;
  /** The records that the handler has processed, in order. */
  effects: string[];
  /** All calls of the handler. */
  attempts: string[];
  /** The records for which the handler throws an error. */
  poison: Set<string>;
  consumer: OrderedConsumer;
  deliver(texts: readonly string[], options?: { remainingMs?: number; from?: number }): Promise<string[]>;
  /** Handles an event, and returns the response. */
  handle(event: Parameters<OrderedConsumer['handler']>[0], remainingMs?: number): Promise<unknown>;
  process(records: readonly ShardRecord[]): ReturnType<OrderedConsumer['process']>;
  /** Delivers these records of a key, parks the key, and then lets every record succeed. */
  park(...texts: string[]): Promise<void>;
  retry(): ReturnType<OrderedConsumer['retryParked']>;
}

function world(
  options: Partial<OrderedConsumerOptions> = {},
  handle?: (record: UserRecord, context: RecordContext) => Promise<void>,
): World {
  const clock = new VirtualClock();
  const timeOfDay = (): number => clock.now();
  const parking = new MemoryParkingStore({ timeOfDay });
  const [effects, attempts, poison]: [string[], string[], Set<string>] = [[], [], new Set()];
  const consumer = new OrderedConsumer(
    async (record, context) => {
      const text = textOf(record);
      attempts.push(`${text} ${context.attempt}`);
      await handle?.(record, context);
      if (poison.has(text)) throw new Error('poison');
      effects.push(text);
    },
    { parking, clock, random: () => 0.5, timeOfDay, ...options },
  );
  const handleEvent: World['handle'] = (event, remainingMs = MINUTE_MS) =>
    clock.runUntil(consumer.handler(event, { getRemainingTimeInMillis: () => remainingMs }));
  const deliver: World['deliver'] = async (texts, { remainingMs, from = 1 } = {}) => {
    const answer = await handleEvent(kinesisEvent(shardOf(texts, { from })), remainingMs);
    return (answer as { batchItemFailures: { itemIdentifier: string }[] }).batchItemFailures.map(
      ({ itemIdentifier }) => itemIdentifier,
    );
  };
  return {
    ...{ clock, parking, effects, attempts, poison, consumer, deliver },
    handle: handleEvent,
    process: (records) => clock.runUntil(consumer.process(records, { source: SOURCE })),
    async park(...texts) {
      poison.add(texts[0]!);
      await deliver(texts);
      poison.clear();
    },
    retry: () => clock.runUntil(consumer.retryParked()),
  };
}

/** A sequenced record. `a2` has the key `a` and the number 2 of the producer `p`. */
function sequenced(name: string, data: Uint8Array): ShardRecord {
  const aggregate = new AggregateBuilder({ maxBytes: 1_000 });
  const sequence = { producerId: 'p', sequenceNumber: BigInt(name[1]!) };
  aggregate.tryAdd({ partitionKey: name[0]!, data, explicitHashKey: 7n, sequence });
  return { ...shardOf([name], { from: Number(name[1]) })[0]!, data: Buffer.from(aggregate.build().data) };
}

const parkedKeys = ({ parking }: World) => allOf(parking.parked());

describe('OrderedConsumer', () => {
  test('processes the records of each key in order and acknowledges all of them', async () => {
    const w = world();
    const find = jest.spyOn(w.parking, 'find');
    expect(await w.deliver(['a1', 'b1', 'a2', 'b2'])).toEqual([]);
    // The consumer reads the parked keys once for the whole batch.
    expect(find).toHaveBeenCalledTimes(1);
    expect(w.effects.filter((text) => text.startsWith('a'))).toEqual(['a1', 'a2']);
    expect(w.effects.filter((text) => text.startsWith('b'))).toEqual(['b1', 'b2']);
  });

  test('passes each record to the handler unchanged, and adds no undefined fields', async () => {
    const received: UserRecord[] = [];
    const w = world({}, async (record) => void received.push(record));
    await w.deliver(['a1']);
    await w.process([sequenced('a2', Buffer.from('a2'))]);
    const sequence = { producerId: 'p', sequenceNumber: 2n };
    expect(received).toStrictEqual([
      { partitionKey: 'a', data: Buffer.from('a1'), subSequenceNumber: 0 },
      { partitionKey: 'a', data: Buffer.from('a2'), subSequenceNumber: 0, explicitHashKey: 7n, sequence },
    ]);
  });

  test('processes as many keys at the same time as concurrency allows, and one record of each key', async () => {
    let running = 0;
    let mostRunning = 0;
    const w = world({ concurrency: 3 }, async () => {
      running += 1;
      mostRunning = Math.max(mostRunning, running);
      await w.clock.sleep(10);
      running -= 1;
    });
    await w.deliver(['a1', 'b1', 'c1', 'd1', 'a2', 'b2', 'c2', 'd2']);
    expect(mostRunning).toBe(3);
    expect(w.effects).toHaveLength(8);
    const answeredAt = w.clock.now();
    await w.clock.runOut();
    // The consumer has left no timer.
    expect(w.clock.now()).toBe(answeredAt);
  });

  test('retries a failed record before it processes the next record of the key', async () => {
    const w = world({}, async (record, { attempt }) => {
      if (textOf(record) === 'a1' && attempt === 1) throw new Error('once');
    });
    expect(await w.deliver(['a1', 'a2'])).toEqual([]);
    expect(w.effects).toEqual(['a1', 'a2']);
    expect(w.attempts).toEqual(['a1 1', 'a1 2', 'a2 1']);
    expect(w.clock.now()).toBeGreaterThan(0);
  });

  test('treats a record as done if its handler throws RecordDoneError', async () => {
    const w = world({}, async () => {
      throw new RecordDoneError();
    });
    expect(await w.deliver(['a1', 'a2'])).toEqual([]);
    expect(w.attempts).toEqual(['a1 1', 'a2 1']);
    expect(await parkedKeys(w)).toEqual([]);
  });

  test('parks a failed key with all its later records, and no other key', async () => {
    const w = world();
    w.poison.add('a1');
    expect(await w.deliver(['a1', 'b1', 'a2', 'b2'])).toEqual([]);
    expect(w.effects).toEqual(['b1', 'b2']);
    expect(await parkedKeys(w)).toMatchObject([
      { partitionKey: 'a', records: 2, tries: 3, dead: false, lastError: 'Error: poison' },
    ]);
  });

  test('appends records of a parked key without a call of the handler', async () => {
    const w = world();
    await w.park('a1');
    expect(await w.deliver(['a2', 'b1'], { from: 2 })).toEqual([]);
    expect(w.effects).toEqual(['b1']);
    expect(await parkedKeys(w)).toMatchObject([{ partitionKey: 'a', records: 2 }]);
  });

  test('does not append a record to its parked key twice if the record is delivered again', async () => {
    const w = world();
    w.poison.add('a1');
    await w.deliver(['a1', 'a2']);
    await w.deliver(['a1', 'a2', 'a3']);
    const save = jest.spyOn(w.parking, 'save');
    await w.deliver(['a1', 'a2', 'a3']);
    expect(save).not.toHaveBeenCalled();
    expect(await parkedKeys(w)).toMatchObject([{ partitionKey: 'a', records: 3 }]);
  });

  test('does not process a record again after this process has processed it', async () => {
    const w = world();
    await w.deliver(['a1', 'a2']);
    await w.deliver(['a2', 'a3'], { from: 2 });
    expect(w.effects).toEqual(['a1', 'a2', 'a3']);
  });

  test('returns the first affected record as a batch item failure if a key cannot be parked, and continues with the other keys', async () => {
    const w = world();
    w.poison.add('b1');
    const consoleError = jest.spyOn(console, 'error').mockImplementation(() => {});
    const problem = new Error('no table');
    jest.spyOn(w.parking, 'save').mockRejectedValue(problem);
    expect(await w.deliver(['a1', 'b1', 'a2', 'b2'])).toEqual(['2']);
    expect(w.effects).toEqual(['a1', 'a2']);
    expect(consoleError.mock.calls).toEqual([[problem]]);
  });

  test('returns the first record of the batch as a batch item failure if the parked keys cannot be read', async () => {
    const w = world();
    jest.spyOn(console, 'error').mockImplementation(() => {});
    jest.spyOn(w.parking, 'find').mockRejectedValue(new Error('no table'));
    expect(await w.deliver(['a1', 'b1'])).toEqual(['1']);
    expect(w.effects).toEqual([]);
  });

  test('parks a record whose handler does not end, and starts no second attempt at the same time', async () => {
    const w = world({}, async (record) => {
      if (textOf(record) === 'a1') await new Promise(() => {});
    });
    expect(await w.deliver(['a1', 'b1', 'a2'])).toEqual([]);
    expect(w.effects).toEqual(['b1']);
    expect(w.attempts).toEqual(['a1 1', 'b1 1']);
    expect(await parkedKeys(w)).toMatchObject([{ partitionKey: 'a', records: 2, tries: 1 }]);
  });

  test('aborts the signal of a handler after 30 seconds by default, and waits 100 ms more for the handler', async () => {
    const w = world({}, () => new Promise(() => {}));
    expect(await w.process(shardOf(['a1']))).toEqual({ problems: [] });
    expect(w.clock.now()).toBe(30_000 + 100);
  });

  test('keeps within the concurrency limit even if a handler ends shortly after its time limit', async () => {
    let running = 0;
    let mostRunning = 0;
    const w = world({ concurrency: 1, attemptTimeoutMs: 1_000 }, async (record) => {
      mostRunning = Math.max(mostRunning, ++running);
      await w.clock.sleep(textOf(record) === 'a1' ? 1_050 : 200);
      running -= 1;
    });
    expect(await w.deliver(['a1', 'b1', 'c1'])).toEqual([]);
    expect(mostRunning).toBe(1);
  });

  test.each([
    ['5 seconds', MINUTE_MS, 55_000, 59_500],
    ['a fifth of a short remaining time', 10_000, 8_000, 9_800],
  ])(
    'reserves %s for parking: of %d ms, the handler has %d ms, and the consumer responds after %d ms',
    async (_, allMs, endMs, answerMs) => {
      const ends: number[] = [];
      const w = world({ attemptTimeoutMs: MINUTE_MS }, async (__, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        ends.push(w.clock.now());
      });
      expect(await w.deliver(['a1'], { remainingMs: allMs })).toEqual([]);
      expect(ends).toEqual([endMs]);
      jest.spyOn(w.parking, 'find').mockReturnValue(new Promise(() => {}));
      expect(await w.deliver(['a1'], { remainingMs: allMs })).toEqual(['1']);
      expect(w.clock.now() - endMs).toBe(answerMs);
    },
  );

  test.each<[Partial<OrderedConsumerOptions>, number]>([
    [{}, 1],
    [{ attempts: 2 }, 1],
    [{ attempts: 10 }, 1],
    [{ attemptTimeoutMs: MINUTE_MS }, 1],
    [{ attemptTimeoutMs: 1_000, attempts: 1_000 }, 20],
  ])(
    'with %j, parks a record whose handler never succeeds in its first invocation, although its attempts need more time',
    async (options, leastTries) => {
      const w = world(options, async (record, { signal }) => {
        if (textOf(record) !== 'a1') return;
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      });
      expect(await w.deliver(['a1', 'b1', 'a2'])).toEqual([]);
      expect(w.effects).toEqual(['b1']);
      const [key] = await parkedKeys(w);
      expect(key).toMatchObject({ partitionKey: 'a', records: 2 });
      expect(key!.tries).toBeGreaterThanOrEqual(leastTries);
    },
  );

  test('does not park a key whose record has attempts left when the caller stops the work outside Lambda', async () => {
    const stop = new AbortController();
    const w = world({}, async () => {
      stop.abort();
      throw new Error('not yet');
    });
    const work = w.consumer.process(shardOf(['a1']), { source: SOURCE, signal: stop.signal });
    expect(await w.clock.runUntil(work)).toMatchObject({ comesAgain: { sequenceNumber: '1' } });
    expect(await parkedKeys(w)).toEqual([]);
  });

  test.each([
    ['keys', ['a1', 'b1', 'c1', 'd1', 'e1']],
    ['records of a key', ['a1', 'a2', 'a3', 'a4', 'a5']],
  ])(
    'stops in time, and does not park %s that were not started, so that Lambda delivers them again',
    async (_, texts) => {
      const w = world({ concurrency: 1 }, () => w.clock.sleep(15_000));
      expect(await w.deliver(texts)).toEqual(['4']);
      expect(w.effects).toEqual(texts.slice(0, 3));
      expect(w.clock.now()).toBeLessThan(MINUTE_MS);
      expect(await parkedKeys(w)).toEqual([]);
    },
  );

  test('returns in time even if the parking table does not respond', async () => {
    const w = world();
    w.poison.add('a1');
    jest.spyOn(w.parking, 'save').mockReturnValue(new Promise(() => {}));
    expect(await w.deliver(['b1', 'a1', 'b2'])).toEqual(['2']);
    expect(w.clock.now()).toBeLessThan(MINUTE_MS);
  });

  test('parks a corrupt aggregate under the partition key of its Kinesis record', async () => {
    const w = world();
    const [first, second] = shardOf(['a1', 'b1']);
    const corrupt = { ...first!, data: Buffer.concat([Buffer.from('f3899ac2', 'hex'), Buffer.alloc(30)]) };
    expect(await w.handle(kinesisEvent([corrupt, second!]))).toEqual({ batchItemFailures: [] });
    expect(w.effects).toEqual(['b1']);
    // The consumer makes one attempt, because the record would also be corrupt in a second attempt.
    expect(await parkedKeys(w)).toMatchObject([{ partitionKey: 'a', records: 1, tries: 1 }]);
  });

  test('processes the changes of each item of a table in order', async () => {
    const texts: string[] = [];
    const w = world({}, async (record) => {
      texts.push(`${record.partitionKey} ${JSON.parse(textOf(record)).eventName}`);
    });
    const [sk, id] = [{ N: '1' }, { S: 'x' }];
    const change = (SequenceNumber: string, eventName: string, Keys: object) => ({
      eventSource: 'aws:dynamodb',
      eventName,
      dynamodb: { Keys, SequenceNumber },
    });
    const event = { Records: [change('1', 'INSERT', { sk, id }), change('2', 'MODIFY', { id, sk })] };
    expect(await w.handle(event)).toEqual({ batchItemFailures: [] });
    expect(texts).toEqual(['[["id",{"S":"x"}],["sk",{"N":"1"}]] INSERT', '[["id",{"S":"x"}],["sk",{"N":"1"}]] MODIFY']);
  });
});

describe('the log line about a slow batch', () => {
  const takes = (ms: number, options: Partial<OrderedConsumerOptions> = {}) => {
    const w: World = world(options, () => w.clock.sleep(ms));
    w.clock.nowMs = MINUTE_MS;
    return w;
  };
  const line = () => JSON.parse(log.mock.lastCall![0]);

  test('shows that the handlers are busy if each handler is slow', async () => {
    await takes(100, { concurrency: 2 }).deliver(['a1', 'b1', 'c1', 'd1']);
    expect(line()).toMatchObject({ ConsumerName: 'memory', BusyHandlers: 100, LongestKey: 50 });
  });

  test('shows that most of the time passes in the records of one key', async () => {
    await takes(100, { concurrency: 10 }).deliver(['a1', 'a2', 'a3', 'a4', 'b1']);
    expect(line()).toMatchObject({ BusyHandlers: 13, LongestKey: 100 });
  });
});

test('the signal of a handler does not abort after the handler has ended', async () => {
  const signals: AbortSignal[] = [];
  const w = world({ concurrency: 1, attemptTimeoutMs: 1_000 }, async (_, { signal }) => {
    signals.push(signal);
    await w.clock.sleep(600);
  });
  expect(await w.deliver(['a1', 'b1', 'c1'])).toEqual([]);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false]);
});

describe('a handler that throws an unusual value', () => {
  const revoked = Proxy.revocable(new Error('gone'), {});
  revoked.revoke();
  const cyclic = new Error('a circle');
  cyclic.cause = cyclic;
  test.each([
    ['undefined', undefined, 'undefined: not an Error'],
    ['a string', 'no connection', 'no connection'],
    [
      'an error with data in its message',
      new EvenShardsError('CODE', 'it contains a secret', { summary: 'it contains something' }),
      'EvenShardsError: it contains something',
    ],
    ['a long string', 'x'.repeat(400), 'x'.repeat(300)],
    ['an object whose properties cannot be read', revoked.proxy, 'an error that cannot be read'],
  ])('parks only the key of the record if it throws %s', async (_, thrown, lastError) => {
    const w = world({ attempts: 2 }, async (record) => {
      if (textOf(record) === 'a1') throw thrown;
    });
    expect(await w.deliver(['a1', 'b1', 'a2'])).toEqual([]);
    expect(w.effects).toEqual(['b1']);
    expect(await parkedKeys(w)).toEqual([expect.objectContaining({ partitionKey: 'a', records: 2, lastError })]);
  });
});

describe('a callback of the consumer', () => {
  test.each(['throws', 'rejects'])('%s – the consumer continues to process records', async (how) => {
    const error = jest.spyOn(console, 'error').mockImplementation(() => {});
    error.mockClear();
    const fail = (): void | Promise<void> => {
      if (how === 'rejects') return Promise.reject(new Error('no log'));
      throw new Error('no log');
    };
    const w = world({ attempts: 2, maxTries: 3, onFailure: fail, onDead: fail });
    w.poison.add('a1');
    expect(await w.deliver(['a1', 'b1'])).toEqual([]);
    w.clock.nowMs += MINUTE_MS;
    expect(await w.retry()).toMatchObject({ stillParked: 1, dead: 1 });
    expect(w.effects).toEqual(['b1']);
    expect(error.mock.calls).toEqual(Array(4).fill([new Error('no log')]));
    error.mockRestore();
  });
});

describe('an attempt that continues after its invocation has ended', () => {
  /** A consumer whose handler needs five seconds for a1, and this time for the first attempt to process a2. */
  const slow = (ms: number) => {
    let isFirst = true;
    const w: World = world({ attempts: 2, attemptTimeoutMs: MINUTE_MS }, async (record) => {
      if (textOf(record) === 'a1') await w.clock.sleep(5_000);
      if (textOf(record) !== 'a2' || !isFirst) return;
      isFirst = false;
      await w.clock.sleep(ms);
    });
    return w;
  };

  test('ends before the next attempt for the same key starts', async () => {
    const w = slow(30_000);
    expect(await w.deliver(['a1', 'a2', 'b1'], { remainingMs: 10_000 })).toEqual(['2']);
    expect(await w.deliver(['a2', 'b1', 'a3'], { from: 2 })).toEqual([]);
    expect(w.effects).toEqual(['b1', 'a1', 'a2', 'a2', 'a3']);
  });

  test('blocks only its own key, which the consumer parks if the attempt does not end', async () => {
    const w = slow(100 * MINUTE_MS);
    expect(await w.deliver(['a1', 'a2', 'b1'], { remainingMs: 10_000 })).toEqual(['2']);
    expect(await w.deliver(['a2', 'b1', 'a3'], { from: 2, remainingMs: 5 * MINUTE_MS })).toEqual([]);
    expect(w.effects).toEqual(['b1', 'a1']);
    expect(await parkedKeys(w)).toMatchObject([{ partitionKey: 'a', records: 2 }]);
  });
});

describe('a key that moves to another shard', () => {
  /** Processes batches of several shards at the same time. */
  const processTogether = (w: World, ...batches: ShardRecord[][]) =>
    w.clock.runUntil(Promise.all(batches.map((records) => w.consumer.process(records, { source: SOURCE }))));
  const end = () => ({ ...shardOf(['a'])[0]!, sequenceNumber: '2', data: fenceData({ moveId: 'm', side: 'end' }) });

  test('gets its batch delivered again from the end fence on, until the consumer has stored the end of the move', async () => {
    const w = world();
    jest.spyOn(console, 'error').mockImplementation(() => {});
    const ends = jest.spyOn(w.parking, 'endMove').mockRejectedValueOnce(new Error('no table'));
    const event = kinesisEvent([...shardOf(['a1']), end()]);
    expect(await w.handle(event)).toEqual({ batchItemFailures: [{ itemIdentifier: '2' }] });
    expect(await w.handle(event)).toEqual({ batchItemFailures: [] });
    expect(ends).toHaveBeenCalledTimes(2);
    expect(w.effects).toEqual(['a1']);
  });

  test('after the end fence of the key, the consumer processes no record with a lower number of the same producer', async () => {
    const w = world();
    const pass = jest.spyOn(w.parking, 'markHandled');
    const fence = sequenced('a3', fenceData({ moveId: 'm', side: 'end' }));
    const behind = ['a2', 'a4'].map((name) => ({
      ...sequenced(name, Buffer.from(name)),
      sequenceNumber: `1${name[1]}`,
    }));
    const first = sequenced('a1', Buffer.from('a1'));
    expect(await w.process([first, fence, ...behind])).toEqual({ problems: [] });
    expect(w.effects).toEqual(['a1', 'a4']);
    expect(pass.mock.calls).toEqual([
      ['a', { series: `producer/${sourceName(SOURCE)}/7/p`, number: expect.stringContaining('3') }],
    ]);
  });

  test('after its start fence, waits until the old shard has reached the end fence, and is parked if it was parked in the old shard', async () => {
    const w = world();
    w.poison.add('a1');
    const start = { ...end(), shardId: 'shard 2', data: fenceData({ moveId: 'm', side: 'start' }) };
    const behind = shardOf(['a2', 'b1'], { shardId: 'shard 2', from: 3 });
    const [before, after] = [
      [...shardOf(['a1']), end()],
      [start, ...behind],
    ];
    expect(await processTogether(w, after, before)).toStrictEqual([{ problems: [] }, { problems: [] }]);
    expect(w.effects).toEqual(['b1']);
    expect(await parkedKeys(w)).toMatchObject([{ partitionKey: 'a', records: 2 }]);
  });

  const fenceIn = (shardId: string, sequenceNumber: string, moveId: string, side: 'end' | 'start') => ({
    ...{ shardId, partitionKey: 'a', sequenceNumber, data: fenceData({ moveId, side }) },
  });

  test('keeps its order even if the key leaves a shard and returns within one batch', async () => {
    const w = world();
    const here = [
      ...shardOf(['a1'], { shardId: 'shard 1' }),
      fenceIn('shard 1', '2', 'm', 'end'),
      fenceIn('shard 1', '3', 'n', 'start'),
      ...shardOf(['a3'], { shardId: 'shard 1', from: 4 }),
    ];
    const there = [
      fenceIn('shard 2', '1', 'm', 'start'),
      ...shardOf(['a2'], { shardId: 'shard 2', from: 2 }),
      fenceIn('shard 2', '3', 'n', 'end'),
    ];
    expect(await processTogether(w, here, there)).toStrictEqual([{ problems: [] }, { problems: [] }]);
    expect(w.effects).toEqual(['a1', 'a2', 'a3']);
  });

  test('is processed after maxMoveWaitMs in total if the end fence does not arrive, and the consumer calls onLetGo once', async () => {
    const onLetGo = jest.fn();
    const w = world({ maxMoveWaitMs: MINUTE_MS, onLetGo });
    const records = [fenceIn('shard 2', '1', 'm', 'start'), ...shardOf(['a1', 'b1'], { shardId: 'shard 2', from: 2 })];
    const read = async (ms: number) => {
      const stop = new AbortController();
      w.clock.schedule(() => stop.abort(), ms);
      const begunAt = w.clock.now();
      const progress = await w.clock.runUntil(w.consumer.process(records, { source: SOURCE, signal: stop.signal }));
      return { comesAgain: progress.comesAgain, problems: progress.problems, ms: w.clock.now() - begunAt };
    };
    const waits = { comesAgain: records[0], problems: [expect.objectContaining({ code: 'MOVE_IN_PROGRESS' })] };
    expect(await read(25_000)).toMatchObject(waits);
    expect(await read(25_000)).toMatchObject(waits);
    expect(w.effects).toEqual(['b1']);
    const last = await read(MINUTE_MS);
    expect(last).toMatchObject({ comesAgain: undefined, problems: [] });
    expect(last.ms).toBeLessThan(15_000);
    expect(w.effects).toEqual(['b1', 'a1']);
    expect(onLetGo.mock.calls).toEqual([[{ moveId: 'm', partitionKey: 'a' }]]);
  });
});

describe('retryParked', () => {
  test('processes a parked key in order when its next try is due', async () => {
    const w = world();
    await w.park('a1', 'a2', 'a3');
    expect(await w.retry()).toMatchObject({ keys: 0, records: 0, stillParked: 1 });
    w.clock.nowMs += MINUTE_MS;
    expect(await w.retry()).toMatchObject({ keys: 1, records: 3, stillParked: 0 });
    expect(w.effects).toEqual(['a1', 'a2', 'a3']);
    expect(await parkedKeys(w)).toEqual([]);
  });

  test('stops at the first record that fails again', async () => {
    const w = world();
    w.poison.add('a1');
    await w.deliver(['a1', 'a2', 'a3']);
    w.poison.delete('a1');
    w.poison.add('a2');
    w.clock.nowMs += MINUTE_MS;
    expect(await w.retry()).toMatchObject({ keys: 0, records: 1, stillParked: 1 });
    expect(w.effects).toEqual(['a1']);
    expect(await parkedKeys(w)).toMatchObject([{ records: 2, tries: 1 }]);
    // The delay of a2 is the same as the delay of a1 after its first retry.
    expect((await w.parking.find(['a'])).get('a')!.dueAt - w.clock.now()).toBe(0.75 * MINUTE_MS);
    w.poison.delete('a2');
    w.poison.add('a3');
    w.clock.nowMs += MINUTE_MS;
    expect(await w.retry()).toMatchObject({ keys: 0, records: 1, stillParked: 1 });
  });

  /** Parks this number of records of a key. When the records are retried, the handler calls `again`. */
  const parkedWorld = async (count: number, again: (w: World, text: string) => Promise<void>) => {
    let isAgain = false;
    const w: World = world({}, async (record) => {
      if (isAgain) await again(w, textOf(record));
    });
    await w.park(...Array.from({ length: count }, (_, index) => `a${index + 1}`));
    w.clock.nowMs += MINUTE_MS;
    isAgain = true;
    const key = async () => (await w.parking.find(['a'])).get('a');
    return { w, key };
  };

  test('leaves the other records of a key to the next run when the signal of retryParked is aborted', async () => {
    const stop = new AbortController();
    const { w, key } = await parkedWorld(3, async (_, text) => {
      if (text === 'a2' && !stop.signal.aborted) stop.abort();
    });
    const summary = await w.clock.runUntil(w.consumer.retryParked({ signal: stop.signal }));
    expect(summary).toMatchObject({ keys: 0, records: 1, stillParked: 1 });
    expect(await key()).toMatchObject({ first: 1, tries: 0, dueAt: w.clock.now() });
    expect(await w.retry()).toMatchObject({ keys: 1, records: 2, stillParked: 0 });
  });

  test('also processes a record that is appended to the key during the run', async () => {
    const { w } = await parkedWorld(1, async () => {});
    jest.spyOn(w.parking, 'remove').mockImplementationOnce(async () => {
      await w.consumer.process(shardOf(['a2'], { from: 2 }), { source: SOURCE });
      return false;
    });
    expect(await w.retry()).toMatchObject({ keys: 1, records: 2, stillParked: 0 });
  });

  test.each([
    ['100 records', 0, 120, 100],
    ['5 seconds', 2_500, 3, 2],
  ])('saves its progress after %s', async (_, recordMs, hangsAt, saved) => {
    const { w, key } = await parkedWorld(150, async (__, text) => {
      await w.clock.sleep(text === `a${hangsAt}` ? 10 * MINUTE_MS : recordMs);
    });
    void w.consumer.retryParked();
    await w.clock.runUntil(w.clock.sleep(20_000));
    expect(await key()).toMatchObject({ first: saved });
  });

  test.each([
    ['3 records', 3, 3],
    ['100 records, and stops', 150, 100],
  ])('does not change a parked key that another process has taken over, after %s', async (_, count, handled) => {
    const lease = { holder: 'another', until: Number.MAX_SAFE_INTEGER };
    const { w, key } = await parkedWorld(count, async (__, text) => {
      if (text === 'a1') await w.parking.save({ ...(await key())!, lease });
    });
    expect(await w.retry()).toMatchObject({ keys: 0, records: handled, stillParked: 1 });
    expect(w.effects).toHaveLength(handled);
    expect(await key()).toMatchObject({ first: 0, lease });
  });

  test.each([
    ['skips', 1, 1],
    ['drops', 0, 0],
  ] as const)(
    'does not count a failed try if an operator %s the record during the try',
    async (verb, stillParked, records) => {
      const { w } = await parkedWorld(2, async () => {
        await (verb === 'skips' ? w.parking.skip('a') : w.parking.drop('a'));
        throw new Error('too late');
      });
      expect(await w.retry()).toMatchObject({ keys: 1 - stillParked, records: 0, stillParked });
      expect(await parkedKeys(w)).toEqual(records === 0 ? [] : [expect.objectContaining({ records, tries: 0 })]);
    },
  );

  test('does not process a record that another process has already processed, and a later batch does not process it either', async () => {
    const w = world();
    await w.deliver(['a1']);
    const other = world({ parking: w.parking });
    other.poison.add('a1');
    await other.deliver(['a1', 'a2']);
    w.clock.nowMs += MINUTE_MS;
    expect(await w.retry()).toMatchObject({ keys: 1, records: 2 });
    await w.deliver(['a1', 'a2']);
    expect(w.effects).toEqual(['a1', 'a2']);
  });

  test.each([
    [10_000, MINUTE_MS],
    [MINUTE_MS, 2 * MINUTE_MS],
  ])(
    'skips a key while another process has its lease; with attempts of %d ms the lease lasts %d ms',
    async (attemptTimeoutMs, leaseMs) => {
      const w = world({ attemptTimeoutMs });
      await w.park('a1');
      w.clock.nowMs += MINUTE_MS;
      jest.spyOn(w.parking, 'records').mockImplementationOnce(async function* () {
        await new Promise(() => {});
      });
      const begun = w.clock.now();
      void w.consumer.retryParked();
      await w.clock.runUntil(w.clock.sleep(1));
      w.clock.nowMs = begun + leaseMs - 1;
      expect(await w.retry()).toMatchObject({ keys: 0, stillParked: 1 });
      w.clock.nowMs = begun + leaseMs;
      expect(await w.retry()).toMatchObject({ keys: 1, stillParked: 0 });
      expect(w.effects).toEqual(['a1']);
      jest.restoreAllMocks();
    },
  );

  test('skips a parked fence and does not pass it to the handler', async () => {
    const w = world();
    await w.park('a1');
    const [key] = [...(await w.parking.find(['a'])).values()];
    const fence = { partitionKey: 'a', data: fenceData({ moveId: 'm', side: 'end' }), subSequenceNumber: 0 };
    await w.parking.save({ ...key!, next: 2 }, [{ ...fence, positions: [{ series: 's', number: '7' }] }]);
    w.clock.nowMs += MINUTE_MS;
    const pass = jest.spyOn(w.parking, 'markHandled');
    expect(await w.retry()).toMatchObject({ keys: 1, records: 2 });
    expect(w.effects).toEqual(['a1']);
    expect(pass).toHaveBeenCalledWith('a', { series: 's', number: '7' });
  });

  test('does not count a try while an earlier call of the handler has not settled, and records the reason in lastError', async () => {
    let calls = 0;
    const w = world({ maxTries: 3, attemptTimeoutMs: 1_000 }, () => {
      calls += 1;
      return new Promise<void>(() => {});
    });
    await w.deliver(['a1']);
    expect(await parkedKeys(w)).toMatchObject([
      { tries: 1, lastError: expect.stringContaining('did not settle within') },
    ]);
    for (let turn = 0; turn < 5; turn++) {
      w.clock.nowMs += 20 * MINUTE_MS;
      await w.retry();
    }
    const lastError = expect.stringContaining(
      'the handler was not called: an earlier call for this key did not settle within',
    );
    expect(await parkedKeys(w)).toMatchObject([{ tries: 1, dead: false, lastError }]);
    expect(calls).toBe(1);
  });

  test('processes all keys that it could list before it throws the error of the listing', async () => {
    const w = world();
    await w.park('a1', 'a2');
    w.clock.nowMs += MINUTE_MS;
    const keys = w.parking.keys.bind(w.parking);
    jest.spyOn(w.parking, 'keys').mockImplementation(async function* () {
      yield* keys();
      throw new Error('no connection');
    });
    await expect(w.retry()).rejects.toThrow('no connection');
    expect(w.effects).toEqual(['a1', 'a2']);
    jest.restoreAllMocks();
  });

  test('runs if the event of the handler contains retryParked, and the handler logs metrics about parked keys', async () => {
    const w = world();
    w.poison.add('a1');
    await w.deliver(['a1']);
    w.clock.nowMs += 60 * MINUTE_MS;
    expect(await w.handle({ retryParked: true })).toMatchObject({ stillParked: 1 });
    const line = JSON.parse(log.mock.lastCall![0]);
    expect(line).toMatchObject({ ConsumerName: 'memory', ParkedKeys: 1, DeadKeys: 0, ParkedSeconds: 3_600 });
  });

  test.each([
    ['minimum', 0, 0.5],
    ['maximum', 1, 1],
  ])(
    'waits from 30 seconds to 15 minutes between two tries, and doubles the delay each time; %s jitter',
    async (_, random, part) => {
      const w = world({ random: () => random });
      w.poison.add('a1');
      await w.deliver(['a1']);
      for (const seconds of [30, 60, 120, 240, 480, 900, 900]) {
        const { dueAt } = (await w.parking.find(['a'])).get('a')!;
        expect(dueAt - w.clock.now()).toBe(part * seconds * 1_000);
        w.clock.nowMs = dueAt;
        await w.retry();
      }
    },
  );

  test.each([
    [3, 'its batch', ['a1 1', 'a1 2', 'a1 3']],
    [4, 'a retry', ['a1 1', 'a1 2', 'a1 3', 'a1 4']],
  ])(
    'makes a key dead after maxTries and does not try the key again: after %d tries, in %s',
    async (maxTries, _, attempts) => {
      const dead: string[] = [];
      const w = world({ maxTries, onDead: ({ partitionKey }) => dead.push(partitionKey) });
      w.poison.add('a1');
      await w.deliver(['a1']);
      w.clock.nowMs += MINUTE_MS;
      expect(await w.retry()).toMatchObject({ stillParked: 1, dead: 1 });
      w.clock.nowMs += 10 * MINUTE_MS;
      await w.retry();
      expect(w.attempts).toEqual(attempts);
      expect(dead).toEqual(['a']);
    },
  );

  test.each([
    [5 * MINUTE_MS - 1, 0],
    [5 * MINUTE_MS, 1],
  ])(
    'makes a key dead if it stays parked for longer than a maxAgeMs of 5 minutes: after %d ms, %d dead keys',
    async (ms, dead) => {
      const w = world({ maxAgeMs: 5 * MINUTE_MS });
      w.poison.add('a1');
      await w.deliver(['a1']);
      w.clock.nowMs += ms;
      expect(await w.retry()).toMatchObject({ dead, oldestMs: ms });
    },
  );
});

describe('an operator', () => {
  const deadKey = async () => {
    const w = world({ maxTries: 3 });
    w.poison.add('a1');
    await w.deliver(['a1', 'a2']);
    expect(await parkedKeys(w)).toMatchObject([{ dead: true }]);
    return w;
  };

  test('can resume a key', async () => {
    const w = await deadKey();
    w.poison.clear();
    expect(await w.parking.resume('a')).toBe(true);
    expect(await w.retry()).toMatchObject({ keys: 1, records: 2 });
    expect(w.effects).toEqual(['a1', 'a2']);
  });

  test('can skip the first record of a key, and the key then has no last error', async () => {
    const w = await deadKey();
    expect(await w.parking.skip('a')).toBe(true);
    const [remaining] = await parkedKeys(w);
    expect(remaining).toStrictEqual({ partitionKey: 'a', records: 1, since: expect.any(Date), tries: 0, dead: false });
    await w.retry();
    expect(w.effects).toEqual(['a2']);
  });

  test('can drop a key, and its later records are processed normally', async () => {
    const w = await deadKey();
    expect(await w.parking.drop('a')).toBe(true);
    expect(await parkedKeys(w)).toEqual([]);
    await w.deliver(['a3'], { from: 3 });
    expect(w.effects).toEqual(['a3']);
  });

  test('receives false if a key is not parked', async () => {
    const { parking } = world();
    expect(await parking.resume('a')).toBe(false);
    expect(await parking.skip('a')).toBe(false);
    expect(await parking.drop('a')).toBe(false);
  });

  test.each(['resume', 'skip', 'drop'] as const)('cannot %s a key that is not a string', async (method) => {
    const wrong = { code: 'INVALID_ARGUMENT', field: 'partitionKey' };
    await expect(world().parking[method](undefined as never)).rejects.toMatchObject(wrong);
  });
});

test.each([
  ['onCorrupt', { onCorrupt: 'skip' as never }],
  ['parking', { parking: {} as never }],
  ['parking', { parking: { find: () => {} } as never }],
])('OrderedConsumer rejects the wrong option %s', (field, options) => {
  expect(() => world(options)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }));
});

test('OrderedConsumer rejects a handler that is not a function, a context without the remaining time, and data that are not bytes', async () => {
  const invalidField = (field: string) => expect.objectContaining({ code: 'INVALID_ARGUMENT', field });
  expect(() => new OrderedConsumer('handle' as never, { parking: new MemoryParkingStore() })).toThrow(
    invalidField('handle'),
  );
  const { consumer } = world();
  await expect(consumer.handler(kinesisEvent(shardOf(['a1'])), {} as never)).rejects.toEqual(invalidField('context'));
  const text = { ...shardOf(['a1'])[0]!, data: 'a1' as never };
  await expect(consumer.process([text], { source: SOURCE })).rejects.toEqual(invalidField('data'));
});

const KINESIS = { partitionKey: 'a', sequenceNumber: '1', data: 'YQ==' };
const ofKinesis = (damage: object) => ({ eventSource: 'aws:kinesis', kinesis: { ...KINESIS, ...damage } });
const ofTable = (SequenceNumber: unknown) => ({ eventSource: 'aws:dynamodb', dynamodb: { SequenceNumber } });

test.each<[string, object]>([
  ['event', {}],
  ['event.Records[0].eventSource', { Records: [{ eventSource: 'aws:sqs' }] }],
  ['event.Records[1].kinesis.partitionKey', { Records: [ofKinesis({}), ofKinesis({ partitionKey: 1 })] }],
  ['event.Records[0].kinesis.data', { Records: [ofKinesis({ data: [97] })] }],
  ['event.Records[0].kinesis.sequenceNumber', { Records: [ofKinesis({ sequenceNumber: 'one' })] }],
  ['event.Records[0].dynamodb.SequenceNumber', { Records: [ofTable(undefined)] }],
])('OrderedConsumer rejects the wrong field %s and processes no record of the event %j', async (field, event) => {
  const w = world();
  await expect(w.handle(event as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field });
  expect(w.attempts).toEqual([]);
});
