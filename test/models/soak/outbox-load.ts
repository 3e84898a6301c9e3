import { type Client, Pool } from 'pg';
import { systemClock } from '../../../lib/core/kernel/clock';
import { migrateOutbox, OutboxRelay } from '../../../lib/core/outbox';
import type { FakeKinesis } from '../../../lib/testing/fake-kinesis';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { PostgresServer } from '../../support/postgres/postgres-server';
import { producerFor, realTimeKinesis, recordsIn, until } from '../../support/postgres/relays';
import { tuned } from '../../support/postgres/tuned';

// npm run soak outbox-load [minutes] [first seed]
const [minutes = 60, firstSeed = 0] = process.argv.slice(2, 4).map(Number);

const RELAY_APPLICATION = 'load relay';
const LONGEST_QUIET_MS = 400;
const ENDS_WITHIN_MS = 120_000;

interface Row {
  readonly key: string;
  readonly data: string;
}

/**
 * Many sessions write at the same time while workers run relays, as in production. Compares the committed rows with the stream. In
 * every second round, workers are stopped or lose their connections, and the ranges are divided. The other rounds must have no
 * duplicates.
 */
async function playRound(server: PostgresServer, url: string, seed: number): Promise<object> {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const isDisturbed = seed % 2 === 1;
  const keys = [1, 10, 40, 1_000][seed % 4]!;
  const longestPauseMs = [0, 2, 10, 30][(seed >> 1) % 4]!;
  // With one key, transactions run one after the other.
  const transactions = keys === 1 ? 20 : 100 + (seed % 7) * 50;
  const admin = await server.connect(url);
  await admin.query('DROP SCHEMA IF EXISTS outbox CASCADE; DROP TABLE IF EXISTS repositories');
  await migrateOutbox(admin);
  await admin.query('CREATE TABLE repositories (name text)');
  const kinesis = realTimeKinesis({ shardCount: 2 });
  const workers = Array.from({ length: 1 + (seed % 3) }, () => startWorker(url, kinesis));
  let isWritten = false;
  const disturb = async (): Promise<void> => {
    const sessions = 'SELECT pid FROM pg_stat_activity WHERE application_name = $1 ORDER BY random() LIMIT 1';
    const events = [
      async (index: number) => workers.splice(index, 1, startWorker(url, kinesis))[0]!.stop(),
      () => admin.query('SELECT outbox.divide($1)', [1 + below(4)]),
      () => admin.query(`SELECT pg_terminate_backend(pid) FROM (${sessions}) one`, [RELAY_APPLICATION]),
    ];
    while (!isWritten) {
      await systemClock.sleep(random() * LONGEST_QUIET_MS);
      await events[below(events.length)]!(below(workers.length));
    }
  };
  const disturbing = isDisturbed ? disturb() : undefined;
  const committed: Row[] = [];
  const write = async (writer: number): Promise<void> => {
    const session = await server.connect(url);
    const own = seededRandom(seed * 1_000 + writer);
    for (let number = 0; number < transactions; number++)
      committed.push(...(await writeTransaction(session, `${writer} ${number}`, keys, longestPauseMs, own)));
    await session.end();
  };
  await Promise.all(Array.from({ length: 4 + (seed % 5) * 6 }, (_, writer) => write(writer)));
  isWritten = true;
  await disturbing;
  const lag = async () => (await admin.query('SELECT waiting_rows::int AS rows FROM outbox.lag()')).rows[0].rows;
  await until(async () => (await lag()) === 0, ENDS_WITHIN_MS);
  await Promise.all(workers.map((worker) => worker.stop()));
  const { rows } = await admin.query('SELECT missing_rows::int AS missing FROM outbox.verify()');
  await admin.end();

  const keyOf = new Map(committed.map(({ key, data }) => [data, key]));
  const arrived = new Set<string>();
  const lastOfKey = new Map<string, bigint>();
  const wrong = { foreign: 0, repeated: 0, disordered: 0, lost: 0, missing: rows[0].missing };
  for (const { data, sequence } of recordsIn(kinesis)) {
    const text = Buffer.from(data).toString();
    const key = keyOf.get(text);
    if (key === undefined) wrong.foreign += 1;
    else if (arrived.has(text)) wrong.repeated += isDisturbed ? 0 : 1;
    else {
      if ((lastOfKey.get(key) ?? 0n) > sequence!.sequenceNumber) wrong.disordered += 1;
      lastOfKey.set(key, sequence!.sequenceNumber);
    }
    arrived.add(text);
  }
  wrong.lost = committed.filter(({ data }) => !arrived.has(data)).length;
  if (Object.values(wrong).some((count) => count > 0)) throw new Error(`seed ${seed}: ${JSON.stringify(wrong)}`);
  return { seed, committed: committed.length };
}

function startWorker(url: string, kinesis: FakeKinesis): { stop(): Promise<void> } {
  const pool = new Pool({ connectionString: url, max: 2, application_name: RELAY_APPLICATION });
  pool.on('error', () => {});
  const producer = producerFor(kinesis);
  const ending = new AbortController();
  const options = tuned({ saveMs: 20, rotateMs: 200, leaseMs: 100, onReconnect: () => {} });
  const ended = new OutboxRelay(pool, producer, options).run({ signal: ending.signal });
  const stop = async (): Promise<void> => {
    ending.abort();
    await ended;
    await producer.close();
    await pool.end();
  };
  return { stop };
}

/** Returns the committed rows of a transaction with several statements, pauses, savepoints and sometimes a roll-back. */
async function writeTransaction(
  session: Client,
  name: string,
  keys: number,
  longestPauseMs: number,
  random: () => number,
): Promise<readonly Row[]> {
  const below = (count: number): number => Math.floor(random() * count);
  const pause = () => systemClock.sleep(random() * longestPauseMs * (random() < 0.01 ? 100 : 1));
  const puts = Array.from({ length: 1 + below(3) }, (_, n) => ({ key: `key ${below(keys)}`, data: `${name} ${n}` }));
  await session.query('BEGIN');
  // After this write to another table, the transaction id is older than the number of the outbox row.
  if (random() < 0.7) await session.query("INSERT INTO repositories VALUES ('a repository')");
  await pause();
  const kept: Row[] = [];
  const hasSavepoints = random() < 0.2;
  // Without this lock, two transactions that put the same keys in different orders could wait for each other.
  await session.query('SELECT outbox.lock($1)', [puts.map(({ key }) => key)]);
  for (const put of puts) {
    const isKept = !hasSavepoints || random() < 0.5;
    if (hasSavepoints) await session.query('SAVEPOINT here');
    await session.query('SELECT outbox.put($1, $2)', [put.key, put.data]);
    await pause();
    if (hasSavepoints) await session.query(isKept ? 'RELEASE here' : 'ROLLBACK TO here');
    if (isKept) kept.push(put);
  }
  const isCommitted = random() < 0.9;
  await session.query(isCommitted ? 'COMMIT' : 'ROLLBACK');
  return isCommitted ? kept : [];
}

async function main(): Promise<void> {
  const server = await PostgresServer.start();
  const url = await server.createDatabase('load');
  const endsAt = performance.now() + minutes * 60_000;
  for (let seed = firstSeed; performance.now() < endsAt; seed++) {
    try {
      console.log(new Date().toISOString(), JSON.stringify(await playRound(server, url, seed)));
    } catch (error) {
      console.error(error);
      process.exitCode = 1;
    }
  }
  await server.stop();
}

void main();
