import type { PendingRecord } from './pending-record';
import type { Unit } from './unit';

/**
 * What a lane is doing.
 *
 * - `waiting`: its turn has not come. Its first record was just put or backs off, or the stream is asked about it.
 * - `ready`: it queues for the next request.
 * - `in flight`: a request carries its unit. Only the answer to that request may decide about its records.
 * - `settling`: its first records are being told how they ended.
 * - `ended`: it takes no more records. A record of its key that is put from now on starts a new lane.
 */
export type LaneState = 'waiting' | 'ready' | 'in flight' | 'settling' | 'ended';

/** All ways from one state to another. */
const TRANSITIONS = {
  becomeReady: { from: ['waiting'], to: 'ready' },
  depart: { from: ['ready'], to: 'in flight' },
  backOff: { from: ['in flight'], to: 'waiting' },
  settle: { from: ['waiting', 'ready', 'in flight'], to: 'settling' },
  goOn: { from: ['settling'], to: 'waiting' },
  end: { from: ['waiting', 'ready', 'settling'], to: 'ended' },
} satisfies Record<string, { from: LaneState[]; to: LaneState }>;

/**
 * The records of one partition key, in order. At most one unit of them is in flight, always the first.
 *
 * Its state changes only by the methods below, each of which throws unless the lane is in a state that it may leave.
 */
export class Lane {
  /** Cancels the timer that watches the age of the records; undefined while there is no such timer. */
  cancelExpiry?: () => void;
  /**
   * The queue of ready lanes that has this lane's entry; undefined while none has. An entry that was left in another queue,
   * when the first record expired there and the next one goes elsewhere, counts for nothing.
   */
  queuedIn?: object;
  /** The records are a list of their own links: a buffer that fills and empties would keep an array for each key. */
  private first?: PendingRecord;
  private last?: PendingRecord;
  private count = 0;
  private recordBytes = 0;
  private current: LaneState = 'waiting';
  private formed?: Unit;
  private cancelBackoff?: () => void;

  constructor(readonly partitionKey: string) {}

  get state(): LaneState {
    return this.current;
  }

  get hasEnded(): boolean {
    return this.current === 'ended';
  }

  /** How many records have not ended. */
  get length(): number {
    return this.count;
  }

  /** What those records count together, in bytes. */
  get bytes(): number {
    return this.recordBytes;
  }

  /** The record whose turn it is. A lane that has not ended has one. */
  get head(): PendingRecord {
    return this.first!;
  }

  /** The record that was put last. A lane that has not ended has one. */
  get tail(): PendingRecord {
    return this.last!;
  }

  /** What the lane sends next, or has in flight; undefined until it is formed. */
  get unit(): Unit | undefined {
    return this.formed;
  }

  /** Whether its turn comes in this queue. */
  isReadyIn(queue: object): boolean {
    return this.current === 'ready' && this.queuedIn === queue;
  }

  /** Has its entry taken out of a queue, where it did not count any more. */
  leave(queue: object): void {
    if (this.queuedIn === queue) this.queuedIn = undefined;
  }

  /** The last record that the request in flight carries. One must be in flight. */
  get lastInFlight(): PendingRecord {
    let record = this.head;
    for (let index = 1; index < this.formed!.records; index++) record = record.next!;
    return record;
  }

  /** The first record behind the request in flight; undefined if there is none. */
  get firstWaiting(): PendingRecord | undefined {
    return this.lastInFlight.next;
  }

  /** Puts a record behind the others. */
  add(record: PendingRecord): void {
    if (this.hasEnded) throw new Error('a lane that is ended takes no more records');
    if (this.first === undefined) this.first = record;
    else this.tail.next = record;
    this.last = record;
    this.count += 1;
    this.recordBytes += record.bytes;
  }

  /** Takes the first record out, to be told its end. */
  shift(): PendingRecord {
    if (this.current !== 'settling' && !this.hasEnded)
      throw new Error(`a lane that is ${this.current} keeps its records`);
    const record = this.head;
    this.first = record.next;
    // A record that has ended would keep those behind it alive.
    record.next = undefined;
    this.count -= 1;
    this.recordBytes -= record.bytes;
    return record;
  }

  /** Takes out up to `count` records that wait behind the unit in flight, to be told their end before it. */
  takeBehindUnit(count: number): PendingRecord[] {
    const { lastInFlight } = this;
    const taken: PendingRecord[] = [];
    for (let next = lastInFlight.next; next !== undefined && taken.length < count; next = lastInFlight.next) {
      lastInFlight.next = next.next;
      next.next = undefined;
      this.recordBytes -= next.bytes;
      taken.push(next);
    }
    if (lastInFlight.next === undefined) this.last = lastInFlight;
    this.count -= taken.length;
    return taken;
  }

  /** Hears that the first record may be sent. */
  becomeReady(): void {
    this.transition('becomeReady');
    this.cancelBackoff = undefined;
  }

  /** Sends a unit. Once formed it stays the same until it ends, so that every copy that a lost answer leaves is equal. */
  depart(unit: Unit): void {
    if (this.formed !== undefined && this.formed !== unit) throw new Error('a lane sends the same unit until it ends');
    this.transition('depart');
    this.queuedIn = undefined;
    this.formed = unit;
    unit.attempts += 1;
  }

  /** Keeps the unit, to be sent again after a while. */
  backOff(cancel: () => void): void {
    this.transition('backOff');
    this.cancelBackoff = cancel;
  }

  /** Hears that its first records are about to end: the unit's, or the first one if there is no unit. It forgets the unit. */
  settle(): void {
    this.transition('settle');
    this.clear();
  }

  /** Hears that the records that ended were not all: the next record is the first now. */
  goOn(): void {
    this.transition('goOn');
  }

  /** Hears that the records that are left are about to end. */
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
