import type { Client } from 'pg';

import { printTable, rounded } from '../../support/tables/producer/table';

const CALLS = 3_000;
const ROUNDS = 5;

/** Compares `put`, which locks its key and gets a row number, with an INSERT into a plain table. */
export async function benchWriters(client: Client): Promise<void> {
  await client.query('DROP TABLE IF EXISTS plain');
  await client.query('CREATE TABLE plain (id bigserial PRIMARY KEY, partition_key text, data bytea)');
  const data = Buffer.alloc(90, 'x');
  const key = (n: number): string => `key-${n % 1_000}`;
  const ways: Record<string, (n: number) => Promise<unknown>> = {
    'plain insert': (n) =>
      client.query({
        name: 'plain',
        text: 'INSERT INTO plain (partition_key, data) VALUES ($1, $2)',
        values: [key(n), data],
      }),
    '`outbox.put`': (n) =>
      client.query({ name: 'put', text: 'SELECT outbox.put($1, $2::bytea)', values: [key(n), data] }),
    'plain insert into `outbox.message`': (n) =>
      client.query({
        name: 'insert',
        text: 'INSERT INTO outbox.message (partition_key, bytes) VALUES ($1, $2)',
        values: [key(n), data],
      }),
    'the lock in a statement of its own, in a transaction': async (n) => {
      await client.query('BEGIN');
      await client.query({ name: 'lock', text: 'SELECT pg_advisory_xact_lock(hashtext($1))', values: [key(n)] });
      await client.query({
        name: 'plain',
        text: 'INSERT INTO plain (partition_key, data) VALUES ($1, $2)',
        values: [key(n), data],
      });
      await client.query('COMMIT');
    },
    'plain insert of 100': (n) =>
      client.query({
        name: 'plain100',
        text: 'INSERT INTO plain (partition_key, data) SELECT * FROM unnest($1::text[], $2::bytea[])',
        values: [Array.from({ length: 100 }, (_, i) => key(n * 100 + i)), Array(100).fill(data)],
      }),
    '`outbox.put_all` of 100': (n) =>
      client.query({
        name: 'putall',
        text: 'SELECT outbox.put_all($1, $2::bytea[])',
        values: [Array.from({ length: 100 }, (_, i) => key(n * 100 + i)), Array(100).fill(data)],
      }),
  };
  const best = new Map<string, number>();
  // The approaches alternate and the best run counts, so other work of the machine affects all equally.
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, write] of Object.entries(ways)) {
      const calls = name.endsWith('100') ? CALLS / 30 : CALLS / ROUNDS;
      const startedAt = performance.now();
      for (let n = 0; n < calls; n++) await write(n);
      const microseconds = (1_000 * (performance.now() - startedAt)) / calls;
      best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, microseconds));
    }
  }
  console.log('one writer, one call after the other, its round trips to a server on the same machine included\n');
  const baseOf = (name: string): number => best.get(name.endsWith('100') ? 'plain insert of 100' : 'plain insert')!;
  printTable(
    ['', 'microseconds', 'times the plain insert'],
    [...best].map(([name, time]) => [name, rounded(time), rounded(time / baseOf(name), 2)]),
  );
}
