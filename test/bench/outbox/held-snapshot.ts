import type { Client } from 'pg';
import { OrderedProducer } from '../../../lib/core';
import { OutboxRelay } from '../../../lib/core/outbox';
import { printTable, rounded } from '../producer/table';
import { pause } from './approaches';
import { fillArticleTable } from './backlog';
import { stubKinesis } from './stub-kinesis';

const CHUNK = 20_000;
const KEYS = 10_000;
const PARTS = 5;

/** How fast chunks go as more and more rows have gone before them, while another session holds a snapshot open. */
export async function benchHeldSnapshot(
  { client, holder, relayClient }: { client: Client; holder: Client; relayClient: Client },
  chunks: number,
): Promise<void> {
  await fillArticleTable(client, 0, KEYS);
  await client.query('TRUNCATE outbox.message, outbox.parked');
  await client.query('SELECT outbox.divide(1)');
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await holder.query('SELECT 1');
  const producer = new OrderedProducer(stubKinesis(0), { streamName: 'Events', aggregation: true });
  const relay = new OutboxRelay(relayClient, producer, { rotateMs: 2_000 });
  const abort = new AbortController();
  const running = relay.run({ signal: abort.signal });
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let chunk = 0; chunk < chunks; chunk++) {
    const before = relay.summary().relayed;
    let startedAt = performance.now();
    await client.query(
      `INSERT INTO outbox.message (id, xid, slot, bucket, partition_key, data)
       SELECT nextval('outbox.number'), pg_current_xact_id(), s.last_value, outbox.key_hash(k) & 4095, k, d
       FROM (SELECT 'key-' || n % ${KEYS} AS k, convert_to(repeat('x', 90), 'UTF8') AS d
             FROM generate_series(1, ${CHUNK}) n) e, outbox.slot s`,
    );
    await client.query("SELECT pg_notify('outbox', '')");
    while (relay.summary().relayed < before + CHUNK) await pause(1);
    ours.push(CHUNK / (performance.now() - startedAt));
    startedAt = performance.now();
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
    theirs.push(CHUNK / (performance.now() - startedAt));
  }
  abort.abort();
  await running;
  await holder.query('COMMIT');
  console.log(
    `${rounded(chunks * CHUNK)} rows while another session holds a snapshot, as ${rounded((chunks * CHUNK) / 2_000 / 60)} ` +
      'minutes at 2,000 rows a second leave them; throughput of each fifth, times that of the first\n',
  );
  const parts = (rates: number[]): string[] =>
    Array.from({ length: PARTS }, (_, part) => {
      const size = Math.floor(rates.length / PARTS);
      const mean = (n: number): number => median(rates.slice(n * size, (n + 1) * size));
      return rounded(mean(part) / mean(0), 2);
    });
  printTable(
    ['', ...Array.from({ length: PARTS }, (_, part) => `${part + 1}`)],
    [
      ['relay, slots truncated', ...parts(ours)],
      ['SKIP LOCKED, rows deleted', ...parts(theirs)],
    ],
  );
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
