import type { Connection } from './connection';

/** What a verification of an outbox has found. */
export interface OutboxVerification {
  /** Rows that were compared this time: relayed since the last. */
  verifiedRows: number;
  /** Rows that are not relayed yet, parked ones included. */
  waitingRows: number;
  /** The age of the oldest of them, in seconds. */
  waitingSeconds: number;
  /** Rows that wait because their key does. */
  parkedRows: number;
  /** Rows that were given up. */
  rejectedRows: number;
  /** Rows that were passed, though nothing says that the stream has them. Anything but 0 is a fault. */
  missingRows: number;
  /** The first of them, at most 1,000, in order: the row's number, and the number of its range of keys. */
  missing: { id: bigint; range: number }[];
}

const MOST_NAMED = 1_000;

export async function verificationOf(connection: Connection, schema: string): Promise<OutboxVerification> {
  const ask = async (text: string) => (await connection.query({ text })).rows;
  const [found] = await ask(`SELECT * FROM ${schema}.verify()`);
  const [waits] = await ask(`SELECT * FROM ${schema}.lag()`);
  const missing = await ask(
    `SELECT id::text, r.number AS range FROM ${schema}.missing m
     JOIN ${schema}.range r ON m.bucket BETWEEN r.first_bucket AND r.last_bucket ORDER BY m.id LIMIT ${MOST_NAMED}`,
  );
  return connection.said(() => ({
    verifiedRows: Number(found.verified_rows),
    waitingRows: Number(waits.waiting_rows),
    waitingSeconds: waits.waiting_seconds,
    parkedRows: Number(waits.parked_rows),
    rejectedRows: Number(waits.rejected_rows),
    missingRows: Number(found.missing_rows),
    missing: missing.map(({ id, range }) => ({ id: BigInt(id), range })),
  }));
}
