import {
  DynamoDbParkingStore,
  MemoryParkingStore,
  OrderedConsumer,
  type OrderedConsumerOptions,
  type ParkedKey,
  type RecordHandler,
} from '../../../../lib/core/consumer';
import { VirtualClock } from '../../../../lib/testing';
import { ParkingTable } from '../../../support/fakes/parking-table';
import { kinesisEvent, SOURCE, shardOf, textOf } from '../../../support/fakes/stream-events';

const MINUTE_MS = 60_000;
const CONTEXT = { getRemainingTimeInMillis: () => MINUTE_MS };

beforeEach(() => {
  for (const method of ['error', 'log'] as const) jest.spyOn(console, method).mockImplementation(() => {});
});
afterEach(() => jest.restoreAllMocks());

/** A consumer in virtual time. `handle` gets the text of each record. */
function consumerWith(
  handle: (text: string, context: Parameters<RecordHandler>[1], clock: VirtualClock) => Promise<void>,
  options: Partial<OrderedConsumerOptions> = {},
) {
  const clock = new VirtualClock();
  const timeOfDay = () => clock.now();
  const parking = new MemoryParkingStore({ timeOfDay });
  const calls: string[] = [];
  let [running, mostRunning] = [0, 0];
  const consumer = new OrderedConsumer(
    async (record, context) => {
      calls.push(textOf(record));
      mostRunning = Math.max(mostRunning, ++running);
      try {
        await handle(textOf(record), context, clock);
      } finally {
        running -= 1;
      }
    },
    { parking, clock, timeOfDay, random: () => 1, retryMs: 1, ...options },
  );
  const process = (texts: string[], source = SOURCE) => consumer.process(shardOf(texts), { source });
  const invoke = (texts: string[]) => consumer.handler(kinesisEvent(shardOf(texts)), CONTEXT);
  const key = async (): Promise<ParkedKey | undefined> => (await parking.find(['a'])).get('a');
  return { clock, parking, calls, consumer, process, invoke, key, mostRunning: () => mostRunning };
}

const forever = () => new Promise<void>(() => {});

test('a handler that returns when its signal aborts has not handled the record', async () => {
  const { clock, process, calls, key } = consumerWith(
    (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    { attempts: 2, attemptTimeoutMs: 1_000 },
  );
  await clock.runUntil(process(['a1']));
  expect(calls).toEqual(['a1', 'a1']);
  expect(await key()).toMatchObject({ tries: 2, lastError: expect.stringContaining('did not settle within 1000 ms') });
});

test('a replay and a batch of one process handle a record once, and not at the same time', async () => {
  const { clock, parking, process, consumer, calls, mostRunning } = consumerWith(async (_, __, time) => {
    await time.sleep(1_000);
  });
  const batch = process(['a1', 'a2']);
  await clock.runUntil(clock.sleep(500));
  // Another process has parked the key, but this process gets the records, too.
  const other = consumerWith(async () => {
    throw new Error('not yet');
  });
  const parkThere = new OrderedConsumer(() => Promise.reject(new Error('not yet')), {
    parking,
    clock: other.clock,
    timeOfDay: () => 0,
    retryMs: 1,
  });
  await other.clock.runUntil(parkThere.process(shardOf(['a1', 'a2']), { source: SOURCE }));
  await clock.runUntil(Promise.all([batch, consumer.retryParked()]));
  expect(calls).toEqual(['a1', 'a2']);
  expect(mostRunning()).toBe(1);
});

test('an attempt waits for each earlier call of its key whose attempt is over', async () => {
  const starts: Record<string, number> = {};
  const { clock, consumer, process } = consumerWith(async (text, _, time) => {
    starts[text] = time.now();
    await time.sleep({ a1: 10_000, a2: 2_000 }[text] ?? 0);
  });
  const stop = new AbortController();
  clock.schedule(() => stop.abort(), 1_000);
  const stopped = ['a1', 'a2'].map((text) =>
    consumer.process(shardOf([text]), { source: `the source of ${text}`, signal: stop.signal }),
  );
  await clock.runUntil(Promise.all(stopped));
  await clock.runUntil(process(['a3']));
  expect(starts).toEqual({ a1: 0, a2: 0, a3: 10_000 });
});

describe('a key that is parked after the end of its invocation', () => {
  /** A consumer whose first write to the parking store takes `lateMs`. */
  const slowlyParking = (lateMs: number) => {
    const set = consumerWith(async (text, { attempt }) => {
      if (text === 'a1' && attempt < 4) throw new Error('not yet');
    });
    const { parking, clock } = set;
    const save = parking.save.bind(parking);
    const signals: (AbortSignal | undefined)[] = [];
    jest.spyOn(parking, 'save').mockImplementation(async (...args: unknown[]) => {
      signals.push((args[2] as { signal?: AbortSignal } | undefined)?.signal);
      if (signals.length === 1) await clock.sleep(lateMs);
      return save(...(args as Parameters<typeof save>));
    });
    return { ...set, signals };
  };

  test('makes the next batch in this process wait, which then appends its records to the key', async () => {
    const { clock, invoke, calls, key } = slowlyParking(70_000);
    expect(await clock.runUntil(invoke(['a1', 'a2']))).toEqual({ batchItemFailures: [{ itemIdentifier: '1' }] });
    expect(await clock.runUntil(invoke(['a1', 'a2', 'a3']))).toEqual({ batchItemFailures: [] });
    expect(calls).toEqual(['a1', 'a1', 'a1']);
    expect(await key()).toMatchObject({ first: 0, next: 3 });
  });

  test('does not make a batch wait for longer than its time', async () => {
    const { clock, invoke, calls } = slowlyParking(10 * MINUTE_MS);
    await clock.runUntil(invoke(['a1']));
    const startedAt = clock.now();
    expect(await clock.runUntil(invoke(['a1', 'b1']))).toEqual({ batchItemFailures: [{ itemIdentifier: '1' }] });
    expect(clock.now() - startedAt).toBeLessThan(MINUTE_MS);
    expect(calls).toEqual(['a1', 'a1', 'a1', 'b1']);
  });

  test('gets no further request after the response', async () => {
    const { clock, invoke, signals } = slowlyParking(70_000);
    await clock.runUntil(invoke(['a1']));
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
    const table = new ParkingTable();
    const transactWriteItems = jest.fn(async () => ({}));
    const store = new DynamoDbParkingStore(table.client({ transactWriteItems }), {
      tableName: 'Parked',
      consumer: 'c',
    });
    const late = { signal: signals[0]! };
    const parked = { ...NEW_KEY, next: 1 };
    const record = { partitionKey: 'a', data: Buffer.from('a1'), subSequenceNumber: 0, positions: [] };
    await expect(store.save(parked, [record], late)).rejects.toMatchObject({ name: 'AbortError' });
    expect(transactWriteItems).not.toHaveBeenCalled();
  });
});

const NEW_KEY: ParkedKey = {
  ...{ partitionKey: 'a', first: 0, next: 0, parkedUpTo: {}, since: 0, tries: 1, retries: 0, dueAt: 0, dead: false },
};

describe('a key whose handler does not end', () => {
  test('is not due before the end of the invocation, because Lambda then freezes the handler', async () => {
    const { clock, invoke, key } = consumerWith(forever);
    await clock.runUntil(invoke(['a1']));
    expect(clock.now()).toBeLessThan(20_000);
    expect((await key())!.dueAt).toBeCloseTo(MINUTE_MS, -1);
  });

  test('outside Lambda, is not due before the end of a lease', async () => {
    const { clock, process, key } = consumerWith(forever);
    await clock.runUntil(process(['a1']));
    expect((await key())!.dueAt - clock.now()).toBe(MINUTE_MS);
  });
});

test.each([
  ['begins its lease again', 20_000, ['a1']],
  ['leaves the key to a later replay', 40_000, []],
])('a replay whose parking store takes long %s before the next attempt: %d ms', async (_, saveMs, expected) => {
  const leases: number[] = [];
  let leasesBefore = 0;
  const { clock, parking, consumer, process, calls, key } = consumerWith(
    async (__, { attempt }) => {
      if (attempt < 3) throw new Error('not yet');
      leasesBefore = leases.length;
    },
    { attempts: 2 },
  );
  await clock.runUntil(process(['a1']));
  calls.length = 0;
  const save = parking.save.bind(parking);
  jest.spyOn(parking, 'save').mockImplementation(async (...args) => {
    const saved = await save(...args);
    if (args[0].lease !== undefined) leases.push(args[0].lease.until);
    await clock.sleep(saveMs);
    return saved;
  });
  await clock.runUntil(clock.sleep(MINUTE_MS));
  await clock.runUntil(consumer.retryParked());
  expect(calls).toEqual(expected);
  expect(leasesBefore).toBe(2 * expected.length);
  expect(leases[1]! - leases[0]!).toBe(saveMs);
  expect((await key())?.lease).toBeUndefined();
});
