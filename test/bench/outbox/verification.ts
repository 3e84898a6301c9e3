import type { Client } from 'pg';

import { tuned } from '../../support/postgres/tuned';
import { printTable, rounded } from '../../support/tables/producer/table';
import { fillOutbox } from './backlog';
import { relayBacklog, serverSecondsOf } from './processor-time';

const ROWS = 200_000;
const IDLE_CALLS = 200;

/** Measures the processor time of the server for verify(). */
export async function benchVerification(client: Client, relayClient: Client): Promise<void> {
  console.log(`processor time of verify, of ${rounded(ROWS)} rows\n`);
  const table: string[][] = [];
  await client.query('SELECT outbox.divide(1)');
  const verify = async (calls: number): Promise<number> => {
    const before = await serverSecondsOf(client);
    for (let call = 0; call < calls; call++) await client.query('SELECT outbox.verify()');
    return (await serverSecondsOf(client)) - before;
  };
  for (const keys of [1, 100, 10_000]) {
    await client.query('TRUNCATE outbox.message, outbox.parked, outbox.ended');
    await fillOutbox(client, ROWS, keys);
    // The rotation of a slot would verify the rows of the slot, so the relay must not rotate slots here.
    await relayBacklog(relayClient, ROWS, 'per-key', tuned({ rotateMs: 3_600_000 }));
    // Marks the last batch as ended, as the next poll of the relay does.
    await client.query('UPDATE outbox.range SET batch_from = pg_current_snapshot(), batch_to = NULL, after_id = 0');
    const seconds = await verify(1);
    const idleSeconds = await verify(IDLE_CALLS);
    table.push([
      `${rounded(keys)} key${keys === 1 ? '' : 's'}`,
      rounded((1_000_000 * seconds) / ROWS, 2),
      rounded((1_000 * idleSeconds) / IDLE_CALLS, 2),
    ]);
  }
  printTable(['', 'microseconds a row', 'milliseconds, where no row is new'], table);
}
