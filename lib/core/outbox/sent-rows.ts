import type { RowShape } from './envelope';
import type { BatchLimits } from './new-rows';
import { type OutboxRow, outboxRow } from './outbox-row';
import type { Statements } from './statements';

/** Which of the rows that were sent a replay wants. */
interface WantedRows {
  readonly lastId: bigint;
  readonly partitionKey?: string;
  readonly sentFrom?: Date;
  readonly sentBefore?: Date;
}

/** The rows that were sent and are still there. */
export class SentRows {
  constructor(
    private readonly statements: Statements,
    private readonly shape: RowShape,
  ) {}

  /** The producer that numbers the rows, and the highest number so far. */
  async lastNumber(): Promise<{ producerId: string; lastId: bigint }> {
    const rows = await this.statements.rows('readLastNumber');
    return this.statements.connection.parse(() => ({
      producerId: rows[0].producer_id,
      lastId: BigInt(rows[0].last_value),
    }));
  }

  /** Reads the next of these rows, in order. */
  async read(wanted: WantedRows, limits: BatchLimits, producerId: string): Promise<OutboxRow[]> {
    const rows = await this.statements.rows('readSentRows', valuesOf(wanted, limits));
    return this.statements.connection.parse(() => rows.map((row) => outboxRow(row, producerId, this.shape)));
  }

  /** Puts the next of these rows again. It returns undefined if there are no more. */
  async putAgain(wanted: WantedRows, limits: BatchLimits): Promise<{ rows: number; lastId: bigint } | undefined> {
    const rows = await this.statements.rows('putSentRowsAgain', valuesOf(wanted, limits));
    if (rows.length === 0) return undefined;
    return this.statements.connection.parse(() => ({ rows: Number(rows[0].rows), lastId: BigInt(rows[0].last_id) }));
  }
}

function valuesOf({ lastId, partitionKey, sentFrom, sentBefore }: WantedRows, limits: BatchLimits): unknown[] {
  const times = [sentFrom, sentBefore].map((time) => time?.toISOString() ?? null);
  return [`${limits.afterId}`, `${lastId}`, partitionKey ?? null, ...times, limits.maxRows, limits.maxBytes];
}
