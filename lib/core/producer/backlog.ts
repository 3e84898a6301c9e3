import type { Lane, PendingRecord } from './lane';

export interface BacklogLimits {
  maxBufferedRecords: number;
  maxBufferedBytes: number;
}

/** The part of the buffer that one key may fill, so that others have room whatever it does. */
const LARGEST_SHARE_OF_A_KEY = 1 / 4;

/** Counts what is neither acknowledged nor rejected, and lets sources wait for room. */
export class Backlog {
  private records = 0;
  private bytes = 0;
  private waiting: { lane: Lane | undefined; resolve: () => void }[] = [];

  constructor(private readonly limits: BacklogLimits) {}

  add({ bytes }: PendingRecord): void {
    this.records += 1;
    this.bytes += bytes;
  }

  remove({ bytes }: PendingRecord): void {
    this.records -= 1;
    this.bytes -= bytes;
    if (!this.waiting.some(({ lane }) => this.hasRoom(lane))) return;
    for (const { resolve } of this.waiting.splice(0)) resolve();
  }

  /** Waits until there is room behind the lane's records; undefined if there is. */
  room(lane: Lane | undefined): Promise<void> | undefined {
    return this.hasRoom(lane) ? undefined : this.waitForRoom(lane);
  }

  private async waitForRoom(lane: Lane | undefined): Promise<void> {
    while (!this.hasRoom(lane)) await new Promise<void>((resolve) => this.waiting.push({ lane, resolve }));
  }

  private hasRoom(lane: Lane | undefined): boolean {
    const { maxBufferedRecords, maxBufferedBytes } = this.limits;
    if (this.records >= maxBufferedRecords || this.bytes >= maxBufferedBytes) return false;
    if (lane === undefined) return true;
    const { pending, bytes } = lane;
    return (
      pending.length < Math.max(1, maxBufferedRecords * LARGEST_SHARE_OF_A_KEY) &&
      bytes < Math.max(1, maxBufferedBytes * LARGEST_SHARE_OF_A_KEY)
    );
  }
}
