import type { Client } from 'pg';

const DATA_BYTES = 90;

/** Digests in hexadecimal, which Postgres cannot compress well. */
const dataOf = (bytes: number): string =>
  `(SELECT convert_to(left(string_agg(md5(i::text), ''), ${bytes}), 'UTF8') FROM generate_series(1, ${Math.ceil(bytes / 32)}) i)`;

/**
 * Puts rows of about 100 bytes, with `keys` different keys, into the outbox and into the table of "Guaranteeing Order
 * with Kinesis Bulk Puts".
 */
export async function fillOutbox(client: Client, rows: number, keys: number, dataBytes = DATA_BYTES): Promise<void> {
  await client.query(
    `INSERT INTO outbox.message (id, xid, slot, bucket, partition_key, bytes)
     SELECT nextval('outbox.number'), pg_current_xact_id(), s.last_value, outbox.key_hash(k) & 4095, k, d
     FROM (SELECT 'key-' || n % $2 AS k, ${dataOf(dataBytes)} AS d
           FROM generate_series(1, $1::int) n) e, outbox.slot s`,
    [rows, keys],
  );
  await client.query(`SELECT pg_notify('outbox', '')`);
}

export async function fillArticleTable(
  client: Client,
  rows: number,
  keys: number,
  dataBytes = DATA_BYTES,
): Promise<void> {
  await client.query('DROP TABLE IF EXISTS kinesis_records');
  await client.query('CREATE TABLE kinesis_records (id bigserial PRIMARY KEY, partition_key text, record_data bytea)');
  await client.query(
    `INSERT INTO kinesis_records (partition_key, record_data)
     SELECT 'key-' || n % $2, ${dataOf(dataBytes)} FROM generate_series(1, $1::int) n`,
    [rows, keys],
  );
  await client.query('VACUUM ANALYZE kinesis_records');
}
