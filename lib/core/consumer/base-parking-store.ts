import type { FencedMove, MoveProgress } from './fenced-move';
import {
  type ParkedKey,
  type ParkedKeyReport,
  type ParkedRecord,
  type ParkingStore,
  parkedKeyReport,
  type ReadOptions,
} from './parking-store';
import type { SequencePosition } from './sequence-position';

/** What people do with parked keys, for every store. */
export abstract class BaseParkingStore implements ParkingStore {
  abstract readonly consumer: string;
  abstract find(partitionKeys: Iterable<string>, options?: ReadOptions): Promise<Map<string, ParkedKey>>;
  abstract keys(): AsyncIterable<ParkedKey>;
  abstract records(key: ParkedKey): AsyncIterable<ParkedRecord>;
  abstract save(key: ParkedKey, appended?: readonly ParkedRecord[]): Promise<ParkedKey | undefined>;
  abstract remove(key: ParkedKey): Promise<boolean>;
  abstract markHandled(partitionKey: string, position: SequencePosition): Promise<void>;
  abstract onceItem(partitionKey: string, position: SequencePosition): object;
  abstract endMove(move: FencedMove): Promise<void>;
  abstract waitForMove(move: FencedMove, waitedMs: number): Promise<MoveProgress>;

  /** Every key that is set aside, in no order. */
  async *parked(): AsyncGenerator<ParkedKeyReport> {
    for await (const key of this.keys()) yield parkedKeyReport(key);
  }

  /**
   * Lets the next replay try a key, dead or not, with as many tries before it is dead as a key that was just parked.
   *
   * @returns false if the key is not parked
   */
  resume(partitionKey: string): Promise<boolean> {
    return this.continueAt(partitionKey, ({ first }) => first);
  }

  /**
   * Leaves out the record that holds a key up, for good, and lets the next replay try the record behind it. If the key is
   * tried at this moment, the record may take effect nevertheless.
   *
   * @returns false if the key is not parked
   */
  skip(partitionKey: string): Promise<boolean> {
    return this.continueAt(partitionKey, ({ first, next }) => Math.min(next, first + 1));
  }

  /**
   * Deletes every record of a key that waits, for good. Later records of it are handled as they come.
   *
   * @returns false if the key is not parked
   */
  drop(partitionKey: string): Promise<boolean> {
    return this.continueAt(partitionKey, ({ next }) => next);
  }

  private async continueAt(partitionKey: string, firstLeft: (key: ParkedKey) => number): Promise<boolean> {
    for (;;) {
      const found = (await this.find([partitionKey])).get(partitionKey);
      if (found === undefined) return false;
      const { lastError, ...key } = found;
      const first = firstLeft(found);
      const now = Date.now();
      const continued: ParkedKey = { ...key, first, tries: 0, retries: 0, dead: false, since: now, dueAt: now };
      // A record that is left out takes its error with it.
      if (first === found.first && lastError !== undefined) continued.lastError = lastError;
      const saved = await this.save(continued);
      if (saved !== undefined && (saved.first < saved.next || (await this.remove(saved)))) return true;
    }
  }
}
