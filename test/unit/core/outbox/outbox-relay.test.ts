import { EventEmitter } from 'node:events';
import { OUTBOX_SCHEMA_VERSION, OutboxReadOnlyError, OutboxRelay } from '../../../../lib/core/outbox';
import type { PostgresClient, PostgresPool, PostgresQuery } from '../../../../lib/core/outbox/postgres-client';
import { VirtualClock } from '../../../../lib/testing';

const SECOND_MS = 1_000;
const READ_ONLY = { code: '25006', message: 'cannot execute UPDATE in a read-only transaction' };
const BROKEN = { message: 'Connection terminated unexpectedly' };

/** What an outbox of one range answers, in which nobody puts a row. */
const ANSWERS: [begins: string, rows: object[] | ((values: unknown[]) => object[])][] = [
  ['SELECT to_regclass', [{ there: true }]],
  ['SELECT version', [{ version: OUTBOX_SCHEMA_VERSION }]],
  ['SELECT cache_size', [{ cache_size: '1' }]],
  ['SELECT lock FROM (SELECT -1', [{ lock: -7 }]],
  ['SELECT number, lock', ([, held]) => ((held as number[]).length === 0 ? [{ number: 1, lock: 1 }] : [])],
  ['SELECT pg_try_advisory_lock(', [{ isClaimed: true }]],
  ['SELECT outbox.recognize', [{ isKnown: true }]],
  [
    'UPDATE outbox.range r SET fence',
    [
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
  ],
  ['SELECT partition_key, tries', [{ partition_key: null }]],
  ['SELECT seen', [{ snapshot: '3:3:', first_id: null, has_rows: false }]],
  ['SELECT * FROM outbox.verify', [{ verified_rows: 0, missing_rows: 0 }]],
  ['SELECT * FROM outbox.lag', [{ waiting_rows: 0, waiting_seconds: 0, parked_rows: 0 }]],
];

/** A pool of such connections, of which some statements fail. */
class StubPool extends EventEmitter implements PostgresPool {
  readonly totalCount = 1;
  readonly connections: EventEmitter[] = [];
  readonly asked: string[] = [];
  /** What each worker holds: nobody anything, but for what a test says. */
  holdings: object[] = [{ is_mine: true, ranges: 0 }];

  constructor(private readonly failing: (text: string) => object | undefined = () => undefined) {
    super();
  }

  async connect(): ReturnType<PostgresPool['connect']> {
    const query = async ({ text, values = [] }: PostgresQuery) => {
      this.asked.push(text);
      const failure = this.failing(text);
      if (failure !== undefined) throw Object.assign(new Error(), failure);
      if (text.startsWith('SELECT pid')) return { rows: this.holdings, rowCount: this.holdings.length };
      const answer = ANSWERS.find(([begins]) => text.trim().startsWith(begins))?.[1] ?? [];
      const rows = typeof answer === 'function' ? answer(values) : answer;
      return { rows, rowCount: rows.length };
    };
    const connection = Object.assign(new EventEmitter(), { query, release: () => {} });
    this.connections.push(connection);
    this.emit('connect', connection);
    return connection as unknown as PostgresClient & { release(): void };
  }
}

const producer = { putAll: async () => ({ delivered: 0, rejected: 0 }) };
const relayOn = (pool: PostgresPool, clock: VirtualClock) =>
  new OutboxRelay(pool, producer, { clock, onReconnect: () => {} });

describe('a server that takes no writes', () => {
  /** When a relay gives up, if to take a range fails like this; after an hour it is told to end. */
  async function endsAfterMs(failureAt: (ms: number) => object | undefined): Promise<number | undefined> {
    const clock = new VirtualClock();
    const pool = new StubPool((text) => {
      const writes = text.startsWith('UPDATE outbox.range') || text.includes('pg_current_snapshot() seen');
      return writes ? failureAt(clock.now()) : undefined;
    });
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

  test('has another minute when it has taken writes since', async () => {
    const isReadOnly = (ms: number) => ms < 10 * SECOND_MS || (ms >= 1_000 * SECOND_MS && ms < 1_010 * SECOND_MS);
    expect(await endsAfterMs((ms) => (isReadOnly(ms) ? READ_ONLY : undefined))).toBeUndefined();
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
  const emitters = [pool, ...pool.connections];
  expect(pool.connections).toHaveLength(2);
  // What a pool hears of its connections from their beginning stays with them.
  const listeners = emitters.flatMap((emitter) => emitter.eventNames().map(String));
  expect(new Set(listeners)).toEqual(new Set(['error']));
  expect(pool.connections.map((connection) => connection.listenerCount('error'))).toEqual([1, 1]);
});

test('a connection that breaks while it verifies ends the verification, and not the process', async () => {
  const clock = new VirtualClock();
  const pool = new StubPool((text) => (text.includes('verify()') ? BROKEN : undefined));
  await expect(clock.runUntil(relayOn(pool, clock).verify())).rejects.toMatchObject({ code: 'OUTBOX_CONNECTION' });
  expect(() => pool.connections[0]!.emit('error', new Error('broken'))).not.toThrow();
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
  expect(pool.asked.filter((text) => text.includes('pg_advisory_unlock('))).toHaveLength(given);
  abort.abort();
  await clock.runUntil(running);
});
