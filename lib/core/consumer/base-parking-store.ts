import { InvalidArgumentError } from '../kernel/errors';
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

/** Options of every parking store. */
export interface ParkingStoreOptions {
  /**
   * Returns the time of day in milliseconds since 1970, for `resume`, `skip` and `drop`. Pass the `timeOfDay` of the consumer.
   * @default Date.now
   */
  timeOfDay?: () => number;
}

/** Implements the operations for operators (list, resume, skip and drop parked keys) for every parking store. */
export abstract class BaseParkingStore implements ParkingStore {
  abstract readonly consumer: string;
  private readonly timeOfDay: () => number;

  constructor({ timeOfDay = Date.now }: ParkingStoreOptions = {}) {
    this.timeOfDay = timeOfDay;
  }

  abstract find(partitionKeys: Iterable<string>, options?: ReadOptions): Promise<Map<string, ParkedKey>>;
  abstract keys(): AsyncIterable<ParkedKey>;
  abstract records(key: ParkedKey): AsyncIterable<ParkedRecord>;
  abstract save(
    key: ParkedKey,
    appended?: readonly ParkedRecord[],
    options?: ReadOptions,
  ): Promise<ParkedKey | undefined>;
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
   * Lets the next replay try a parked key, even a dead key, which is otherwise not replayed. The count of tries and the age of
   * the first record start again, so a dead key is not immediately dead again.
   *
   * @returns false if the key is not parked
   */
  resume(partitionKey: string): Promise<boolean> {
    return this.continueAt(partitionKey, ({ first }) => first);
  }

  /**
   * Permanently drops the record that blocks a key, and lets the next replay try the record after the dropped record. If a replay
   * is handling the dropped record during this call, the record may still take effect.
   *
   * @returns false if the key is not parked
   */
  skip(partitionKey: string): Promise<boolean> {
    return this.continueAt(partitionKey, ({ first, next }) => Math.min(next, first + 1));
  }

  /**
   * Permanently deletes all waiting records of a key. Records of the key that arrive later are handled normally.
   *
   * @returns false if the key is not parked
   */
  drop(partitionKey: string): Promise<boolean> {
    return this.continueAt(partitionKey, ({ next }) => next);
  }

  private async continueAt(partitionKey: string, newFirst: (key: ParkedKey) => number): Promise<boolean> {
    if (typeof partitionKey !== 'string') throw new InvalidArgumentError('partitionKey', partitionKey, 'a string');
    for (;;) {
      const found = (await this.find([partitionKey])).get(partitionKey);
      if (found === undefined) return false;
      const { lastError, ...key } = found;
      const first = newFirst(found);
      const now = this.timeOfDay();
      const continued: ParkedKey = { ...key, first, tries: 0, retries: 0, dead: false, since: now, dueAt: now };
      // If the first record is dropped, its error is dropped, too.
      if (first === found.first && lastError !== undefined) continued.lastError = lastError;
      const saved = await this.save(continued);
      if (saved !== undefined && (saved.first < saved.next || (await this.remove(saved)))) return true;
    }
  }
}
