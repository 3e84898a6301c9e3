import { Condition } from '../kernel/condition';
import type { OutboxRow } from './outbox-row';

interface InFlightLimits {
  maxRowsInFlight: number;
  maxBytesInFlight: number;
}

/** The largest part of the limits that one key may use, so that other keys always have room. */
const LARGEST_SHARE_OF_A_KEY = 1 / 8;

/**
 * The maximum number of rows of a piece: as many records as one PutRecords request can have. A larger piece would cause an
 * additional small request. Source: the Kinesis API reference, PutRecords.
 */
const MAX_ROWS_OF_A_PIECE = 500;

interface Amount {
  rows: number;
  bytes: number;
}

/** Counts the rows that the producer has neither acknowledged nor rejected. */
export class RowsInFlight {
  private readonly all: Amount = { rows: 0, bytes: 0 };
  private readonly byKey = new Map<string, Amount>();
  private readonly ended = new Condition();

  constructor(private readonly limits: InFlightLimits) {}

  get isFull(): boolean {
    return this.all.rows >= this.limits.maxRowsInFlight || this.all.bytes >= this.limits.maxBytesInFlight;
  }

  isFullFor(partitionKey: string): boolean {
    return this.has(partitionKey, LARGEST_SHARE_OF_A_KEY);
  }

  /** Whether a key has used half of its share. A key that has used less than half of its share has room for a whole piece. */
  isHalfFullFor(partitionKey: string): boolean {
    return this.has(partitionKey, LARGEST_SHARE_OF_A_KEY / 2);
  }

  /** Divides rows into pieces. A piece has at most half the share of a key, but at least one row. */
  *pieces(rows: readonly OutboxRow[]): Generator<readonly OutboxRow[]> {
    const halfAShare = LARGEST_SHARE_OF_A_KEY / 2;
    const maxRows = Math.min(MAX_ROWS_OF_A_PIECE, this.limits.maxRowsInFlight * halfAShare);
    const maxBytes = this.limits.maxBytesInFlight * halfAShare;
    let first = 0;
    let bytes = 0;
    for (let end = 1; end <= rows.length; end++) {
      bytes += rows[end - 1]!.data.byteLength;
      const next = rows[end];
      if (next !== undefined && end - first < maxRows && bytes + next.data.byteLength <= maxBytes) continue;
      yield rows.slice(first, end);
      [first, bytes] = [end, 0];
    }
  }

  private has(partitionKey: string, share: number): boolean {
    const ofKey = this.byKey.get(partitionKey);
    if (ofKey === undefined) return false;
    return ofKey.rows >= this.limits.maxRowsInFlight * share || ofKey.bytes >= this.limits.maxBytesInFlight * share;
  }

  add({ partitionKey, data }: OutboxRow): void {
    const ofKey = this.byKey.get(partitionKey);
    if (ofKey === undefined) this.byKey.set(partitionKey, { rows: 1, bytes: data.byteLength });
    else {
      ofKey.rows += 1;
      ofKey.bytes += data.byteLength;
    }
    this.all.rows += 1;
    this.all.bytes += data.byteLength;
  }

  remove({ partitionKey, data }: OutboxRow): void {
    const ofKey = this.byKey.get(partitionKey)!;
    ofKey.rows -= 1;
    ofKey.bytes -= data.byteLength;
    if (ofKey.rows === 0) this.byKey.delete(partitionKey);
    this.all.rows -= 1;
    this.all.bytes -= data.byteLength;
    this.ended.notifyAll();
  }

  async empty(): Promise<void> {
    while (this.byKey.size > 0) await this.ended.change();
  }
}
