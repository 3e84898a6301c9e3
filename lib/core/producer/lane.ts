import type { LaneEntry } from './lane-entry';
import type { PendingRecord } from './pending-record';
import type { ReadyGroup } from './ready-group';

/**
 * The state of a lane.
 *
 * - `waiting`: its first record was just put, waits for a back-off, or waits for the stream's size limit.
 * - `ready`: it waits in the queue for the next request.
 * - `in flight`: a request contains its entry. Only the response to that request decides the results of these records.
 * - `settling`: its first records get their results.
 * - `ended`: it accepts no more records. The next record of its key starts a new lane.
 */
type LaneState = 'waiting' | 'ready' | 'in flight' | 'settling' | 'ended';

const TRANSITIONS = {
  becomeReady: { from: ['waiting'], to: 'ready' },
  depart: { from: ['ready'], to: 'in flight' },
  backOff: { from: ['in flight'], to: 'waiting' },
  beginSettling: { from: ['waiting', 'ready', 'in flight'], to: 'settling' },
  moveOn: { from: ['settling'], to: 'waiting' },
  end: { from: ['waiting', 'ready', 'settling'], to: 'ended' },
} satisfies Record<string, { from: LaneState[]; to: LaneState }>;

/**
 * The producer's queue of a key: the records of one partition key, in order. At most one entry is in flight, and it contains the
 * first records.
 *
 * Only the methods below change the state. Each of them throws if the lane is in a state that does not allow the transition.
 */
export class Lane {
  /** Cancels the timer that watches the age of the records. Undefined if there is no such timer. */
  cancelExpiry?: () => void;
  /**
   * The group of ready lanes that contains this lane. If the first record of the lane expires and the next
   * record has another hash key, the lane moves to another group. The old group removes the lane later.
   */
  queuedIn?: ReadyGroup<Lane>;
  /** A linked list, because an array for each key would leave many empty arrays in memory when the buffer drains. */
  private first?: PendingRecord;
  private last?: PendingRecord;
  private count = 0;
  private recordBytes = 0;
  private current: LaneState = 'waiting';
  private formed?: LaneEntry;
  private cancelBackoff?: () => void;

  constructor(readonly partitionKey: string) {}

  get state(): LaneState {
    return this.current;
  }

  get hasEnded(): boolean {
    return this.current === 'ended';
  }

  /** The number of records that have no result yet. */
  get length(): number {
    return this.count;
  }

  /** The bytes of the records without a result, as Kinesis counts them against its limits. */
  get bytes(): number {
    return this.recordBytes;
  }

  /** The first record. A lane has a first record until it ends. */
  get head(): PendingRecord {
    return this.first!;
  }

  /** The record that was put last. A lane has such a record until it ends. */
  get tail(): PendingRecord {
    return this.last!;
  }

  /** The entry that is in flight, or that the lane sends again. Undefined until it is formed. */
  get entry(): LaneEntry | undefined {
    return this.formed;
  }

  /** Whether the lane waits for its turn in this group. */
  isReadyIn(group: ReadyGroup<Lane>): boolean {
    return this.current === 'ready' && this.queuedIn === group;
  }

  /** Leaves a group, unless the lane has moved to another group before. */
  leave(group: ReadyGroup<Lane>): void {
    if (this.queuedIn === group) this.queuedIn = undefined;
  }

  /** The last record of the entry in flight. An entry must be in flight. */
  get lastInFlight(): PendingRecord {
    let record = this.head;
    for (let index = 1; index < this.formed!.records; index++) record = record.next!;
    return record;
  }

  /** The first record behind the entry in flight. Undefined if no record waits behind the entry. */
  get firstWaiting(): PendingRecord | undefined {
    return this.lastInFlight.next;
  }

  append(record: PendingRecord): void {
    if (this.hasEnded) throw new Error('a lane that has ended accepts no records');
    if (this.first === undefined) this.first = record;
    else this.tail.next = record;
    this.last = record;
    this.count += 1;
    this.recordBytes += record.bytes;
  }

  /** Removes the first record, which is about to get its result. */
  removeFirst(): PendingRecord {
    if (this.current !== 'settling' && !this.hasEnded)
      throw new Error(`a lane that is ${this.current} keeps its records`);
    const record = this.head;
    this.first = record.next;
    // Otherwise this record would keep all later records in memory.
    record.next = undefined;
    this.count -= 1;
    this.recordBytes -= record.bytes;
    return record;
  }

  /**
   * Removes up to `count` records behind the entry in flight. These records get their results before the records of the entry.
   */
  removeWaiting(count: number): PendingRecord[] {
    const { lastInFlight } = this;
    const removed: PendingRecord[] = [];
    for (let next = lastInFlight.next; next !== undefined && removed.length < count; next = lastInFlight.next) {
      lastInFlight.next = next.next;
      next.next = undefined;
      this.recordBytes -= next.bytes;
      removed.push(next);
    }
    if (lastInFlight.next === undefined) this.last = lastInFlight;
    this.count -= removed.length;
    return removed;
  }

  becomeReady(): void {
    this.transition('becomeReady');
    this.cancelBackoff = undefined;
  }

  /** Marks an entry as sent. Every attempt sends the same entry, so the duplicates after lost responses are equal. */
  depart(entry: LaneEntry): void {
    if (this.formed !== undefined && this.formed !== entry)
      throw new Error('a lane sends the same entry until it ends');
    this.transition('depart');
    this.queuedIn = undefined;
    this.formed = entry;
    entry.attempts += 1;
  }

  /** Keeps the entry for another attempt after a back-off. */
  backOff(cancel: () => void): void {
    this.transition('backOff');
    this.cancelBackoff = cancel;
  }

  /**
   * Drops the entry. The caller then gives the records of the entry their results. If there is no entry, the caller gives the
   * first record its result.
   */
  beginSettling(): void {
    this.transition('beginSettling');
    this.clear();
  }

  moveOn(): void {
    this.transition('moveOn');
  }

  /** Accepts no more records. The caller then gives the remaining records their results. */
  end(): void {
    this.transition('end');
    this.clear();
    this.cancelExpiry?.();
    this.cancelExpiry = undefined;
  }

  private clear(): void {
    this.cancelBackoff?.();
    this.cancelBackoff = undefined;
    this.formed = undefined;
  }

  private transition(name: keyof typeof TRANSITIONS): void {
    const { from, to }: { from: LaneState[]; to: LaneState } = TRANSITIONS[name];
    if (!from.includes(this.current)) throw new Error(`a lane that is ${this.current} cannot ${name}`);
    this.current = to;
  }
}
