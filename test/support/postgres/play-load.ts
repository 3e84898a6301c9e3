import { type Client, Client as PgClient, Pool } from 'pg';
import { deaggregate, OrderedProducer } from '../../../lib/core';
import { systemClock } from '../../../lib/core/foundation/clock';
import { migrateOutbox, OutboxRelay } from '../../../lib/core/outbox';
import { FakeKinesis } from '../../../lib/testing/fake-kinesis';
import { seededRandom } from '../../../lib/testing/seeded-random';
import type { VirtualClock } from '../../../lib/testing/virtual-clock';

export interface Load {
  seed: number;
  writers: number;
  transactionsOfEach: number;
  keys: number;
  /** The longest pause between two statements. */
  longestPauseMs: number;
}

export interface LoadReport {
  /** Rows whose transaction was committed. */
  committed: number;
  /** Rows that were committed and that the stream never got. */
  lost: string[];
  /** Rows of the stream that no committed transaction has put. */
  foreign: string[];
  /** Rows that the stream got more than once. */
  repeated: string[];
  /** Keys whose rows the stream got in another order than that of their numbers. */
  disordered: string[];
}

interface CommittedRow {
  key: string;
  id: bigint;
  data: string;
}

const ENDS_WITHIN_MS = 60_000;

/**
 * Writes as applications do while a relay runs: several statements in a transaction, with pauses between them, some into
 * other tables, some behind a savepoint, some rolled back. Then compares what was committed with what the stream got.
 */
export async function playLoad(url: string, load: Load): Promise<LoadReport> {
  const admin = await connected(url);
  await admin.query('DROP SCHEMA IF EXISTS outbox CASCADE; DROP TABLE IF EXISTS repositories');
  await migrateOutbox(admin);
  await admin.query('CREATE TABLE repositories (id bigint GENERATED ALWAYS AS IDENTITY, name text)');

  const kinesis = new FakeKinesis({ clock: systemClock as unknown as VirtualClock, shardCount: 2 });
  const producer = new OrderedProducer(kinesis, { streamName: 'Events', aggregation: true });
  const pool = new Pool({ connectionString: url, max: 2 });
  const abort = new AbortController();
  const relaying = new OutboxRelay(pool, producer, { saveMs: 20, rotateMs: 200 }).run({ signal: abort.signal });
  relaying.catch(() => {});

  const writers = Array.from({ length: load.writers }, (_, writer) => write(url, writer, load));
  const committed = (await Promise.all(writers)).flat();
  const seen = (): string[] => kinesis.records().flatMap((record) => deaggregate(record).map(textOf));
  const until = Date.now() + ENDS_WITHIN_MS;
  while ((await isWaiting(admin)) && Date.now() < until) await systemClock.sleep(20);
  abort.abort();
  await relaying;
  await Promise.all([admin.end(), pool.end()]);
  return reportOf(committed, seen());
}

async function write(url: string, writer: number, load: Load): Promise<CommittedRow[]> {
  const random = seededRandom(load.seed * 1_000 + writer);
  const below = (count: number): number => Math.floor(random() * count);
  const session = await connected(url);
  const committed: CommittedRow[] = [];
  const pause = async (): Promise<void> => {
    if (load.longestPauseMs > 0) await systemClock.sleep(random() * load.longestPauseMs);
  };
  for (let transaction = 0; transaction < load.transactionsOfEach; transaction++) {
    const rows: CommittedRow[] = [];
    const keys = Array.from({ length: 1 + below(3) }, () => `key ${below(load.keys)}`).sort();
    await session.query('BEGIN');
    // Its first write gives the transaction its id, before the row has its number.
    if (random() < 0.7) await session.query("INSERT INTO repositories (name) VALUES ('a repository')");
    await pause();
    const hasSavepoints = random() < 0.1;
    for (const [index, key] of keys.entries()) {
      const data = `${writer} ${transaction} ${index}`;
      const isKept = !hasSavepoints || random() < 0.5;
      if (hasSavepoints) await session.query('SAVEPOINT here');
      const row = await put(session, key, data, random() < 0.7);
      if (isKept) rows.push(row);
      if (hasSavepoints) await session.query(isKept ? 'RELEASE here' : 'ROLLBACK TO here');
      await pause();
    }
    const isCommitted = random() < 0.9;
    await session.query(isCommitted ? 'COMMIT' : 'ROLLBACK');
    if (isCommitted) committed.push(...rows);
  }
  await session.end();
  return committed;
}

async function put(session: Client, key: string, data: string, isByFunction: boolean): Promise<CommittedRow> {
  const { rows } = isByFunction
    ? await session.query('SELECT outbox.put($1, $2::text) AS id', [key, data])
    : await session.query('INSERT INTO outbox.message (partition_key, data) VALUES ($1, $2) RETURNING id', [
        key,
        Buffer.from(data),
      ]);
  return { key, id: BigInt(rows[0].id), data };
}

async function isWaiting(admin: Client): Promise<boolean> {
  const { rows } = await admin.query(
    'SELECT waiting_rows::int AS waiting, waiting_seconds AS seconds FROM outbox.lag()',
  );
  return rows[0].waiting > 0 || rows[0].seconds > 0;
}

function reportOf(committed: readonly CommittedRow[], seen: readonly string[]): LoadReport {
  const rowOf = new Map(committed.map((row) => [row.data, row]));
  const arrived = new Set(seen);
  const lastOfKey = new Map<string, bigint>();
  const disordered = new Set<string>();
  for (const data of arrived) {
    const row = rowOf.get(data);
    if (row === undefined) continue;
    if ((lastOfKey.get(row.key) ?? 0n) > row.id) disordered.add(row.key);
    lastOfKey.set(row.key, row.id);
  }
  return {
    committed: committed.length,
    lost: committed.filter(({ data }) => !arrived.has(data)).map(({ data }) => data),
    foreign: [...arrived].filter((data) => !rowOf.has(data)),
    repeated: seen.filter((data, index) => seen.indexOf(data) !== index),
    disordered: [...disordered],
  };
}

function textOf({ data }: { data: Uint8Array }): string {
  return Buffer.from(data).toString();
}

async function connected(url: string): Promise<Client> {
  const client = new PgClient({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
}
