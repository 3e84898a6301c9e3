import { Fifo } from '../foundation/fifo';
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

/** Every way from one state to another. */
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
  private readonly records = new Fifo<PendingRecord>();
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
    return this.records.length;
  }

  /** What those records count together, in bytes. */
  get bytes(): number {
    return this.recordBytes;
  }

  /** The record whose turn it is. A lane that has not ended has one. */
  get head(): PendingRecord {
    return this.records.head!;
  }

  /** The record that was put last. A lane that has not ended has one. */
  get tail(): PendingRecord {
    return this.records.tail!;
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

  /** The first record that is not in flight. */
  get firstWaiting(): PendingRecord | undefined {
    return this.records.at(this.recordsInFlight);
  }

  /** How many records the request carries that is in flight. */
  get recordsInFlight(): number {
    return this.current === 'in flight' ? this.formed!.records : 0;
  }

  /** The record that has `index` others before it. */
  at(index: number): PendingRecord | undefined {
    return this.records.at(index);
  }

  /** Puts a record behind the others. */
  add(record: PendingRecord): void {
    if (this.hasEnded) throw new Error('a lane that is ended takes no more records');
    this.records.push(record);
    this.recordBytes += record.bytes;
  }

  /** Takes the first record out, to be told its end. */
  shift(): PendingRecord {
    if (this.current !== 'settling' && !this.hasEnded)
      throw new Error(`a lane that is ${this.current} keeps its records`);
    const record = this.records.shift()!;
    this.recordBytes -= record.bytes;
    return record;
  }

  /** Takes out up to `count` records that wait behind the unit in flight, to be told their end before it. */
  takeBehindUnit(count: number): PendingRecord[] {
    if (this.current !== 'in flight') throw new Error(`a lane that is ${this.current} has no unit in flight`);
    const taken = this.records.takeBehind(this.recordsInFlight, count);
    for (const { bytes } of taken) this.recordBytes -= bytes;
    return taken;
  }

  /** The first record may be sent. */
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

  /** The first records are about to end: the unit's, or the first one if there is no unit. Forgets the unit. */
  settle(): void {
    this.transition('settle');
    this.clear();
  }

  /** Those that ended were not all: the next record is the first now. */
  goOn(): void {
    this.transition('goOn');
  }

  /** The records that are left are about to end. */
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
