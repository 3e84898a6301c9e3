import type { RowShape } from './envelope';
import { idRangesOf } from './id-ranges';
import type { HeldRange } from './key-ranges';
import { OutboxLeaseError } from './outbox-errors';
import { type OutboxRow, outboxRow } from './outbox-row';
import type { KeyWithParkedRows } from './parked-table';
import type { RangePosition, Span } from './progress';
import type { Statements } from './statements';

/** Some rows of a span, in order. */
export interface Batch {
  readonly rows: OutboxRow[];
  /** Whether the span has no more rows. */
  readonly isLast: boolean;
  /** The keys of these rows that have parked rows. Empty if the request did not look parked keys up. */
  readonly parkedKeys: readonly KeyWithParkedRows[];
}

/** Which rows a batch has: those after a number, as many as fit. One row is read even if it is larger. */
export interface BatchLimits {
  readonly afterId: bigint;
  readonly maxRows: number;
  readonly maxBytes: number;
}

/** No row has a number as high as this one. */
const NO_ID = 2n ** 63n - 1n;

/** Reads the new rows of one range of keys, and saves how far the range is relayed. */
export class NewRows {
  constructor(
    private readonly statements: Statements,
    readonly range: HeldRange,
    private readonly shape: RowShape,
  ) {}

  /**
   * Takes a snapshot, and finds out whether it sees rows that `from` does not see, of any range.
   *
   * @throws OutboxLeaseError if another worker has taken the range over, or the keys were divided anew
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

  /** Reads the next rows of a span, in order. With `findsParkedKeys` the batch tells which keys have parked rows. */
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
   * Saves how far the range is relayed, and which rows have been acknowledged since.
   *
   * @throws OutboxLeaseError if another worker has taken the range over
   */
  async save({ from, to, afterId }: RangePosition, acknowledged: readonly bigint[]): Promise<void> {
    const { number, fence } = this.range;
    const { lastId, numbers } = idRangesOf(acknowledged);
    const values = [number, fence, from, to ?? null, afterId.toString(), lastId, numbers];
    const rows = await this.statements.rows('savePosition', values);
    if (!this.statements.connection.parse(() => rows[0].isHeld)) throw new OutboxLeaseError(number);
  }

  /** Tells writers whether to notify, where they may. */
  async setSleeping(isSleeping: boolean): Promise<void> {
    await this.statements.rows('setSleeping', [isSleeping ? 1 : 0]);
  }
}
