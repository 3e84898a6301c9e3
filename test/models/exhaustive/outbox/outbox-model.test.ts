import type { Client } from 'pg';
import { systemClock } from '../../../../lib/core/kernel/clock';
import { migrateOutbox, type PostgresClient } from '../../../../lib/core/outbox';
import { Connection } from '../../../../lib/core/outbox/connection';
import {
  type HeldRange,
  OutboxDatabase,
  type OutboxRow,
  type ParkedRow,
} from '../../../../lib/core/outbox/outbox-database';
import { Patience } from '../../../../lib/core/outbox/patience';
import { relaySettings } from '../../../../lib/core/outbox/relay-options';
import { RelaySession } from '../../../../lib/core/outbox/relay-session';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { describeOnPostgres } from '../../../support/postgres/describe-on-postgres';
import { PostgresServer } from '../../../support/postgres/postgres-server';
import type { ModelTransaction } from './model-transactions';
import { OutboxModel } from './outbox-model';

const SEEDS = 30;
const STEPS = 120;
const WORKERS = 2;
const WRITERS = 3;
const RANGES = 2;
const KEYS = ['a', 'b', 'c', 'd'];

/** One worker on one side: what it asks, and what it has been told, by which it asks on. */
interface Worker {
  readonly database: OutboxDatabase;
  readonly session: RelaySession;
  readonly held: HeldRange[];
  rows: OutboxRow[];
  parked: ParkedRow[];
}

/** The real server, or the model of it. */
interface Side {
  readonly workers: Worker[];
  put(writer: number, key: string, data: string): Promise<void>;
  end(writer: number, ends: 'commit' | 'rollback'): Promise<void>;
  loseLocks(worker: number): Promise<void>;
  divide(): Promise<void>;
  close(): Promise<void>;
}

describeOnPostgres('the model of an outbox', () => {
  let server: PostgresServer;
  let url: string;

  beforeAll(async () => {
    server = await PostgresServer.start();
    url = await server.createDatabase('model');
  }, 60_000);
  afterAll(() => server?.stop());

  async function realSide(): Promise<Side> {
    const clients = await Promise.all(Array.from({ length: WORKERS + WRITERS }, () => server.connect(url)));
    const [sessions, writers] = [clients.slice(0, WORKERS), clients.slice(WORKERS)];
    const open = new Set<number>();
    return {
      workers: sessions.map((session) => workerOn(session as PostgresClient)),
      put: async (writer, key, data) => {
        if (!open.has(writer)) await writers[writer]!.query('BEGIN');
        open.add(writer);
        await writers[writer]!.query('SELECT outbox.put($1, $2)', [key, data]);
      },
      end: async (writer, ends) => {
        open.delete(writer);
        await writers[writer]!.query(ends);
      },
      loseLocks: async (worker) => void (await sessions[worker]!.query('SELECT pg_advisory_unlock_all()')),
      divide: async () => void (await sessions[0]!.query('SELECT outbox.divide($1)', [RANGES])),
      close: async () => void (await Promise.all(clients.map((client) => client.end()))),
    };
  }

  function modelSide(model: OutboxModel, transactions: Map<number, ModelTransaction>): Side {
    const sessionOf = (session: string): PostgresClient => ({
      query: async (query) => model.query(session, query),
      on: () => {},
      removeListener: () => {},
    });
    return {
      workers: Array.from({ length: WORKERS }, (_, worker) => workerOn(sessionOf(`worker ${worker}`))),
      put: async (writer, key, data) => {
        if (!transactions.has(writer)) transactions.set(writer, model.transactions.begin());
        model.put(transactions.get(writer)!, key, data);
      },
      end: async (writer, ends) => {
        model.end(transactions.get(writer)!, ends);
        transactions.delete(writer);
      },
      loseLocks: async (worker) => model.unlockAll(`worker ${worker}`),
      divide: async () => model.divide(RANGES),
      close: async () => {},
    };
  }

  async function bucketsOf(client: Client): Promise<Map<string, number>> {
    const { rows } = await client.query(
      'SELECT k AS key, (outbox.key_hash(k) & 4095)::int AS bucket FROM unnest($1::text[]) k',
      [KEYS],
    );
    return new Map(rows.map(({ key, bucket }) => [key, bucket]));
  }

  test(`answers what the real server answers: ${SEEDS} random sequences of ${STEPS} calls`, async () => {
    const admin = await server.connect(url);
    const answered = new Map<string, number>();
    for (let seed = 0; seed < SEEDS; seed++) {
      await admin.query('DROP SCHEMA IF EXISTS outbox CASCADE');
      await migrateOutbox(admin);
      await admin.query('SELECT outbox.divide($1)', [RANGES]);
      await admin.query('UPDATE outbox.range SET fence = 0');
      const buckets = await bucketsOf(admin);
      const model = new OutboxModel({ ranges: RANGES, bucketOf: (key) => buckets.get(key)! });
      const transactions = new Map<number, ModelTransaction>();
      const sides = [await realSide(), modelSide(model, transactions)];
      const random = seededRandom(seed);
      for (const { workers } of sides) {
        for (const { session } of workers) {
          await session.check();
          await session.begin();
          await session.join();
        }
      }
      for (let step = 0; step < STEPS; step++) {
        const call = draw(random, model, transactions, `row ${step}`);
        const [real, modelled] = [await call.on(sides[0]!), await call.on(sides[1]!)];
        expect({ seed, step, call: call.name, answer: modelled }).toEqual({
          seed,
          step,
          call: call.name,
          answer: real,
        });
        if (real !== undefined) answered.set(call.name, (answered.get(call.name) ?? 0) + 1);
      }
      const [real, modelled] = [await dividedAnew(sides[0]!), await dividedAnew(sides[1]!)];
      expect({ seed, claims: modelled }).toEqual({ seed, claims: real });
      for (const side of sides) await side.close();
    }
    await admin.end();
    // Each call has answered something, and not only once.
    expect([...answered.keys()].sort()).toEqual(NAMES.toSorted());
    expect(Math.min(...answered.values())).toBeGreaterThan(1);
  }, 300_000);
});

const NAMES = [
  'claims',
  'counts a try',
  'counts holdings',
  'gives up',
  'lists parked keys',
  'looks and reads a window',
  'parks',
  'reads parked rows',
  'removes parked rows',
  'rotates',
  'saves',
];

interface Call {
  readonly name: string;
  /** What the side answers, without what only it can know; undefined if there was nothing to ask. */
  on(side: Side): Promise<unknown>;
}

function draw(
  random: () => number,
  model: OutboxModel,
  transactions: ReadonlyMap<number, ModelTransaction>,
  data: string,
): Call {
  const below = (count: number): number => Math.floor(random() * count);
  const [writer, worker, key] = [below(WRITERS), below(WORKERS), KEYS[below(KEYS.length)]!];
  const [ofRange, ofRow, findsParkedKeys, maxBytesOfAll, behindId] = [
    random(),
    random(),
    random() < 0.5,
    1 + below(20),
    BigInt(below(10)),
  ] as const;
  const [maxRows, ends] = [1 + below(3), random() < 0.7 ? 'commit' : 'rollback'] as const;
  const call = (name: string, ask: (own: Worker, range: HeldRange) => Promise<unknown>): Call => ({
    name,
    on: async ({ workers }) => {
      const own = workers[worker]!;
      const range = own.held[Math.floor(ofRange * own.held.length)];
      return range === undefined ? undefined : ask(own, range);
    },
  });
  const oneOf = <T>(rows: readonly T[]): T | undefined => rows[Math.floor(ofRow * rows.length)];
  const keys = KEYS.map((partitionKey) => ({ partitionKey, afterId: 0n }));
  const silently = (name: string, act: (side: Side) => Promise<void>): Call => ({
    name,
    on: async (side) => act(side).then(() => undefined),
  });
  const calls: Call[] = [
    model.transactions.isLocked(key, transactions.get(writer))
      ? silently('waits', async () => {})
      : silently('puts', (side) => side.put(writer, key, data)),
    transactions.has(writer) ? silently(ends, (side) => side.end(writer, ends)) : silently('idles', async () => {}),
    {
      name: 'claims',
      on: async ({ workers }) => {
        const { database, held } = workers[worker]!;
        const range = await database.claim(held.map(({ number }) => number));
        if (range === undefined) return 'none is free';
        held.push(range);
        return rangeText(range);
      },
    },
    { name: 'counts holdings', on: async ({ workers }) => sorted(await workers[worker]!.database.holdings()) },
    call('looks and reads a window', async (own, range) => {
      const { from, to: begun, afterId } = range.position;
      const look = begun === undefined ? await own.database.look(range, from) : { to: begun, firstId: 0n };
      if (look === undefined) return 'lost';
      const window = await own.database.readWindow(
        range,
        { from, ...look },
        { afterId, maxRows, maxBytes: 10, findsParkedKeys },
      );
      own.rows.push(...window.rows);
      const last = window.rows.at(-1)?.id ?? afterId;
      Object.assign(
        range.position,
        window.isLast ? { from: look.to, to: undefined, afterId: 0n } : { to: look.to, afterId: last },
      );
      return [window.rows.map(rowText), window.isLast, window.parkedKeys];
    }),
    call('saves', (own, range) =>
      own.database.save(
        range,
        range.position,
        own.rows.map(({ id }) => id),
      ),
    ),
    call('parks', (own, range) => own.database.park(range, own.rows.slice(-maxRows))),
    call('lists parked keys', (own, range) =>
      own.database.parkedKeys(range, { behindId, atMost: maxRows }).then((found) => found ?? 'lost'),
    ),
    call('reads parked rows', async (own, range) => {
      const found = await own.database.readParked(range, keys, { maxRows, maxBytes: 10, maxBytesOfAll });
      own.parked = found?.rows ?? [];
      return found ? [own.parked.map((row) => [rowText(row), row.tries]), found.unreadKeys] : 'lost';
    }),
    call('removes parked rows', async (own) => {
      const row = oneOf(own.parked);
      return row && own.database.removeParked([row]).then(() => 'done');
    }),
    call('counts a try', async (own) => {
      const row = oneOf(own.parked);
      return row && own.database.countTries([{ row, error: new Error('no') }]).then(() => 'done');
    }),
    call('gives up', async (own) => {
      const row = oneOf(own.parked);
      return row && own.database.giveUp([{ row, error: new Error('no') }]).then(() => 'done');
    }),
    call('rotates', (own) => own.database.rotate().then(() => 'done')),
    silently('loses its locks', (side) => side.loseLocks(worker)),
    silently('releases', async ({ workers }) => {
      const { database, held } = workers[worker]!;
      const range = held.shift();
      if (range !== undefined) await database.release(range);
    }),
  ];
  return calls[below(calls.length)]!;
}

function workerOn(client: PostgresClient): Worker {
  const connection = new Connection(client, new Patience(systemClock, 30_000));
  const session = new RelaySession(connection, relaySettings({}));
  client.on('notification', (message) => session.hear(message));
  return { database: new OutboxDatabase(connection, 'outbox'), session, held: [], rows: [], parked: [] };
}

/** What a worker claims when the keys have been divided anew, and nobody holds a range. */
async function dividedAnew(side: Side): Promise<unknown> {
  await side.divide();
  for (let worker = 0; worker < WORKERS; worker++) await side.loseLocks(worker);
  const { database } = side.workers[0]!;
  const [first, second] = [await database.claim([]), await database.claim([1])];
  return [rangeText(first!), rangeText(second!)];
}

/** A range without its snapshots, whose numbers are the server's. */
function rangeText({ number, firstBucket, lastBucket, fence, position }: HeldRange): unknown {
  const { to, afterId } = position;
  return [number, firstBucket, lastBucket, fence, to !== undefined, afterId];
}

function rowText({ id, partitionKey, data }: OutboxRow): string {
  return `${id} ${partitionKey} ${Buffer.from(data)}`;
}

function sorted({ mine, others }: { mine?: number; others: number[] }): unknown {
  return [mine, others.toSorted((a, b) => a - b)];
}
