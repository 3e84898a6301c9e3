import type { Client } from 'pg';
import { OrderedProducer, type PutRecordsClient } from '../../../lib/core';
import { OutboxRelay } from '../../../lib/core/outbox';
import { stubKinesis } from './stub-kinesis';

/** Relays for some time, or until nothing is left; returns how many rows a second. */
export type Approach = (client: Client, roundTripMs: number, forMs: number) => Promise<number>;

/** The statement of the article, as it stands; with the ids, so that it can delete what it has put. */
const FIRST_OF_EACH_KEY = `
  SELECT id, partition_key, record_data FROM kinesis_records
  WHERE id IN (
    SELECT MIN(id)
    FROM kinesis_records
    GROUP BY partition_key
  )
  ORDER BY id`;

const REQUEST_RECORDS = 500;

/** One record of each key a cycle, one cycle at a time. */
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

/** A request's records a transaction, locked from other workers. Keeps no order when a record of a request fails. */
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

/** The relay, one worker. */
export const relay: Approach = async (client, roundTripMs, forMs) => {
  const producer = new OrderedProducer(stubKinesis(roundTripMs), { streamName: 'Events', aggregation: true });
  const outbox = new OutboxRelay(client, producer, { saveMs: 1_000 });
  const abort = new AbortController();
  const running = outbox.run({ signal: abort.signal });
  const begunAt = performance.now();
  const hasBegun = (): boolean => outbox.summary().relayed > 0 || performance.now() - begunAt > forMs;
  while (!hasBegun()) await Promise.race([pause(1), running]);
  const [startedAt, before] = [performance.now(), outbox.summary().relayed];
  let last = { relayed: before, atMs: startedAt };
  for (;;) {
    await pause(5);
    const { relayed } = outbox.summary();
    const now = performance.now();
    if (relayed > last.relayed) last = { relayed, atMs: now };
    // Nothing has come for a while: all is relayed.
    if (now - startedAt > forMs || now - last.atMs > 500) break;
  }
  abort.abort();
  await running;
  // A worker whose range has no key relays nothing.
  return last.relayed === before ? 0 : (1_000 * (last.relayed - before)) / (last.atMs - startedAt);
};

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
