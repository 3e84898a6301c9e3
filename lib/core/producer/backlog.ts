import { Condition } from '../kernel/condition';
import type { Lane } from './lane';
import type { PendingRecord } from './pending-record';

interface BacklogLimits {
  maxBufferedRecords: number;
  maxBufferedBytes: number;
}

/** The part of the buffer that one key may fill, so that the other keys always have room. */
const MAX_SHARE_OF_A_KEY = 1 / 4;

/** Counts the records that have no result yet, and lets sources wait for room in the buffer. */
export class Backlog {
  private records = 0;
  private bytes = 0;
  private readonly released = new Condition();

  constructor(private readonly limits: BacklogLimits) {}

  reserve({ bytes }: PendingRecord): void {
    this.records += 1;
    this.bytes += bytes;
  }

  release({ bytes }: PendingRecord): void {
    this.records -= 1;
    this.bytes -= bytes;
    this.released.notifyAll();
  }

  /** Waits until the buffer has room for another record of the lane. Returns undefined if the buffer has room now. */
  room(lane: Lane | undefined): Promise<void> | undefined {
    return this.hasRoom(lane) ? undefined : this.waitForRoom(lane);
  }

  private async waitForRoom(lane: Lane | undefined): Promise<void> {
    while (!this.hasRoom(lane)) await this.released.change();
  }

  private hasRoom(lane: Lane | undefined): boolean {
    const { maxBufferedRecords, maxBufferedBytes } = this.limits;
    if (this.records >= maxBufferedRecords || this.bytes >= maxBufferedBytes) return false;
    if (lane === undefined) return true;
    const { length, bytes } = lane;
    return length < maxBufferedRecords * MAX_SHARE_OF_A_KEY && bytes < maxBufferedBytes * MAX_SHARE_OF_A_KEY;
  }
}
