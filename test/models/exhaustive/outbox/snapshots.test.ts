import type { Client } from 'pg';
import { migrateOutbox, type PostgresClient } from '../../../../lib/core/outbox';
import { Connection } from '../../../../lib/core/outbox/connection';
import { WITHOUT_ENVELOPE } from '../../../../lib/core/outbox/envelope';
import { KeyRanges } from '../../../../lib/core/outbox/key-ranges';
import { NewRows } from '../../../../lib/core/outbox/new-rows';
import { Statements } from '../../../../lib/core/outbox/statements';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { describeOnPostgres } from '../../../support/postgres/describe-on-postgres';
import { PostgresServer } from '../../../support/postgres/postgres-server';
import type { ModelTransaction } from './model-transactions';
import { OutboxModel } from './outbox-model';

const SEEDS = 25;
const STEPS = 150;
const SESSIONS = 5;
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const BATCH = { maxRows: 3, maxBytes: 1_000 };

type Act =
  | 'writes elsewhere'
  | 'puts'
  | 'inserts'
  | 'sets a savepoint'
  | 'rolls back to its savepoint'
  | 'releases its savepoint'
  | 'is prepared'
  | 'commits'
  | 'rolls back';

interface Step {
  readonly session: number;
  readonly act: Act;
  readonly key: string;
  readonly data: string;
}

/** One side of the comparison (the real server or the model): its transactions, and the view of a relay. */
interface Side {
  readonly statements: Statements;
  act(step: Step): Promise<void>;
  snapshot(): Promise<string>;
  position(): Promise<unknown>;
}

/** A relay that reads a batch or saves a position in each step. */
class Reader {
  readonly read: string[] = [];
  private newRows?: NewRows;

  constructor(private readonly side: Side) {}

  async look(): Promise<unknown> {
    const { statements } = this.side;
    this.newRows ??= new NewRows(statements, (await new KeyRanges(statements).claim([]))!, WITHOUT_ENVELOPE);
    const { newRows } = this;
    const { position } = newRows.range;
    const { from } = position;
    const look = await newRows.takeSnapshot(from);
    if (!look.hasRows) return look;
    const span = { from, to: look.to, firstId: look.firstId };
    const rows: string[] = [];
    for (let afterId = 0n, isLast = false; !isLast; ) {
      const batch = await newRows.readBatch(span, { afterId, ...BATCH, findsParkedKeys: false });
      rows.push(...batch.rows.map(({ id, data }) => `${id} ${Buffer.from(data)}`));
      afterId = batch.rows.at(-1)?.id ?? afterId;
      isLast = batch.isLast;
    }
    position.from = look.to;
    await newRows.save(position, []);
    this.read.push(...rows);
    return [look, rows, await this.side.position()];
  }
}

describeOnPostgres('the transactions of the model', () => {
  let server: PostgresServer;
  let admin: Client;
  let url: string;

  beforeAll(async () => {
    server = await PostgresServer.start();
    url = await server.createDatabase('model');
    admin = await server.connect(url);
    // Turns autovacuum off, because it takes transaction ids at any time.
    await admin.query('ALTER SYSTEM SET autovacuum = off');
    await admin.query('SELECT pg_reload_conf()');
    await admin.query('CREATE TABLE elsewhere (data text)');
  }, 60_000);
  afterAll(async () => {
    await admin?.end();
    await server?.stop();
  });

  /** Returns the first difference between the two sides, and the committed and the read rows. */
  async function play(seed: number) {
    await admin.query('DROP SCHEMA IF EXISTS outbox CASCADE');
    await migrateOutbox(admin);
    // The first call records the identity of the database.
    await admin.query('SELECT outbox.recognize()');
    const clients = await Promise.all(Array.from({ length: SESSIONS + 1 }, () => server.connect(url)));
    const { rows } = await admin.query('SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xmax');
    const model = new OutboxModel({ nextXid: Number(rows[0].xmax), relayTakesIds: true });
    const transactions = new Map<number, ModelTransaction>();
    const sides = [realSide(admin, clients), modelSide(model, transactions)];
    const readers = sides.map((side) => new Reader(side));
    const random = seededRandom(seed);
    const done = new Set<string>();
    try {
      for (let step = 0; step < STEPS; step++) {
        const next = drawStep(random, model, transactions, `row ${step}`);
        done.add(next?.act ?? 'looks');
        if (next !== undefined) for (const side of sides) await side.act(next);
        const response = async (index: number): Promise<unknown> => [
          next === undefined ? await readers[index]!.look() : next.act,
          await sides[index]!.snapshot(),
        ];
        const [real, modelled] = [await response(0), await response(1)];
        if (JSON.stringify(real, inText) !== JSON.stringify(modelled, inText))
          return { differ: { seed, step, real, modelled }, done };
      }
      for (const session of transactions.keys()) {
        for (const side of sides) await side.act({ session, act: 'commits', key: '', data: '' });
      }
      for (const reader of readers) await reader.look();
      const committed = [...model.committed.values()].flat().sort();
      const read = readers.map((reader) => reader.read.map((row) => row.slice(row.indexOf(' ') + 1)).sort());
      return { committed, read, done };
    } finally {
      const { rows: prepared } = await admin.query('SELECT gid FROM pg_prepared_xacts');
      for (const { gid } of prepared) await admin.query(`ROLLBACK PREPARED '${gid}'`);
      await Promise.all(clients.map((client) => client.end()));
    }
  }

  test(`have the same ids and snapshots as on a real server: ${SEEDS} random sequences of ${STEPS} steps`, async () => {
    const acts = new Set<string>();
    for (let seed = 0; seed < SEEDS; seed++) {
      const { differ, committed, read, done } = await play(seed);
      for (const act of done) acts.add(act);
      expect(differ).toBeUndefined();
      // The relay has read each committed row once.
      expect(read).toEqual([committed, committed]);
    }
    expect(acts.size).toBe(10);
  }, 300_000);
});

function realSide(admin: Client, clients: readonly Client[]): Side {
  const open = new Set<number>();
  const prepared = new Set<number>();
  const texts: Record<Act, string> = {
    'writes elsewhere': "INSERT INTO elsewhere VALUES ('a row')",
    puts: 'SELECT outbox.put($1, $2)',
    inserts: 'INSERT INTO outbox.message (partition_key, data) VALUES ($1, $2)',
    'sets a savepoint': 'SAVEPOINT here',
    'rolls back to its savepoint': 'ROLLBACK TO here',
    'releases its savepoint': 'RELEASE here',
    'is prepared': 'PREPARE TRANSACTION',
    commits: 'COMMIT',
    'rolls back': 'ROLLBACK',
  };
  return {
    statements: statementsOn(clients[SESSIONS] as PostgresClient),
    act: async ({ session, act, key, data }) => {
      const client = clients[session]!;
      const isEnd = act === 'commits' || act === 'rolls back';
      if (act === 'is prepared') {
        prepared.add(session);
        await client.query(`PREPARE TRANSACTION 'session ${session}'`);
      } else if (isEnd && prepared.delete(session)) {
        await client.query(`${texts[act]} PREPARED 'session ${session}'`);
      } else {
        if (!open.has(session)) await client.query('BEGIN');
        open.add(session);
        await client.query(texts[act], act === 'puts' || act === 'inserts' ? [key, Buffer.from(data)] : []);
      }
      if (isEnd) open.delete(session);
    },
    snapshot: async () => (await admin.query('SELECT pg_current_snapshot()::text AS s')).rows[0].s,
    position: async () =>
      (
        await admin.query(
          'SELECT batch_from::text AS from, batch_to::text AS to, after_id::text AS "afterId" FROM outbox.range',
        )
      ).rows[0],
  };
}

function modelSide(model: OutboxModel, open: Map<number, ModelTransaction>): Side {
  const { transactions } = model;
  return {
    statements: statementsOn({
      query: async (query) => model.query('relay', query),
      on: () => {},
      removeListener: () => {},
    }),
    act: async ({ session, act, key, data }) => {
      const own = open.get(session) ?? transactions.begin();
      open.set(session, own);
      if (act === 'writes elsewhere') transactions.write(own);
      else if (act === 'puts' || act === 'inserts') model.put(own, key, data);
      else if (act === 'sets a savepoint') transactions.savepoint(own);
      else if (act === 'rolls back to its savepoint') transactions.rollBack(own);
      else if (act === 'releases its savepoint') transactions.release(own);
      else if (act !== 'is prepared') {
        model.end(own, act === 'commits' ? 'commit' : 'rollback');
        open.delete(session);
      }
    },
    snapshot: async () => transactions.snapshot,
    position: async () => model.position(1),
  };
}

function statementsOn(client: PostgresClient): Statements {
  return new Statements(new Connection(client, { ms: 30_000 }), 'outbox');
}

const prepared = new WeakSet<ModelTransaction>();

/** Returns the next step of a session, or undefined if the relay reads instead. */
function drawStep(
  random: () => number,
  model: OutboxModel,
  transactions: ReadonlyMap<number, ModelTransaction>,
  data: string,
): Step | undefined {
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  const [session, key] = [Math.floor(random() * SESSIONS), oneOf(KEYS)];
  if (random() < 0.15) return undefined;
  const own = transactions.get(session);
  const isFree = !model.transactions.isLocked(key, own);
  const writes: Act[] = isFree ? ['writes elsewhere', 'puts', 'inserts', 'puts'] : ['writes elsewhere'];
  const inside: Act[] = (own?.levels.length ?? 1) > 1 ? ['rolls back to its savepoint', 'releases its savepoint'] : [];
  const ends: Act[] = ['commits', 'rolls back'];
  const acts =
    own === undefined
      ? writes
      : prepared.has(own)
        ? ends
        : [...writes, 'sets a savepoint' as const, ...inside, ...inside, ...ends, 'is prepared' as const];
  const act = oneOf(acts);
  if (act === 'is prepared') prepared.add(own!);
  return { session, act, key, data };
}

function inText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value;
}
