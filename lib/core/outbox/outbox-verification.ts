import type { Statements } from './statements';

/** The result of a verification of an outbox. */
export interface OutboxVerification {
  /** Rows that this call has checked: the rows that were relayed since the previous call. */
  verifiedRows: number;
  /** Rows that are not relayed yet, including parked rows. */
  waitingRows: number;
  /** The age of the oldest waiting row, in seconds. */
  waitingSeconds: number;
  /** Rows of parked keys. */
  parkedRows: number;
  /** Rows that the relay has given up. */
  rejectedRows: number;
  /**
   * Rows before a saved position that are not acknowledged, parked or rejected. A number above 0 means that this library has a
   * bug.
   */
  missingRows: number;
  /** The first 1,000 missing rows, in order: the number of the row, and the number of its key range. */
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
