import type { Client } from 'pg';
import { OrderedProducer } from '../../../lib/core';
import { OutboxRelay } from '../../../lib/core/outbox';

import { tuned } from '../../support/postgres/tuned';
import { printTable, rounded } from '../../support/tables/producer/table';
import { pause } from './approaches';
import { fillArticleTable } from './backlog';
import { stubKinesis } from './stub-kinesis';

const CHUNK = 20_000;
const KEYS = 10_000;
const PARTS = 5;

interface Sessions {
  client: Client;
  holder: Client;
  relayClient: Client;
}

/** Measures the rows per second of successive chunks while another session holds a snapshot. */
export async function benchHeldSnapshot(sessions: Sessions, chunks: number): Promise<void> {
  const { client } = sessions;
  await fillArticleTable(client, 0, KEYS);
  const [ours, theirs] = await whileHeld(sessions, chunks, [
    (relay) => relayChunk(client, relay),
    () => deleteChunk(client),
  ]);
  print(chunks, { 'relay, slots truncated': ours!, '`SKIP LOCKED`, rows deleted': theirs! });
}

/** Measures the relay with the rows of an hour at 2,000 rows per second. */
export async function benchHeldForAnHour(sessions: Sessions): Promise<void> {
  const chunks = (3_600 * 2_000) / CHUNK;
  const [ours] = await whileHeld(sessions, chunks, [(relay) => relayChunk(sessions.client, relay)]);
  print(chunks, { 'relay, slots truncated': ours! });
}

/** Measures each approach while another session holds a snapshot. The approaches alternate. */
async function whileHeld(
  { client, holder, relayClient }: Sessions,
  chunks: number,
  ways: ((relay: OutboxRelay) => Promise<void>)[],
): Promise<number[][]> {
  await client.query('TRUNCATE outbox.message, outbox.parked');
  await client.query('SELECT outbox.divide(1)');
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await holder.query('SELECT 1');
  const producer = new OrderedProducer(stubKinesis(0), { streamName: 'Events', aggregation: true });
  const relay = new OutboxRelay(relayClient, producer, tuned({ rotateMs: 2_000 }));
  const abort = new AbortController();
  const running = relay.run({ signal: abort.signal });
  const rates = ways.map((): number[] => []);
  for (let chunk = 0; chunk < chunks; chunk++) {
    for (const [index, way] of ways.entries()) {
      const startedAt = performance.now();
      await way(relay);
      rates[index]!.push(CHUNK / (performance.now() - startedAt));
    }
  }
  abort.abort();
  await running;
  await holder.query('COMMIT');
  return rates;
}

async function relayChunk(client: Client, relay: OutboxRelay): Promise<void> {
  const before = relay.summary().relayed;
  await client.query(
    `INSERT INTO outbox.message (id, xid, slot, bucket, partition_key, bytes)
     SELECT nextval('outbox.number'), pg_current_xact_id(), s.last_value, outbox.key_hash(k) & 4095, k, d
     FROM (SELECT 'key-' || n % ${KEYS} AS k, convert_to(repeat('x', 90), 'UTF8') AS d
           FROM generate_series(1, ${CHUNK}) n) e, outbox.slot s`,
  );
  await client.query("SELECT pg_notify('outbox', '')");
  while (relay.summary().relayed < before + CHUNK) await pause(1);
}

async function deleteChunk(client: Client): Promise<void> {
  await client.query(
    `INSERT INTO kinesis_records (partition_key, record_data)
     SELECT 'key-' || n % ${KEYS}, convert_to(repeat('x', 90), 'UTF8') FROM generate_series(1, ${CHUNK}) n`,
  );
  for (let left = CHUNK; left > 0; ) {
    const { rowCount } = await client.query(
      `DELETE FROM kinesis_records WHERE id IN (
         SELECT id FROM kinesis_records ORDER BY id LIMIT 500 FOR UPDATE SKIP LOCKED)`,
    );
    left -= rowCount!;
  }
}

function print(chunks: number, rates: Record<string, number[]>): void {
  console.log(
    `${rounded(chunks * CHUNK)} rows while another session holds a snapshot, as ${rounded((chunks * CHUNK) / 2_000 / 60)} ` +
      'minutes at 2,000 rows a second leave them; throughput of each fifth, times that of the first\n',
  );
  const fifths = (of: number[]): string[] =>
    Array.from({ length: PARTS }, (_, part) => {
      const size = Math.floor(of.length / PARTS);
      const mean = (n: number): number => median(of.slice(n * size, (n + 1) * size));
      return rounded(mean(part) / mean(0), 2);
    });
  printTable(
    ['', ...Array.from({ length: PARTS }, (_, part) => `${part + 1}`)],
    Object.entries(rates).map(([name, of]) => [name, ...fifths(of)]),
  );
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
