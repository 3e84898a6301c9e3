import type { Client } from 'pg';
import { OrderedProducer, type PutRecordsClient } from '../../../lib/core';
import { OutboxRelay } from '../../../lib/core/outbox';
import { tuned } from '../../support/postgres/tuned';
import { stubKinesis } from './stub-kinesis';

/** Relays rows for `forMs` milliseconds, or until no row is left. Returns the rows per second. */
export type Approach = (client: Client, roundTripMs: number, forMs: number) => Promise<number>;

/**
 * The SELECT statement of "Guaranteeing Order with Kinesis Bulk Puts", with the ids that the worker needs to delete the
 * sent rows.
 */
const FIRST_OF_EACH_KEY = `
  SELECT id, partition_key, record_data FROM kinesis_records
  WHERE id IN (
    SELECT MIN(id)
    FROM kinesis_records
    GROUP BY partition_key
  )
  ORDER BY id`;

const REQUEST_RECORDS = 500;

/** Runs one cycle after the other. Each cycle sends one record of each key. */
export const articleCycle: Approach = (client, roundTripMs, forMs) =>
  perSecond(
    forMs,
    async (kinesis) => {
      const { rows } = await client.query(FIRST_OF_EACH_KEY);
      const requests = Math.ceil(rows.length / REQUEST_RECORDS);
      await Promise.all(
        Array.from({ length: requests }, (_, n) =>
          put(kinesis, rows.slice(n * REQUEST_RECORDS, (n + 1) * REQUEST_RECORDS)),
        ),
      );
      await client.query('DELETE FROM kinesis_records WHERE id = ANY($1)', [rows.map(({ id }) => id)]);
      return rows.length;
    },
    roundTripMs,
  );

/** Sends the records of one request in each transaction, with SKIP LOCKED. Loses the order if a record of a request fails. */
export const skipLocked: Approach = (client, roundTripMs, forMs) =>
  perSecond(
    forMs,
    async (kinesis) => {
      await client.query('BEGIN');
      const { rows } = await client.query(
        'SELECT id, partition_key, record_data FROM kinesis_records ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED',
        [REQUEST_RECORDS],
      );
      if (rows.length > 0) await put(kinesis, rows);
      await client.query('DELETE FROM kinesis_records WHERE id = ANY($1)', [rows.map(({ id }) => id)]);
      await client.query('COMMIT');
      return rows.length;
    },
    roundTripMs,
  );

/** The number of rows that a relay has sent, with the times of the first and the last row in milliseconds. */
export interface Tally {
  rows: number;
  firstAtMs: number;
  lastAtMs: number;
}

/** The maximum time that the measurement waits for the first row of a relay. */
const LONGEST_START_MS = 30_000;

/** The relay has sent all rows if no row follows within this time. */
const SILENCE_MS = 1_000;

/** Measures one worker of the relay. The measurement starts at the first row. */
export async function relay(client: Client, roundTripMs: number, forMs: number): Promise<Tally> {
  const producer = new OrderedProducer(stubKinesis(roundTripMs), { streamName: 'Events', aggregation: true });
  const outbox = new OutboxRelay(client, producer, tuned({ leaseMs: 200 }));
  const abort = new AbortController();
  const running = outbox.run({ signal: abort.signal });
  const startedAtMs = Date.now();
  while (outbox.summary().relayed === 0 && Date.now() - startedAtMs < LONGEST_START_MS) {
    await Promise.race([pause(1), running]);
  }
  const tally: Tally = { rows: 0, firstAtMs: Date.now(), lastAtMs: Date.now() };
  const before = outbox.summary().relayed;
  while (Date.now() - tally.firstAtMs < forMs && Date.now() - tally.lastAtMs < SILENCE_MS) {
    await pause(5);
    const rows = outbox.summary().relayed - before;
    if (rows > tally.rows) Object.assign(tally, { rows, lastAtMs: Date.now() });
  }
  abort.abort();
  await running;
  return tally;
}

/** The rows per second of all workers. */
export function rateOf(tallies: readonly Tally[]): number {
  const busy = tallies.filter(({ rows }) => rows > 0);
  const first = Math.min(...busy.map(({ firstAtMs }) => firstAtMs));
  const last = Math.max(...busy.map(({ lastAtMs }) => lastAtMs));
  return (1_000 * busy.reduce((sum, { rows }) => sum + rows, 0)) / (last - first);
}

function put(kinesis: PutRecordsClient, rows: { partition_key: string; record_data: Buffer }[]): Promise<unknown> {
  const Records = rows.map(({ partition_key, record_data }) => ({ PartitionKey: partition_key, Data: record_data }));
  return kinesis.putRecords({ StreamName: 'Events', Records });
}

async function perSecond(
  forMs: number,
  cycle: (kinesis: PutRecordsClient) => Promise<number>,
  roundTripMs: number,
): Promise<number> {
  const kinesis = stubKinesis(roundTripMs);
  const startedAt = performance.now();
  let rows = 0;
  while (performance.now() - startedAt < forMs) {
    const relayed = await cycle(kinesis);
    if (relayed === 0) break;
    rows += relayed;
  }
  return (1_000 * rows) / (performance.now() - startedAt);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
