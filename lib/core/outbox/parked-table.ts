import type { RowShape } from './envelope';
import { idRangesOf } from './id-ranges';
import type { HeldRange } from './key-ranges';
import { OutboxLeaseError } from './outbox-errors';
import { type OutboxRow, outboxRow, type ParkedRow } from './outbox-row';
import type { Statements } from './statements';

/** A key that has rows in the table. */
export interface KeyWithParkedRows {
  readonly partitionKey: string;
  /** How many times its first row was tried. */
  readonly tries: number;
}

/** A parked row that the stream has rejected. */
export interface RejectedRow {
  readonly row: OutboxRow;
  readonly error: Error;
}

/** The rows of one range in the table `parked`. */
export class ParkedTable {
  constructor(
    private readonly statements: Statements,
    private readonly range: HeldRange,
    private readonly shape: RowShape,
  ) {}

  /**
   * Copies rows to the table. Existing rows are not changed.
   *
   * @throws OutboxLeaseError if another worker has taken over the range
   */
  async park(rows: readonly OutboxRow[]): Promise<void> {
    const { number, fence } = this.range;
    const held = await this.statements.rows('parkRows', [number, fence, numbersOf(rows)]);
    if (!this.statements.connection.parse(() => held[0].isHeld)) throw new OutboxLeaseError(number);
  }

  /**
   * Lists keys that have rows in the table, ordered by the number of their first row.
   *
   * @param afterId lists only keys whose first row has a number above `afterId`
   * @throws OutboxLeaseError if another worker has taken over the range
   */
  async listKeys({
    afterId,
    atMost,
  }: {
    afterId: bigint;
    atMost: number;
  }): Promise<(KeyWithParkedRows & { firstId: bigint })[]> {
    const { number, fence, firstBucket, lastBucket } = this.range;
    const values = [firstBucket, lastBucket, atMost, number, fence, afterId.toString()];
    const rows = await this.statements.rows('listParkedKeys', values);
    if (rows.length === 0) throw new OutboxLeaseError(number);
    const keys = rows.filter(({ partition_key }) => partition_key !== null);
    return this.statements.connection.parse(() =>
      keys.map((row) => ({ partitionKey: row.partition_key, tries: row.tries, firstId: BigInt(row.first_id) })),
    );
  }

  /**
   * Reads the first rows of each of the keys, in order. It skips the rows up to the key's `afterId`, because there may be many
   * deleted rows that Postgres has not vacuumed yet.
   *
   * @param limits `maxRows` and `maxBytes` limit the rows of each key, and `maxBytesOfAll` limits the rows of all keys together.
   *   The first row of a key may exceed `maxBytes`, and the first row of the result may exceed `maxBytesOfAll`
   * @returns the rows, and the keys that have rows but did not fit into `maxBytesOfAll`
   * @throws OutboxLeaseError if another worker has taken over the range
   */
  async read(
    keys: readonly { partitionKey: string; afterId: bigint }[],
    limits: { maxRows: number; maxBytes: number; maxBytesOfAll: number },
  ): Promise<{ rows: ParkedRow[]; unreadKeys: string[] }> {
    const { number, fence, producerId } = this.range;
    const found = await this.statements.rows('readParkedRows', [
      keys.map(({ partitionKey }) => partitionKey),
      keys.map(({ afterId }) => afterId.toString()),
      limits.maxRows,
      limits.maxBytes,
      number,
      fence,
      limits.maxBytesOfAll,
    ]);
    if (found.length === 0) throw new OutboxLeaseError(number);
    const ofKeys = found.filter(({ id }) => id !== null);
    const unreadKeys = ofKeys.filter(({ data }) => data === null).map(({ partition_key }) => partition_key);
    const read = ofKeys.filter(({ data }) => data !== null);
    const rows = this.statements.connection.parse(() =>
      read.map((row) => ({ ...outboxRow(row, producerId, this.shape), tries: row.tries })),
    );
    return { rows, unreadKeys };
  }

  async remove(rows: readonly OutboxRow[]): Promise<void> {
    const { lastId, numbers } = idRangesOf(rows.map(({ id }) => id));
    await this.statements.rows('removeParkedRows', [keysOf(rows), numbersOf(rows), lastId, numbers]);
  }

  async countTries(rejected: readonly RejectedRow[]): Promise<void> {
    await this.statements.rows('countTries', columnsOf(rejected));
  }

  /** Moves rows to the table `rejected`. */
  async giveUp(rejected: readonly RejectedRow[]): Promise<void> {
    await this.statements.rows('giveUpRows', columnsOf(rejected));
  }
}

function columnsOf(rejected: readonly RejectedRow[]): string[][] {
  const rows = rejected.map(({ row }) => row);
  return [keysOf(rows), numbersOf(rows), rejected.map(({ error }) => storable(error.message))];
}

function keysOf(rows: readonly OutboxRow[]): string[] {
  return rows.map(({ partitionKey }) => partitionKey);
}

function numbersOf(rows: readonly OutboxRow[]): string[] {
  return rows.map(({ id }) => id.toString());
}

/** An error message in characters that every database encoding can store. */
function storable(message: string): string {
  return message.slice(0, 1_000).replace(/[^\x20-\x7e]/g, '?');
}
