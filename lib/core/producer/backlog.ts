import type { Lane } from './lane';
import type { PendingRecord } from './pending-record';

interface BacklogLimits {
  maxBufferedRecords: number;
  maxBufferedBytes: number;
}

/** The part of the buffer that one key may fill, so that the other keys always have room. */
const MAX_SHARE_OF_A_KEY = 1 / 4;

/** Counts the records that are neither acknowledged nor rejected, and lets sources wait for room. */
export class Backlog {
  private records = 0;
  private bytes = 0;
  /** Sources that look for room again whenever a record has ended. */
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly limits: BacklogLimits) {}

  add({ bytes }: PendingRecord): void {
    this.records += 1;
    this.bytes += bytes;
  }

  remove({ bytes }: PendingRecord): void {
    this.records -= 1;
    this.bytes -= bytes;
    while (this.waiting.length > 0) this.waiting.shift()!();
  }

  /** Waits until there is room behind the lane's records. It returns undefined if there is room now. */
  room(lane: Lane | undefined): Promise<void> | undefined {
    return this.hasRoom(lane) ? undefined : this.waitForRoom(lane);
  }

  private async waitForRoom(lane: Lane | undefined): Promise<void> {
    while (!this.hasRoom(lane)) await new Promise<void>((lookAgain) => this.waiting.push(lookAgain));
  }

  private hasRoom(lane: Lane | undefined): boolean {
    const { maxBufferedRecords, maxBufferedBytes } = this.limits;
    if (this.records >= maxBufferedRecords || this.bytes >= maxBufferedBytes) return false;
    if (lane === undefined) return true;
    const { length, bytes } = lane;
    return length < maxBufferedRecords * MAX_SHARE_OF_A_KEY && bytes < maxBufferedBytes * MAX_SHARE_OF_A_KEY;
  }
}
