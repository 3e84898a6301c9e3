import type { RowShape } from './envelope';
import { idRangesOf } from './id-ranges';
import type { HeldRange } from './key-ranges';
import { OutboxLeaseError } from './outbox-errors';
import { type OutboxRow, outboxRow } from './outbox-row';
import type { KeyWithParkedRows } from './parked-table';
import type { RangePosition, Span } from './progress';
import type { Statements } from './statements';

/** Consecutive rows of a span, in order. */
export interface Batch {
  readonly rows: OutboxRow[];
  /** Whether the span has no more rows. */
  readonly isLast: boolean;
  /** The keys in this batch that have parked rows. Empty unless `findsParkedKeys` is set. */
  readonly parkedKeys: readonly KeyWithParkedRows[];
}

/**
 * The limits of a batch. A batch has as many rows after `afterId` as fit into the limits. The first row is read even if it is
 * larger than `maxBytes`.
 */
export interface BatchLimits {
  readonly afterId: bigint;
  readonly maxRows: number;
  readonly maxBytes: number;
}

/** A number that is higher than the number of every row. */
const NO_ID = 2n ** 63n - 1n;

/** Reads the new rows of one key range, and saves the position of the range. */
export class NewRows {
  constructor(
    private readonly statements: Statements,
    readonly range: HeldRange,
    private readonly shape: RowShape,
  ) {}

  /**
   * Takes a new snapshot, and checks whether it sees rows that the snapshot `from` does not see. The check includes the rows of
   * all key ranges.
   *
   * @throws OutboxLeaseError if another worker has taken over the range, or the keys were divided again
   */
  async takeSnapshot(from: string): Promise<{ to: string; firstId: bigint; hasRows: boolean }> {
    const { number, fence } = this.range;
    const rows = await this.statements.rows('takeSnapshot', [from, number, fence]);
    if (rows.length === 0) throw new OutboxLeaseError(number);
    return this.statements.connection.parse(() => {
      const [{ snapshot, first_id, has_rows }] = rows;
      return { to: snapshot, firstId: BigInt(first_id ?? NO_ID), hasRows: has_rows };
    });
  }

  /** Reads the next rows of a span, in order. With `findsParkedKeys`, the batch also lists its keys that have parked rows. */
  async readBatch(
    { from, to, firstId }: Span,
    { afterId, maxRows, maxBytes, findsParkedKeys }: BatchLimits & { findsParkedKeys: boolean },
  ): Promise<Batch> {
    const { firstBucket, lastBucket, producerId } = this.range;
    const found = await this.statements.rows('readBatch', [
      from,
      to,
      firstId.toString(),
      afterId.toString(),
      firstBucket,
      lastBucket,
      maxRows,
      maxBytes,
      findsParkedKeys,
      this.shape.readsTime,
    ]);
    const rows = this.statements.connection.parse(() => found.map((row) => outboxRow(row, producerId, this.shape)));
    const isLast = rows.length < maxRows && Number(found.at(-1)?.bytes_up_to ?? 0) < maxBytes;
    const ofParkedKeys = found.filter(({ parked_tries }) => parked_tries !== null);
    const parkedKeys = ofParkedKeys.map((row) => ({ partitionKey: row.partition_key, tries: row.parked_tries }));
    return { rows, isLast, parkedKeys };
  }

  /**
   * Saves the position of the range, and the numbers of rows that were acknowledged since the previous call.
   *
   * @throws OutboxLeaseError if another worker has taken over the range
   */
  async save({ from, to, afterId }: RangePosition, acknowledged: readonly bigint[]): Promise<void> {
    const { number, fence } = this.range;
    const { lastId, numbers } = idRangesOf(acknowledged);
    const values = [number, fence, from, to ?? null, afterId.toString(), lastId, numbers];
    const rows = await this.statements.rows('savePosition', values);
    if (!this.statements.connection.parse(() => rows[0].isHeld)) throw new OutboxLeaseError(number);
  }

  /** Stores whether writers must notify the relay. This has no effect if the outbox does not allow notifications. */
  async setSleeping(isSleeping: boolean): Promise<void> {
    await this.statements.rows('setSleeping', [isSleeping ? 1 : 0]);
  }
}
