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

/** The operations on parked keys that operators use, for every store. */
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

  /** Lists all parked keys, in no particular order. */
  async *parked(): AsyncGenerator<ParkedKeyReport> {
    for await (const key of this.keys()) yield parkedKeyReport(key);
  }

  /**
   * Lets the next replay try a key, even a dead key. The count of tries before the key is dead starts again.
   *
   * @returns false if the key is not parked
   */
  resume(partitionKey: string): Promise<boolean> {
    return this.continueAt(partitionKey, ({ first }) => first);
  }

  /**
   * Permanently drops the record that blocks a key, and lets the next replay try the record after it. If a replay tries the
   * record at this moment, the record may still take effect.
   *
   * @returns false if the key is not parked
   */
  skip(partitionKey: string): Promise<boolean> {
    return this.continueAt(partitionKey, ({ first, next }) => Math.min(next, first + 1));
  }

  /**
   * Permanently deletes all waiting records of a key. Later records of the key are handled normally.
   *
   * @returns false if the key is not parked
   */
  drop(partitionKey: string): Promise<boolean> {
    return this.continueAt(partitionKey, ({ next }) => next);
  }

  private async continueAt(partitionKey: string, newFirst: (key: ParkedKey) => number): Promise<boolean> {
    for (;;) {
      const found = (await this.find([partitionKey])).get(partitionKey);
      if (found === undefined) return false;
      const { lastError, ...key } = found;
      const first = newFirst(found);
      const now = Date.now();
      const continued: ParkedKey = { ...key, first, tries: 0, retries: 0, dead: false, since: now, dueAt: now };
      // The error of a dropped record is dropped, too.
      if (first === found.first && lastError !== undefined) continued.lastError = lastError;
      const saved = await this.save(continued);
      if (saved !== undefined && (saved.first < saved.next || (await this.remove(saved)))) return true;
    }
  }
}
