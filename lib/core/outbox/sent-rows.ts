import type { RowShape } from './envelope';
import type { BatchLimits } from './new-rows';
import { type OutboxRow, outboxRow } from './outbox-row';
import type { Statements } from './statements';

/** The sent rows that a replay selects. */
interface RowSelection {
  readonly lastId: bigint;
  readonly partitionKey?: string;
  readonly sentFrom?: Date;
  readonly sentBefore?: Date;
}

/** The rows that were sent and still exist. */
export class SentRows {
  constructor(
    private readonly statements: Statements,
    private readonly shape: RowShape,
  ) {}

  /** The producer id of the outbox, and the number of its last row. */
  async lastNumber(): Promise<{ producerId: string; lastId: bigint }> {
    const rows = await this.statements.rows('readLastNumber');
    return this.statements.connection.parse(() => ({
      producerId: rows[0].producer_id,
      lastId: BigInt(rows[0].last_value),
    }));
  }

  /** Reads the next selected rows, in order. */
  async read(selection: RowSelection, limits: BatchLimits, producerId: string): Promise<OutboxRow[]> {
    const rows = await this.statements.rows('readSentRows', valuesOf(selection, limits));
    return this.statements.connection.parse(() => rows.map((row) => outboxRow(row, producerId, this.shape)));
  }

  /** Puts the next selected rows into the outbox again. Returns undefined if there are no more rows. */
  async putAgain(selection: RowSelection, limits: BatchLimits): Promise<{ rows: number; lastId: bigint } | undefined> {
    const rows = await this.statements.rows('putSentRowsAgain', valuesOf(selection, limits));
    if (rows.length === 0) return undefined;
    return this.statements.connection.parse(() => ({ rows: Number(rows[0].rows), lastId: BigInt(rows[0].last_id) }));
  }
}

function valuesOf({ lastId, partitionKey, sentFrom, sentBefore }: RowSelection, limits: BatchLimits): unknown[] {
  const times = [sentFrom, sentBefore].map((time) => time?.toISOString() ?? null);
  return [`${limits.afterId}`, `${lastId}`, partitionKey ?? null, ...times, limits.maxRows, limits.maxBytes];
}
