import { EventEmitter, getEventListeners } from 'node:events';
import { OUTBOX_SCHEMA_VERSION, OutboxReadOnlyError, OutboxRelay, type RecordSink } from '../../../../lib/core/outbox';
import type { PostgresClient, PostgresPool, PostgresQuery } from '../../../../lib/core/outbox/postgres-client';
import type { TunedRelayOptions } from '../../../../lib/core/outbox/relay-options';
import type { StatementName } from '../../../../lib/core/outbox/sql-text';
import { VirtualClock } from '../../../../lib/testing';
import { type FakeRows, statementName } from '../../../support/postgres/outbox-statements';

const SECOND_MS = 1_000;
const READ_ONLY = { code: '25006', message: 'cannot execute UPDATE in a read-only transaction' };
const BROKEN = { message: 'Connection terminated unexpectedly' };

const NOTHING_NEW = [{ snapshot: '3:3:', first_id: null, has_rows: false }];

/** The responses of an empty outbox with one range. */
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
  countHoldings: [{ is_mine: true, ranges: 0 }],
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

/** A pool whose connections return the rows of `ANSWERS`. Some statements can fail. */
class StubPool extends EventEmitter implements PostgresPool {
  readonly totalCount = 1;
  /** All connections except connections that were only opened to compare two server processes. */
  readonly connections: EventEmitter[] = [];
  readonly ran: Name[] = [];
  /** For each released connection, whether it was released as broken. */
  readonly released: unknown[] = [];
  /** Whether a range is free for a worker. */
  hasFreeRange = true;
  /** The statement to which the server sends no response. */
  silentOn?: Name;
  /** Whether each requested connection is new. For a new connection, the pool emits `connect`. */
  areNew = true;
  /** Replaces rows of `ANSWERS`. */
  answers: typeof ANSWERS = {};

  constructor(private readonly failing: (name: Name) => object | undefined = () => undefined) {
    super();
  }

  private processes = 0;

  async connect(): ReturnType<PostgresPool['connect']> {
    const pid = ++this.processes;
    let isForComparison = true;
    const query = async (released: PostgresQuery) => {
      const name = statementName(released);
      if (name === 'readProcess') return { rows: [{ pid }], rowCount: 1 };
      isForComparison = false;
      this.ran.push(name);
      const failure = this.failing(name);
      if (failure !== undefined) throw Object.assign(new Error(), failure);
      if (this.silentOn === name) return new Promise<never>(() => {});
      const isFull = name === 'findFreeRanges' && !this.hasFreeRange;
      const answer = isFull ? [] : ({ ...ANSWERS, ...this.answers }[name as StatementName] ?? []);
      const rows = typeof answer === 'function' ? answer(released.values ?? []) : answer;
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

/** Starts a relay on a virtual clock. */
function start(pool: PostgresPool | PostgresClient, options: TunedRelayOptions = {}, clock = new VirtualClock()) {
  const relay = relayOn(pool, clock, options);
  const abort = new AbortController();
  const running = relay.run({ signal: abort.signal });
  const pass = (ms: number) => clock.runUntil(clock.sleep(ms));
  /** Aborts the relay, and waits until it has ended. */
  const stop = async (): Promise<void> => {
    abort.abort();
    await clock.runUntil(running);
  };
  const ended = () => clock.runUntil(running);
  return { clock, relay, abort, pass, stop, ended };
}

describe('a relay on a read-only server', () => {
  /**
   * The time at which a relay ends with an error if writes fail with `failureAt`. After an hour, the test aborts the
   * relay.
   */
  async function endsAfterMs(failureAt: (ms: number) => object | undefined): Promise<number | undefined> {
    const clock = new VirtualClock();
    const writes: Name[] = ['takeOverRange', 'replaceLock', 'takeSnapshot'];
    const pool = new StubPool((name) => (writes.includes(name) ? failureAt(clock.now()) : undefined));
    const { abort, ended } = start(pool, {}, clock);
    clock.schedule(() => abort.abort(), 3_600 * SECOND_MS);
    try {
      await ended();
      return undefined;
    } catch (error) {
      expect(error).toBeInstanceOf(OutboxReadOnlyError);
      return clock.now();
    }
  }

  test('ends after one minute, because the server may have been a primary server before', async () => {
    expect(await endsAfterMs(() => READ_ONLY)).toBe(60 * SECOND_MS);
  });

  test('does not end if the server accepts writes within one minute', async () => {
    expect(await endsAfterMs((ms) => (ms < 59 * SECOND_MS ? READ_ONLY : undefined))).toBeUndefined();
  });

  test('waits for one minute again after it has lost its connection', async () => {
    const failureAt = (ms: number) => (ms >= 50 * SECOND_MS && ms < 55 * SECOND_MS ? BROKEN : READ_ONLY);
    expect(await endsAfterMs(failureAt)).toBe(115 * SECOND_MS);
  });
});

test('after run and verify have ended, the pool and its connections have no listeners of the relay', async () => {
  const pool = new StubPool();
  const { clock, relay, abort, pass, stop } = start(pool);
  await pass(SECOND_MS);
  await stop();
  await clock.runUntil(relay.verify());
  expect([getEventListeners(abort.signal, 'abort'), pool.released]).toEqual([[], [false, false]]);
  const emitters = [pool, ...pool.connections];
  expect(pool.connections).toHaveLength(2);
  expect(emitters.flatMap((emitter) => emitter.eventNames())).toEqual([]);
});

test('if the connection is lost while a relay verifies, the call is rejected and the process continues, with a new connection or a reused connection', async () => {
  for (const areNew of [true, false]) {
    const clock = new VirtualClock();
    const pool = Object.assign(new StubPool((name) => (name === 'verify' ? BROKEN : undefined)), { areNew });
    await expect(clock.runUntil(relayOn(pool, clock).verify())).rejects.toMatchObject({ code: 'OUTBOX_CONNECTION' });
    expect(() => pool.connections[0]!.emit('error', new Error('broken'))).not.toThrow();
    expect(pool.released).toEqual([true]);
  }
});

test('a relay cannot run twice at the same time, but can run again after it has ended', async () => {
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

test('an aborted relay ends immediately, even if its lease is long', async () => {
  const { clock, pass, stop } = start(new StubPool(), { leaseMs: 3_600 * SECOND_MS });
  await pass(5 * SECOND_MS);
  await stop();
  expect(clock.now()).toBe(5 * SECOND_MS);
});

test('a relay that was aborted within a batch of commits continues after its last row, and sends no row twice', async () => {
  const rows = [1, 2, 3].map((id) => ({
    ...{ id, partition_key: 'k', data: Buffer.from('x'), bytes_up_to: 1, parked_tries: null },
    ...{ explicit_hash_key: null, type: null, headers: null, topic: null, created_at: null },
  }));
  let position = { batch_from: '3:3:' as unknown, batch_to: null as unknown, after_id: 0 as unknown };
  const pool = new StubPool();
  pool.answers = {
    takeOverRange: () => [{ first_bucket: 0, last_bucket: 1, fence: '1', producer_id: 'p', ...position }],
    takeSnapshot: ([from]) => [{ snapshot: '5:5:', first_id: 1, has_rows: from === '3:3:' }],
    readBatch: (values) => rows.filter(({ id }) => id > Number(values[3])).slice(0, values[6] as number),
    savePosition: ([, , batch_from, batch_to, after_id]) => {
      position = { batch_from, batch_to, after_id };
      return [{ isHeld: true }];
    },
  };
  const sent: number[] = [];
  for (const _ of rows) {
    const [clock, abort] = [new VirtualClock(), new AbortController()];
    const putAll: RecordSink['putAll'] = async (source, observer) => {
      for await (const row of source) {
        sent.push(Number(row.sequence?.sequenceNumber));
        observer?.delivered?.(0, row, { shardId: 's', sequenceNumber: '1', attempts: 1 });
        abort.abort();
      }
      return { delivered: 0, rejected: 0 };
    };
    const options: TunedRelayOptions = { clock, batchRows: 1 };
    const relay = new OutboxRelay(pool, { putAll }, options);
    await clock.runUntil(relay.run({ signal: abort.signal }));
  }
  expect(sent).toEqual([1, 2, 3]);
});

test.each<[string, string, StubPool['answers']]>([
  ['settings', 'the setting', { applySettings: [{ name: 'DateStyle', value: 'German' }] }],
  ['locks', 'an advisory lock of the session', { hasWorkerLock: [{ isHeld: false }] }],
  ['notifications', 'a notification to the session', { notifySession: [{ notified: '' }] }],
])('a relay behind a proxy that loses %s fails with an error that names %s', async (_, what, answers) => {
  const pool = Object.assign(new StubPool(), { answers });
  const message = expect.stringMatching(`${what}.* was lost`);
  const { clock, abort, ended } = start(pool);
  clock.schedule(() => abort.abort(), 10 * SECOND_MS);
  await expect(ended()).rejects.toMatchObject({ code: 'OUTBOX_POOLER', message });
});

test('an aborted relay waits at most three seconds for the last response', async () => {
  const pool = Object.assign(new StubPool(), { silentOn: 'unlisten' as const });
  const { clock, pass, stop } = start(pool);
  await pass(SECOND_MS);
  await stop();
  expect([clock.now(), pool.released]).toEqual([4 * SECOND_MS, [true]]);
});

describe('a pool connection that was lost', () => {
  test.each([
    ['holds a range', true],
    ['has no range', false],
  ])(
    'is released immediately by a worker that %s, even if the lease is long, and an abort leaves no timer',
    async (_, isFree) => {
      const pool = new StubPool();
      pool.hasFreeRange = isFree;
      const { clock, relay, pass, stop } = start(pool, { leaseMs: 3_600 * SECOND_MS });
      await pass(SECOND_MS);
      pool.connections[0]!.emit('end');
      await pass(0);
      expect(pool.released).toEqual([true]);
      await stop();
      await clock.runOut();
      expect(clock.now()).toBe(SECOND_MS);
      const nothing = { relayed: 0, parked: 0, rejections: 0, givenUp: 0 };
      expect(relay.summary()).toEqual({ ...nothing, reconnects: 1 });
    },
  );

  test.each(['error', 'end'])(
    'with the event %s is replaced after a delay, is counted, and is reported to onReconnect',
    async (event) => {
      const pool = new StubPool();
      const errors: Error[] = [];
      const options = { leaseMs: 2 * SECOND_MS, onReconnect: (error: Error) => void errors.push(error) };
      for (const [seconds, connections] of [
        [2, 1],
        [4, 3],
      ] as const) {
        const { relay, pass, stop } = start(pool, options);
        await pass(SECOND_MS / 2);
        pool.connections.at(-1)!.emit(event);
        await pass((seconds - 0.5) * SECOND_MS);
        await stop();
        expect([pool.connections.length, pool.released[0], relay.summary().reconnects]).toEqual([connections, true, 1]);
      }
      expect(errors).toMatchObject([{ code: 'OUTBOX_CONNECTION' }, { code: 'OUTBOX_CONNECTION' }]);
    },
  );

  test.each<Name>(['hasSettingsTable', 'takeSnapshot'])(
    'ends the relay if the error of %s is permanent',
    async (failing) => {
      const pool = new StubPool((name) => (name === failing ? { code: '42P01' } : undefined));
      await expect(start(pool).ended()).rejects.toMatchObject({ code: '42P01' });
      expect([pool.connections.length, pool.released]).toEqual([1, [true]]);
    },
  );

  test('can emit an error later, and the relay continues on its new connection', async () => {
    const pool = new StubPool();
    const { relay, pass, stop } = start(pool);
    await pass(SECOND_MS);
    const [lost] = pool.connections;
    lost!.emit('end');
    await pass(2 * SECOND_MS);
    expect(() => lost!.emit('error', new Error('late'))).not.toThrow();
    await pass(10 * SECOND_MS);
    await stop();
    expect([relay.summary().reconnects, pool.released]).toEqual([1, [true, false]]);
  });

  test('ends the relay if the relay has a single client instead of a pool', async () => {
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

describe('a relay that starts', () => {
  /** The statements of a start, in order. Each can be the first statement after the connection was lost. */
  const STATEMENTS: Name[] = [
    'readSession',
    'SET',
    'readSettings',
    'applySettings',
    'findRowSecurity',
    'readVersion',
    'findMissingPermissions',
    'listen',
    'lockWorker',
    'hasWorkerLock',
    'notifySession',
  ];

  test.each(STATEMENTS)(
    'connects again if its first connection fails at %s, with a lost connection, an error of a restart, or an error of a replica',
    async (failing) => {
      for (const failure of [BROKEN, { code: '57P01' }, { code: '57P03' }, READ_ONLY]) {
        let failures = 0;
        const pool = new StubPool((name) => (name === failing && failures++ === 0 ? failure : undefined));
        const { relay, pass, stop } = start(pool);
        await pass(5 * SECOND_MS);
        await stop();
        expect([relay.summary().reconnects, pool.released]).toEqual([1, [true, false]]);
        expect(pool.ran).toContain('takeSnapshot');
      }
    },
  );

  /** A pool that returns these errors in place of its first connections. */
  function poolAfter(...errors: object[]): StubPool {
    const pool = new StubPool();
    const connect = pool.connect.bind(pool);
    pool.connect = async () => {
      const [error] = errors.splice(0, 1);
      if (error !== undefined) throw Object.assign(new Error(), error);
      return connect();
    };
    return pool;
  }

  test('connects again until it gets a connection', async () => {
    const refused = ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', '57P03', '53300', '08006'].map((code) => ({ code }));
    const waits = { code: '08P01', message: 'query_wait_timeout' };
    const pool = poolAfter(...refused, waits, { message: 'timeout exceeded when trying to connect' });
    const errors: string[] = [];
    const { relay, pass, stop } = start(pool, { onReconnect: (error) => errors.push(String(Object(error).code)) });
    await pass(20 * SECOND_MS);
    await stop();
    expect(errors).toEqual([...refused.map(({ code }) => code), '08P01', 'OUTBOX_CONNECTION']);
    expect([relay.summary().reconnects, pool.released]).toEqual([8, [false]]);
  });

  test.each<[string, object, string]>([
    ['the password is wrong', { code: '28P01' }, '28P01'],
    ['the database does not exist', { code: '3D000' }, '3D000'],
    ['PgBouncer rejects a parameter', { code: '08P01', message: 'unsupported startup parameter: options' }, '08P01'],
    ['the certificate is not trusted', { code: 'SELF_SIGNED_CERT_IN_CHAIN' }, 'SELF_SIGNED_CERT_IN_CHAIN'],
    ['the pool is closed', { message: 'Cannot use a pool after calling end on the pool' }, 'OUTBOX_CONNECTION'],
  ])('ends immediately if %s', async (_, error, code) => {
    const { clock, ended } = start(poolAfter(error));
    await expect(ended()).rejects.toMatchObject({ code });
    expect(clock.now()).toBe(0);
  });

  test('ends if its signal aborts while the pool has no connection', async () => {
    const pool = Object.assign(new StubPool(), { connect: () => Promise.reject(new Error('no connection')) });
    const { clock, pass, stop } = start(pool);
    await pass(5 * SECOND_MS);
    await stop();
    expect(clock.now()).toBe(5 * SECOND_MS);
  });

  test('with a single client, ends with the error of the client', async () => {
    const pool = new StubPool((name) => (name === 'readSession' ? BROKEN : undefined));
    const clock = new VirtualClock();
    await expect(clock.runUntil(relayOn(await pool.connect(), clock).run())).rejects.toMatchObject({
      code: 'OUTBOX_CONNECTION',
    });
  });

  test('waits 30 seconds for a connection, and closes a connection that the pool returns later', async () => {
    const clock = new VirtualClock();
    const [pool, slow] = [new StubPool(), new StubPool()];
    let connects = 0;
    slow.connect = async () => {
      connects += 1;
      await clock.sleep(31 * SECOND_MS);
      return pool.connect();
    };
    const { pass, stop, relay } = start(slow, {}, clock);
    await pass(30 * SECOND_MS);
    expect([connects, relay.summary().reconnects]).toEqual([1, 1]);
    await stop();
    await clock.runOut();
    expect([connects, pool.connections]).toEqual([1, []]);
  });
});

describe('the connections of a pool', () => {
  const needsTwo = { code: 'INVALID_ARGUMENT', message: expect.stringContaining('needs two connections') };

  /** A pool with these properties, and with a delay for its second connection. */
  function poolWith(clock: VirtualClock, secondAfterMs: () => number, own: object): StubPool {
    const pool = Object.assign(new StubPool(), own);
    const connect = pool.connect.bind(pool);
    let connections = 0;
    pool.connect = async () => {
      if (connections++ > 0) await clock.sleep(secondAfterMs());
      return connect();
    };
    return pool;
  }

  async function runOn(pool: StubPool, clock: VirtualClock): Promise<void> {
    const { abort, ended } = start(pool, {}, clock);
    clock.schedule(() => abort.abort(), 10 * SECOND_MS);
    await ended();
  }

  test.each<[string, object]>([
    ['has one connection by its options', { options: { max: 1 } }],
    ['has opened one connection and returns no other', { totalCount: 1 }],
  ])('a pool that %s is rejected', async (_, own) => {
    const clock = new VirtualClock();
    const pool = poolWith(clock, () => 20 * SECOND_MS, own);
    await expect(runOn(pool, clock)).rejects.toMatchObject(needsTwo);
    expect(pool.ran).not.toContain('applySettings');
  });

  test('if the server does not respond while the relay starts, the relay connects again', async () => {
    const clock = new VirtualClock();
    let secondAfterMs = 20 * SECOND_MS;
    const own = { silentOn: 'readSession', totalCount: 1 };
    const pool = poolWith(clock, () => secondAfterMs, own);
    const { relay, pass, stop } = start(pool, {}, clock);
    await pass(10 * SECOND_MS);
    secondAfterMs = 0;
    pool.silentOn = undefined;
    await pass(40 * SECOND_MS);
    await stop();
    expect([relay.summary().reconnects, pool.ran.includes('takeSnapshot')]).toEqual([1, true]);
  });

  test.each<[string, number]>([
    ['for one second', SECOND_MS],
    ['for 20 seconds', 20 * SECOND_MS],
  ])('a relay starts even if the application uses the other connections %s', async (_, secondAfterMs) => {
    const clock = new VirtualClock();
    const pool = poolWith(clock, () => secondAfterMs, { options: { max: 2 }, totalCount: 2 });
    await runOn(pool, clock);
    expect(pool.released).toEqual([false]);
    expect(pool.ran).toContain('listen');
  });
});

test.each([
  ['holds a range', 3],
  ['holds no range', 0],
])('a worker that %s rotates the slots %d times in 100 seconds', async (_, rotations) => {
  const pool = new StubPool();
  pool.hasFreeRange = rotations > 0;
  const { pass, stop } = start(pool);
  await pass(100 * SECOND_MS);
  await stop();
  expect(pool.ran.filter((name) => name === 'rotate')).toHaveLength(rotations);
});
