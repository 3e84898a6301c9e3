import type { OutboxRow } from './outbox-database';

export interface InFlightLimits {
  maxRowsInFlight: number;
  maxBytesInFlight: number;
}

/** The part of what may be in flight that one key may take, so that others have room whatever it does. */
const LARGEST_SHARE_OF_A_KEY = 1 / 8;

interface Amount {
  rows: number;
  bytes: number;
}

/** Counts the rows that the producer has and that have not ended there. */
export class RowsInFlight {
  private readonly all: Amount = { rows: 0, bytes: 0 };
  private readonly byKey = new Map<string, Amount>();
  private waiting: (() => void)[] = [];

  constructor(private readonly limits: InFlightLimits) {}

  get isEmpty(): boolean {
    return this.all.rows === 0;
  }

  get isFull(): boolean {
    return this.all.rows >= this.limits.maxRowsInFlight || this.all.bytes >= this.limits.maxBytesInFlight;
  }

  /** Whether a key has its share. */
  isFullFor(partitionKey: string): boolean {
    const ofKey = this.byKey.get(partitionKey);
    if (ofKey === undefined) return false;
    return (
      ofKey.rows >= this.limits.maxRowsInFlight * LARGEST_SHARE_OF_A_KEY ||
      ofKey.bytes >= this.limits.maxBytesInFlight * LARGEST_SHARE_OF_A_KEY
    );
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
    if (this.waiting.length === 0) return;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** Resolves when a row has ended. */
  change(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  async empty(): Promise<void> {
    while (!this.isEmpty) await this.change();
  }
}
