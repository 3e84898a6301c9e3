import { EventEmitter, getEventListeners } from 'node:events';
import { OUTBOX_SCHEMA_VERSION, OutboxReadOnlyError, OutboxRelay } from '../../../../lib/core/outbox';
import type { PostgresClient, PostgresPool, PostgresQuery } from '../../../../lib/core/outbox/postgres-client';
import type { TunedRelayOptions } from '../../../../lib/core/outbox/relay-options';
import type { StatementName } from '../../../../lib/core/outbox/sql-text';
import { VirtualClock } from '../../../../lib/testing';
import { type FakeRows, statementName } from '../../../support/postgres/outbox-statements';

const SECOND_MS = 1_000;
const READ_ONLY = { code: '25006', message: 'cannot execute UPDATE in a read-only transaction' };
const BROKEN = { message: 'Connection terminated unexpectedly' };

const NOTHING_NEW = [{ snapshot: '3:3:', first_id: null, has_rows: false }];

/** What an outbox of one range answers, in which nobody puts a row. */
const ANSWERS: Partial<Record<StatementName, FakeRows>> = {
  readSession: [{ lock_timeout: '0', is_first: true }],
  readSettings: ([names]) => (names as string[]).map((name) => ({ name, value: 'as it is' })),
  applySettings: ([names]) => (names as string[]).map((name) => ({ name, value: 'as it is' })),
  hasWorkerLock: [{ isHeld: true }],
  hasSettingsTable: [{ there: true }],
  readVersion: [{ version: OUTBOX_SCHEMA_VERSION }],
  readCacheSize: [{ cache_size: '1' }],
  lockWorker: [{ lock: -7 }],
  findFreeRanges: ([held]) => ((held as number[]).length === 0 ? [{ number: 1, lock: 1 }] : []),
  lockRange: [{ isClaimed: true }],
  recognizeDatabase: [{ isKnown: true }],
  takeOverRange: [
    {
      first_bucket: 0,
      last_bucket: 1,
      fence: '1',
      producer_id: 'p',
      batch_from: '3:3:',
      batch_to: null,
      after_id: 0,
    },
  ],
  listParkedKeys: [{ partition_key: null }],
  takeSnapshot: NOTHING_NEW,
  savePosition: [{ isHeld: true }],
  verify: [{ verified_rows: 0, missing_rows: 0 }],
  readLag: [{ waiting_rows: 0, waiting_seconds: 0, parked_rows: 0 }],
};

type Name = ReturnType<typeof statementName>;

/** A pool of such connections, of which some statements fail. */
class StubPool extends EventEmitter implements PostgresPool {
  readonly totalCount = 1;
  /** Without those that only the processes of two connections were compared with. */
  readonly connections: EventEmitter[] = [];
  readonly ran: Name[] = [];
  /** How each connection was given back: whether as a broken one. */
  readonly released: unknown[] = [];
  /** What a statement returns instead. */
  readonly answers = new Map<Name, object[]>();
  /** The statement that has no response. */
  silentOn?: Name;
  /** Whether connections are made when they are asked for, which a pool tells, and not before. */
  areNew = true;
  /** What each worker holds: nobody anything, but for what a test says. */
  holdings: object[] = [{ is_mine: true, ranges: 0 }];

  constructor(private readonly failing: (name: Name) => object | undefined = () => undefined) {
    super();
  }

  private processes = 0;

  async connect(): ReturnType<PostgresPool['connect']> {
    const pid = ++this.processes;
    let isForComparison = true;
    const query = async (given: PostgresQuery) => {
      const name = statementName(given);
      if (name === 'readProcess') return { rows: [{ pid }], rowCount: 1 };
      isForComparison = false;
      this.ran.push(name);
      const failure = this.failing(name);
      if (failure !== undefined) throw Object.assign(new Error(), failure);
      if (this.silentOn === name) return new Promise<never>(() => {});
      if (name === 'countHoldings') return { rows: this.holdings, rowCount: this.holdings.length };
      const answer = this.answers.get(name) ?? ANSWERS[name as StatementName] ?? [];
      const rows = typeof answer === 'function' ? answer(given.values ?? []) : answer;
      return { rows, rowCount: rows.length };
    };
    const release = (isBroken: unknown): void => {
      if (isForComparison) this.connections.splice(this.connections.indexOf(connection), 1);
      else this.released.push(isBroken);
    };
    const connection = Object.assign(new EventEmitter(), { query, release });
    this.connections.push(connection);
    if (this.areNew) this.emit('connect', connection);
    return connection as unknown as PostgresClient & { release(): void };
  }
}

const producer = { putAll: async () => ({ delivered: 0, rejected: 0 }) };
const relayOn = (postgres: PostgresPool | PostgresClient, clock: VirtualClock, options: TunedRelayOptions = {}) =>
  new OutboxRelay(postgres, producer, { clock, onReconnect: () => {}, ...options });

/** Runs a relay for so long, does something meanwhile, and returns how often each statement ran. */
async function countsOf(pool: StubPool, forMs: number, options: TunedRelayOptions = {}, meanwhile = () => {}) {
  const clock = new VirtualClock();
  const relay = relayOn(pool, clock, { ...options, clock });
  const abort = new AbortController();
  const running = relay.run({ signal: abort.signal });
  await clock.runUntil(clock.sleep(SECOND_MS / 2));
  meanwhile();
  await clock.runUntil(clock.sleep(forMs - SECOND_MS / 2));
  abort.abort();
  await clock.runUntil(running);
  const count = (name: Name) => pool.ran.filter((each) => each === name).length;
  return { count, relay, endedAt: clock.now() };
}

describe('a server that takes no writes', () => {
  /** When a relay gives up, if to take a range fails like this; after an hour it is told to end. */
  async function endsAfterMs(failureAt: (ms: number) => object | undefined): Promise<number | undefined> {
    const clock = new VirtualClock();
    const writes: Name[] = ['takeOverRange', 'replaceLock', 'takeSnapshot'];
    const pool = new StubPool((name) => (writes.includes(name) ? failureAt(clock.now()) : undefined));
    const abort = new AbortController();
    clock.schedule(() => abort.abort(), 3_600 * SECOND_MS);
    const running = relayOn(pool, clock).run({ signal: abort.signal });
    try {
      await clock.runUntil(running);
      return undefined;
    } catch (error) {
      expect(error).toBeInstanceOf(OutboxReadOnlyError);
      return clock.now();
    }
  }

  test('ends its relay after a minute, for it may have been a primary', async () => {
    expect(await endsAfterMs(() => READ_ONLY)).toBe(60 * SECOND_MS);
  });

  test('ends no relay when it takes writes within a minute', async () => {
    expect(await endsAfterMs((ms) => (ms < 59 * SECOND_MS ? READ_ONLY : undefined))).toBeUndefined();
  });

  test('has another minute when it was not there meanwhile', async () => {
    const failureAt = (ms: number) => (ms >= 50 * SECOND_MS && ms < 55 * SECOND_MS ? BROKEN : READ_ONLY);
    expect(await endsAfterMs(failureAt)).toBe(115 * SECOND_MS);
  });
});

test('a pool and its connections have no listener of a relay that has ended, nor of a verification', async () => {
  const clock = new VirtualClock();
  const pool = new StubPool();
  const abort = new AbortController();
  clock.schedule(() => abort.abort(), SECOND_MS);
  const relay = relayOn(pool, clock);
  await clock.runUntil(relay.run({ signal: abort.signal }));
  await clock.runUntil(relay.verify());
  expect([getEventListeners(abort.signal, 'abort'), pool.released]).toEqual([[], [false, false]]);
  const emitters = [pool, ...pool.connections];
  expect(pool.connections).toHaveLength(2);
  // What a pool hears of its connections from their beginning stays with them.
  const listeners = emitters.flatMap((emitter) => emitter.eventNames().map(String));
  expect(new Set(listeners)).toEqual(new Set(['error']));
  expect(pool.connections.map((connection) => connection.listenerCount('error'))).toEqual([1, 1]);
});

test.each<[string, Name, (relay: OutboxRelay) => Promise<unknown>]>([
  ['verifies', 'verify', (relay) => relay.verify()],
  ['is checked', 'hasSettingsTable', (relay) => relay.run()],
])(
  'a connection that breaks while it %s ends that, and not the process, whether it is new or not',
  async (_, broken, use) => {
    for (const areNew of [true, false]) {
      const clock = new VirtualClock();
      const pool = Object.assign(new StubPool((name) => (name === broken ? BROKEN : undefined)), { areNew });
      await expect(clock.runUntil(use(relayOn(pool, clock)))).rejects.toMatchObject({ code: 'OUTBOX_CONNECTION' });
      expect(() => pool.connections[0]!.emit('error', new Error('broken'))).not.toThrow();
      expect(pool.released).toEqual([true]);
    }
  },
);

test('a relay runs once at a time, and again when it has ended', async () => {
  const clock = new VirtualClock();
  const relay = relayOn(new StubPool(), clock);
  for (const _ of [1, 2]) {
    const abort = new AbortController();
    const running = relay.run({ signal: abort.signal });
    await expect(relay.run()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'run' });
    abort.abort();
    await clock.runUntil(running);
  }
});

test('a relay that is told to end does so at once, however long it would have slept', async () => {
  const { endedAt } = await countsOf(new StubPool(), 5 * SECOND_MS, { leaseMs: 3_600 * SECOND_MS });
  expect(endedAt).toBe(5 * SECOND_MS);
});

test('a relay that is told to end waits three seconds for a last answer', async () => {
  const clock = new VirtualClock();
  const pool = Object.assign(new StubPool(), { silentOn: 'unlisten' as const });
  const abort = new AbortController();
  const running = relayOn(pool, clock).run({ signal: abort.signal });
  await clock.runUntil(clock.sleep(SECOND_MS));
  abort.abort();
  await clock.runUntil(running);
  expect([clock.now(), pool.released]).toEqual([4 * SECOND_MS, [true]]);
});

describe('a connection of a pool that is lost', () => {
  test.each([
    ['holds a range', true],
    ['stands by', false],
  ])('is given back at once by a worker that %s, however seldom that looks at the ranges', async (_, isFree) => {
    const clock = new VirtualClock();
    const pool = new StubPool();
    if (!isFree) pool.answers.set('findFreeRanges', []);
    const abort = new AbortController();
    const relay = relayOn(pool, clock, { leaseMs: 3_600 * SECOND_MS });
    const running = relay.run({ signal: abort.signal });
    await clock.runUntil(clock.sleep(SECOND_MS));
    pool.connections[0]!.emit('end');
    await clock.runUntil(clock.sleep(0));
    expect(pool.released).toEqual([true]);
    abort.abort();
    await clock.runUntil(running);
    const nothing = { relayed: 0, parked: 0, rejections: 0, givenUp: 0 };
    expect(relay.summary()).toEqual({ ...nothing, reconnects: 1 });
  });

  test.each(['error', 'end'])(
    'with the event %s is replaced after a wait, which is counted and told',
    async (event) => {
      const pool = new StubPool();
      const told: Error[] = [];
      const options = { leaseMs: 2 * SECOND_MS, onReconnect: (error: Error) => void told.push(error) };
      const { relay } = await countsOf(pool, 2 * SECOND_MS, options, () => pool.connections[0]!.emit(event));
      expect([pool.connections.length, pool.released]).toEqual([1, [true]]);
      const again = await countsOf(pool, 4 * SECOND_MS, options, () => pool.connections[1]!.emit(event));
      expect(pool.connections).toHaveLength(3);
      expect([relay, again.relay].map((each) => each.summary().reconnects)).toEqual([1, 1]);
      expect(told).toMatchObject([{ code: 'OUTBOX_CONNECTION' }, { code: 'OUTBOX_CONNECTION' }]);
    },
  );

  test('over and over, by a statement that fails, is replaced once in each wait', async () => {
    const pool = new StubPool((name) => (name === 'takeSnapshot' ? { code: '53100' } : undefined));
    await countsOf(pool, 9.5 * SECOND_MS);
    expect(pool.connections).toHaveLength(10);
  });

  test.each<[string, Name, object, object]>([
    ['it was to be checked', 'hasSettingsTable', BROKEN, { code: 'OUTBOX_CONNECTION' }],
    ['Postgres says what comes again', 'takeSnapshot', { code: '42P01' }, { code: '42P01' }],
  ])('ends the relay when %s', async (_, failing, failure, error) => {
    const clock = new VirtualClock();
    const pool = new StubPool((name) => (name === failing ? failure : undefined));
    await expect(clock.runUntil(relayOn(pool, clock).run())).rejects.toMatchObject(error);
    expect([pool.connections.length, pool.released]).toEqual([1, [true]]);
  });

  test('and is a client ends the relay, which has no other', async () => {
    const clock = new VirtualClock();
    const pool = new StubPool();
    const relay = relayOn(await pool.connect(), clock);
    await clock.runUntil(relay.verify());
    const running = relay.run();
    await clock.runUntil(clock.sleep(SECOND_MS));
    pool.connections[0]!.emit('end');
    await expect(clock.runUntil(running)).rejects.toMatchObject({ code: 'OUTBOX_CONNECTION' });
    expect([pool.connections.length, pool.released]).toEqual([1, []]);
  });
});

describe('a pool that gives no connection', () => {
  const REFUSED = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  test.each<[string, Error, string]>([
    ['as the system says', REFUSED, 'ECONNREFUSED'],
    ['without a code', new Error('timeout'), 'OUTBOX_CONNECTION'],
  ])('%s ends the relay', async (_, failure, code) => {
    const clock = new VirtualClock();
    const pool = Object.assign(new StubPool(), { connect: () => Promise.reject(failure) });
    await expect(clock.runUntil(relayOn(pool, clock).run())).rejects.toMatchObject({ code });
  });

  test('in time ends the relay, and one that comes later is closed', async () => {
    const clock = new VirtualClock();
    const [pool, slow] = [new StubPool(), new StubPool()];
    slow.connect = async () => {
      await clock.sleep(31 * SECOND_MS);
      return pool.connect();
    };
    await expect(clock.runUntil(relayOn(slow, clock).run())).rejects.toMatchObject({ code: 'OUTBOX_CONNECTION' });
    expect(clock.now()).toBe(30 * SECOND_MS);
    await clock.runOut();
    expect(pool.connections).toEqual([]);
  });
});

describe('a pool', () => {
  const needsTwo = { code: 'INVALID_ARGUMENT', message: expect.stringContaining('needs two connections') };

  /** A pool whose second connection comes so late, and that says so of itself. */
  function poolWith(clock: VirtualClock, secondAfterMs: number, own: object): StubPool {
    const pool = Object.assign(new StubPool(), own);
    const connect = pool.connect.bind(pool);
    let connections = 0;
    pool.connect = async () => {
      if (connections++ > 0) await clock.sleep(secondAfterMs);
      return connect();
    };
    return pool;
  }

  async function runOn(pool: StubPool, clock: VirtualClock): Promise<void> {
    const abort = new AbortController();
    clock.schedule(() => abort.abort(), 10 * SECOND_MS);
    await clock.runUntil(relayOn(pool, clock).run({ signal: abort.signal }));
  }

  test.each<[string, object]>([
    ['says that it has one', { options: { max: 1 } }],
    ['has opened one, and gives no other', { totalCount: 1 }],
  ])('of one connection, which %s, is refused', async (_, own) => {
    const clock = new VirtualClock();
    const pool = poolWith(clock, 20 * SECOND_MS, own);
    await expect(runOn(pool, clock)).rejects.toMatchObject(needsTwo);
    expect(pool.ran).toEqual([]);
  });

  test.each<[string, number]>([
    ['needs for a second', SECOND_MS],
    ['needs for long', 20 * SECOND_MS],
  ])('whose other connections the application %s relays', async (_, secondAfterMs) => {
    const clock = new VirtualClock();
    const pool = poolWith(clock, secondAfterMs, { options: { max: 2 }, totalCount: 2 });
    await runOn(pool, clock);
    expect(pool.released).toEqual([false]);
    expect(pool.ran).toContain('listen');
  });
});

test.each([
  ['one that holds a range', 3],
  ['one that holds none', 0],
])('slots are rotated every half a minute, by %s', async (_, rotations) => {
  const pool = new StubPool();
  if (rotations === 0) pool.answers.set('findFreeRanges', []);
  const { count } = await countsOf(pool, 100 * SECOND_MS);
  expect(count('rotate')).toBe(rotations);
});

test.each([
  [1, 0, 0],
  [2, 0, 1],
  [3, 2, 0],
  [4, 2, 1],
])('a worker with %d ranges, where the one with the fewest has %d, gives %d back', async (mine, fewest, given) => {
  const clock = new VirtualClock();
  const pool = new StubPool();
  const abort = new AbortController();
  const running = relayOn(pool, clock).run({ signal: abort.signal });
  await clock.runUntil(clock.sleep(SECOND_MS / 2));
  pool.holdings = [{ is_mine: true, ranges: mine }, { ranges: fewest }, { ranges: 5 }];
  await clock.runUntil(clock.sleep(SECOND_MS));
  expect(pool.ran.filter((name) => name === 'unlockRange')).toHaveLength(given);
  abort.abort();
  await clock.runUntil(running);
});
