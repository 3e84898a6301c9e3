import type { Client } from 'pg';
import { migrateOutbox, type PostgresClient } from '../../../../lib/core/outbox';
import { Connection } from '../../../../lib/core/outbox/connection';
import { WITHOUT_ENVELOPE } from '../../../../lib/core/outbox/envelope';
import { type HeldRange, KeyRanges } from '../../../../lib/core/outbox/key-ranges';
import { NewRows } from '../../../../lib/core/outbox/new-rows';
import { OutboxLeaseError } from '../../../../lib/core/outbox/outbox-errors';
import type { OutboxRow, ParkedRow } from '../../../../lib/core/outbox/outbox-row';
import { ParkedTable } from '../../../../lib/core/outbox/parked-table';
import { relaySettings } from '../../../../lib/core/outbox/relay-options';
import { RelaySession } from '../../../../lib/core/outbox/relay-session';
import { Statements } from '../../../../lib/core/outbox/statements';
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

/** A worker on the real server or in the model, with the responses on which its next statements depend. */
interface Worker {
  readonly statements: Statements;
  readonly session: RelaySession;
  readonly held: HeldRange[];
  rows: OutboxRow[];
  parked: ParkedRow[];
}

/** The real server or its model. */
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

  test(`returns the same responses as a real server: ${SEEDS} random sequences of ${STEPS} calls`, async () => {
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
    // The test has compared at least two responses of each kind of call.
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
  'parks',
  'reads parked rows',
  'removes parked rows',
  'rotates',
  'saves',
  'takes a snapshot and reads a batch',
];

/** A range that a worker holds, and the tables of this range. */
interface Held {
  readonly range: HeldRange;
  readonly newRows: NewRows;
  readonly table: ParkedTable;
}

interface Call {
  readonly name: string;
  /** Returns the response without the values that differ between the sides. Returns undefined if the call is not possible in the present state. */
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
  const [ofRange, ofRow, findsParkedKeys, maxBytesOfAll, afterId] = [
    random(),
    random(),
    random() < 0.5,
    1 + below(20),
    BigInt(below(10)),
  ] as const;
  const [maxRows, ends] = [1 + below(3), random() < 0.7 ? 'commit' : 'rollback'] as const;
  const call = (name: string, run: (own: Worker, held: Held) => Promise<unknown>): Call => ({
    name,
    on: async ({ workers }) => {
      const own = workers[worker]!;
      const range = own.held[Math.floor(ofRange * own.held.length)];
      if (range === undefined) return undefined;
      const newRows = new NewRows(own.statements, range, WITHOUT_ENVELOPE);
      const table = new ParkedTable(own.statements, range, WITHOUT_ENVELOPE);
      return run(own, { range, newRows, table }).catch((error) => {
        if (error instanceof OutboxLeaseError) return 'lost';
        throw error;
      });
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
        const { statements, held } = workers[worker]!;
        const range = await new KeyRanges(statements).claim(held.map(({ number }) => number));
        if (range === undefined) return 'none is free';
        held.push(range);
        return rangeText(range);
      },
    },
    {
      name: 'counts holdings',
      on: async ({ workers }) => sorted(await new KeyRanges(workers[worker]!.statements).holdings()),
    },
    call('takes a snapshot and reads a batch', async (own, { range, newRows }) => {
      const { from, to: begun, afterId } = range.position;
      const { to, firstId } = begun === undefined ? await newRows.takeSnapshot(from) : { to: begun, firstId: 0n };
      const limits = { afterId, maxRows, maxBytes: 10, findsParkedKeys };
      const { rows, isLast, parkedKeys } = await newRows.readBatch({ from, to, firstId }, limits);
      own.rows.push(...rows);
      const last = rows.at(-1)?.id ?? afterId;
      Object.assign(range.position, isLast ? { from: to, to: undefined, afterId: 0n } : { to, afterId: last });
      return [rows.map(rowText), isLast, parkedKeys];
    }),
    call('saves', async (own, { range, newRows }) => {
      await newRows.save(
        range.position,
        own.rows.map(({ id }) => id),
      );
      return 'done';
    }),
    call('parks', (own, { table }) => table.park(own.rows.slice(-maxRows)).then(() => 'done')),
    call('lists parked keys', (_, { table }) => table.listKeys({ afterId, atMost: maxRows })),
    call('reads parked rows', async (own, { table }) => {
      own.parked = [];
      const { rows, unreadKeys } = await table.read(keys, { maxRows, maxBytes: 10, maxBytesOfAll });
      own.parked = rows;
      return [rows.map((row) => [rowText(row), row.tries]), unreadKeys];
    }),
    call('removes parked rows', async (own, { table }) => {
      const row = oneOf(own.parked);
      return row && table.remove([row]).then(() => 'done');
    }),
    call('counts a try', async (own, { table }) => {
      const row = oneOf(own.parked);
      return row && table.countTries([{ row, error: new Error('no') }]).then(() => 'done');
    }),
    call('gives up', async (own, { table }) => {
      const row = oneOf(own.parked);
      return row && table.giveUp([{ row, error: new Error('no') }]).then(() => 'done');
    }),
    call('rotates', (own) => own.statements.rows('rotate').then(() => 'done')),
    silently('loses its locks', (side) => side.loseLocks(worker)),
    silently('releases', async ({ workers }) => {
      const { statements, held } = workers[worker]!;
      const range = held.shift();
      if (range !== undefined) await new KeyRanges(statements).release(range);
    }),
  ];
  return calls[below(calls.length)]!;
}

function workerOn(client: PostgresClient): Worker {
  const statements = new Statements(new Connection(client, { ms: 30_000 }), 'outbox');
  const session = new RelaySession(statements, relaySettings({}));
  client.on('notification', (message) => session.onNotification(message));
  return { statements, session, held: [], rows: [], parked: [] };
}

/** Divides the keys again while no worker holds a range, and returns the ranges that a worker claims. */
async function dividedAnew(side: Side): Promise<unknown> {
  await side.divide();
  for (let worker = 0; worker < WORKERS; worker++) await side.loseLocks(worker);
  const keyRanges = new KeyRanges(side.workers[0]!.statements);
  const [first, second] = [await keyRanges.claim([]), await keyRanges.claim([1])];
  return [rangeText(first!), rangeText(second!)];
}

/** A range without its snapshots, because both sides have different transaction ids. */
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
