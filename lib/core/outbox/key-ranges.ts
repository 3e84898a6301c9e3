import { checkFormat } from '../kernel/format-version';
import { OutboxRestoredError } from './outbox-errors';
import type { RangePosition } from './progress';
import type { Statements } from './statements';

/** A key range that a worker holds. */
export interface HeldRange {
  readonly number: number;
  /** The number of the advisory lock of the range. */
  readonly lock: number;
  readonly firstBucket: number;
  readonly lastBucket: number;
  readonly fence: string;
  readonly producerId: string;
  readonly position: RangePosition;
}

/** Assigns key ranges to workers. */
export class KeyRanges {
  constructor(private readonly statements: Statements) {}

  /**
   * How many ranges each worker holds: this worker (`mine`), and the other workers (`others`). `mine` is undefined if the session
   * has no worker lock.
   */
  async holdings(): Promise<{ mine?: number; others: number[] }> {
    const rows = await this.statements.rows('countHoldings');
    return {
      mine: rows.find(({ is_mine }) => is_mine)?.ranges,
      others: rows.filter(({ is_mine }) => !is_mine).map(({ ranges }) => ranges),
    };
  }

  /**
   * Claims a free range, which the worker holds until this connection ends.
   *
   * @param held the numbers of the ranges that this worker has
   * @returns undefined if there is no free range
   * @throws OutboxRestoredError if the database was restored or replaced since the previous run
   * @throws NewerFormatError if a migration has changed the schema, and only relays of later releases can use it
   */
  async claim(held: Iterable<number>): Promise<HeldRange | undefined> {
    for (const { number, lock: current } of await this.statements.rows('findFreeRanges', [[...held]])) {
      const lock = (await this.lock(current)) ? current : await this.replaceLock(number, current);
      if (lock === undefined) continue;
      let range: HeldRange | undefined;
      try {
        range = await this.takeOver(number, lock);
      } finally {
        if (range === undefined) await this.release({ lock });
      }
      if (range !== undefined) return range;
    }
    return undefined;
  }

  async release({ lock }: Pick<HeldRange, 'lock'>): Promise<void> {
    await this.statements.rows('unlockRange', [lock]);
  }

  private async lock(lock: number): Promise<boolean> {
    const rows = await this.statements.rows('lockRange', [lock]);
    return this.statements.connection.parse(() => rows[0].isClaimed);
  }

  /**
   * Any role can take any advisory lock. If a session without the relay's permissions holds the lock of a range, the range gets
   * another lock.
   */
  private async replaceLock(number: number, held: number): Promise<number | undefined> {
    const [changed] = await this.statements.rows('replaceLock', [number, held]);
    return changed !== undefined && (await this.lock(changed.lock)) ? changed.lock : undefined;
  }

  private async takeOver(number: number, lock: number): Promise<HeldRange | undefined> {
    const { connection, schema } = this.statements;
    const [here] = await this.statements.rows('recognizeDatabase');
    if (!connection.parse(() => here.isKnown)) throw new OutboxRestoredError(schema);
    const [row] = await this.statements.rows('takeOverRange', [number]);
    if (row === undefined) return undefined;
    checkFormat('outbox schema', row.format ?? undefined);
    const { first_bucket: firstBucket, last_bucket: lastBucket, fence, batch_from: from, batch_to: to } = row;
    await this.statements.rows('deleteUncoveredParkedRows', [
      firstBucket,
      lastBucket,
      from,
      to,
      row.after_id,
      number,
      fence,
    ]);
    const afterId = connection.parse(() => BigInt(row.after_id));
    const position = { from, to: (afterId > 0n && to) || undefined, afterId };
    return { number, lock, firstBucket, lastBucket, fence, producerId: row.producer_id, position };
  }
}
