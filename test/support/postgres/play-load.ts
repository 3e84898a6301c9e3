import { type Client, Client as PgClient } from 'pg';
import { deaggregate } from '../../../lib/core';
import { systemClock } from '../../../lib/core/kernel/clock';
import { migrateOutbox } from '../../../lib/core/outbox';
import { FakeKinesis } from '../../../lib/testing/fake-kinesis';
import { seededRandom } from '../../../lib/testing/seeded-random';
import type { VirtualClock } from '../../../lib/testing/virtual-clock';
import { LoadWorker } from './load-worker';

export interface Load {
  seed: number;
  writers: number;
  transactionsOfEach: number;
  keys: number;
  /**
   * The longest usual pause between two statements of a transaction. One of a hundred pauses can be 100 times as long.
   */
  longestPauseMs: number;
  /** The number of workers with a relay. */
  workers: number;
  /**
   * Whether there are disturbances: workers are killed and restarted, are aborted, or lose their connections, and the
   * ranges of keys are divided again.
   */
  isDisturbed: boolean;
}

interface LoadReport {
  /** The number of committed rows. */
  committed: number;
  /** The number of kills, aborts, lost connections and divisions of the ranges. */
  disturbances: number;
  /** Committed rows that the stream never received. */
  lost: string[];
  /** Rows in the stream that no committed transaction has inserted. */
  foreign: string[];
  /** Rows that the stream received more than once. */
  repeated: string[];
  /** Rows that a verification reports as never sent. */
  missing: number;
  /** Keys whose rows have a wrong order in the stream. Duplicates do not count. */
  disordered: string[];
}

interface CommittedRow {
  key: string;
  data: string;
}

const ENDS_WITHIN_MS = 120_000;
const LONGEST_QUIET_MS = 400;
const RELAY_APPLICATION = 'load relay';

/**
 * Several applications write while workers run relays. A transaction has several statements with pauses, writes to
 * other tables, savepoints, and sometimes a roll-back. Then compares the committed rows with the stream.
 */
export async function playLoad(url: string, load: Load): Promise<LoadReport> {
  const admin = await connected(url);
  await admin.query('DROP SCHEMA IF EXISTS outbox CASCADE; DROP TABLE IF EXISTS repositories');
  await migrateOutbox(admin);
  await admin.query('CREATE TABLE repositories (id bigint GENERATED ALWAYS AS IDENTITY, name text)');

  const kinesis = new FakeKinesis({ clock: systemClock as unknown as VirtualClock, shardCount: 2 });
  const start = (): LoadWorker => new LoadWorker(url, RELAY_APPLICATION, kinesis);
  const workers = Array.from({ length: load.workers }, start);
  const writing = { isOver: false };
  const disturbing = load.isDisturbed ? disturb(admin, workers, start, load.seed, writing) : 0;
  const writers = Array.from({ length: load.writers }, (_, writer) => write(url, writer, load));
  const committed = (await Promise.all(writers)).flat();
  writing.isOver = true;
  const disturbances = await disturbing;

  const until = Date.now() + ENDS_WITHIN_MS;
  while ((await isWaiting(admin)) && Date.now() < until) await systemClock.sleep(20);
  for (const worker of workers) await worker.end();
  const { rows: verified } = await admin.query('SELECT missing_rows::int AS missing FROM outbox.verify()');
  await admin.end();
  const seen = kinesis.records().flatMap((record) =>
    deaggregate(record).map(({ data, sequence }) => ({
      data: Buffer.from(data).toString(),
      number: sequence!.sequenceNumber,
    })),
  );
  return { disturbances, missing: verified[0].missing, ...reportOf(committed, seen) };
}

/** Disturbs a worker from time to time until the writers have ended. */
async function disturb(
  admin: Client,
  workers: LoadWorker[],
  start: () => LoadWorker,
  seed: number,
  writing: { isOver: boolean },
): Promise<number> {
  const random = seededRandom(seed + 500_000);
  const below = (count: number): number => Math.floor(random() * count);
  const events = [
    async (index: number) => workers.splice(index, 1, start())[0]!.kill(),
    async (index: number) => workers.splice(index, 1, start())[0]!.end(),
    async () => {
      const sessions = 'SELECT pid FROM pg_stat_activity WHERE application_name = $1 ORDER BY random() LIMIT 1';
      await admin.query(`SELECT pg_terminate_backend(pid) FROM (${sessions}) one`, [RELAY_APPLICATION]);
    },
    async () => void (await admin.query('SELECT outbox.divide($1)', [1 + below(4)])),
  ];
  let disturbances = 0;
  for (; !writing.isOver; disturbances++) {
    await systemClock.sleep(random() * LONGEST_QUIET_MS);
    await events[below(events.length)]!(below(workers.length));
  }
  return disturbances;
}

async function write(url: string, writer: number, load: Load): Promise<CommittedRow[]> {
  const random = seededRandom(load.seed * 1_000 + writer);
  const session = await connected(url);
  const committed: CommittedRow[] = [];
  for (let transaction = 0; transaction < load.transactionsOfEach; transaction++) {
    committed.push(...(await writeTransaction(session, `${writer} ${transaction}`, load, random)));
  }
  await session.end();
  return committed;
}

/** @returns the rows that were committed */
async function writeTransaction(
  session: Client,
  name: string,
  { keys: keyCount, longestPauseMs }: Load,
  random: () => number,
): Promise<CommittedRow[]> {
  const below = (count: number): number => Math.floor(random() * count);
  const pause = async (): Promise<void> => {
    const ms = random() * longestPauseMs * (random() < 0.01 ? 100 : 1);
    if (ms > 0) await systemClock.sleep(ms);
  };
  const puts = Array.from({ length: 1 + below(3) }, (_, index) => ({
    key: `key ${below(keyCount)}`,
    data: `${name} ${index}`,
  }));
  await session.query('BEGIN');
  // The transaction receives its id with its first write. After this write to another table, the transaction id is
  // older than the number of the outbox row.
  if (random() < 0.7) await session.query("INSERT INTO repositories (name) VALUES ('a repository')");
  await pause();
  const kept: CommittedRow[] = [];
  const hasSavepoints = random() < 0.2;
  const way = ['put', 'insert', 'put_all'][below(3)]!;
  // Without this lock, two transactions that insert the same keys in different orders could wait for each other.
  await session.query('SELECT outbox.lock($1)', [puts.map(({ key }) => key)]);
  for (const rows of way === 'put_all' ? [puts] : puts.map((row) => [row])) {
    const isKept = !hasSavepoints || random() < 0.5;
    if (hasSavepoints) await session.query('SAVEPOINT here');
    await put(session, way, rows);
    await pause();
    if (hasSavepoints) await session.query(isKept ? 'RELEASE here' : 'ROLLBACK TO here');
    if (isKept) kept.push(...rows);
    await pause();
  }
  const isCommitted = random() < 0.9;
  await session.query(isCommitted ? 'COMMIT' : 'ROLLBACK');
  return isCommitted ? kept : [];
}

async function put(session: Client, way: string, rows: readonly CommittedRow[]): Promise<void> {
  const keys = rows.map(({ key }) => key);
  const data = rows.map((row) => Buffer.from(row.data));
  if (way === 'put_all') await session.query('SELECT outbox.put_all($1, $2::bytea[])', [keys, data]);
  else if (way === 'put') await session.query('SELECT outbox.put($1, $2)', [keys[0], rows[0]!.data]);
  else await session.query('INSERT INTO outbox.message (partition_key, bytes) VALUES ($1, $2)', [keys[0], data[0]]);
}

async function isWaiting(admin: Client): Promise<boolean> {
  const { rows } = await admin.query(
    'SELECT waiting_rows::int AS waiting, waiting_seconds AS seconds FROM outbox.lag()',
  );
  return rows[0].waiting > 0 || rows[0].seconds > 0;
}

function reportOf(
  committed: readonly CommittedRow[],
  seen: readonly { data: string; number: bigint }[],
): Omit<LoadReport, 'disturbances' | 'missing'> {
  const keyOf = new Map(committed.map(({ key, data }) => [data, key]));
  const arrived = new Set<string>();
  const repeated = new Set<string>();
  const lastOfKey = new Map<string, bigint>();
  const disordered = new Set<string>();
  for (const { data, number } of seen) {
    if (arrived.has(data)) repeated.add(data);
    const key = keyOf.get(data);
    if (arrived.has(data) || key === undefined) continue;
    arrived.add(data);
    if ((lastOfKey.get(key) ?? 0n) > number) disordered.add(key);
    lastOfKey.set(key, number);
  }
  return {
    committed: committed.length,
    lost: committed.filter(({ data }) => !arrived.has(data)).map(({ data }) => data),
    foreign: seen.filter(({ data }) => !keyOf.has(data)).map(({ data }) => data),
    repeated: [...repeated],
    disordered: [...disordered],
  };
}

async function connected(url: string): Promise<Client> {
  const client = new PgClient({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
}
