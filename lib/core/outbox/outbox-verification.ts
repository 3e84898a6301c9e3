import type { Statements } from './statements';

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

export async function verifyOutbox(statements: Statements): Promise<OutboxVerification> {
  const [found] = await statements.rows('verify');
  const [waits] = await statements.rows('readLag');
  const missing = await statements.rows('readMissingRows');
  return statements.connection.parse(() => ({
    verifiedRows: Number(found.verified_rows),
    waitingRows: Number(waits.waiting_rows),
    waitingSeconds: waits.waiting_seconds,
    parkedRows: Number(waits.parked_rows),
    rejectedRows: Number(waits.rejected_rows),
    missingRows: Number(found.missing_rows),
    missing: missing.map(({ id, range }) => ({ id: BigInt(id), range })),
  }));
}
