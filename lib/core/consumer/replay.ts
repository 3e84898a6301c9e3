import { randomUUID } from 'node:crypto';
import { Semaphore } from '../kernel/semaphore';
import { parseFence } from '../stream-format/fence';
import { Attempts, type Outcome, type UnendedAttempts } from './attempts';
import type { ConsumerSettings } from './consumer-options';
import type { HandledPositions } from './handled-positions';
import { afterDone, afterFailure, notifyIfDead } from './parked-key-changes';
import type { ParkedKey, ParkedRecord } from './parking-store';
import type { WorkTime } from './work-time';

/** What a replay of parked keys has done. */
export interface ReplaySummary {
  /** How many keys are no longer parked. */
  keys: number;
  /** How many records took effect, now or before. */
  records: number;
  /** How many keys are still parked, including dead ones. */
  stillParked: number;
  /** How many of them are dead. */
  dead: number;
  /** How long its first record has held up the key that has waited the longest, in milliseconds; 0 if none is parked. */
  oldestMs: number;
}

/** Progress is saved after this many records, or after this much time, at the latest. */
const SAVED_AFTER_RECORDS = 100;
const SAVED_AFTER_MS = 5_000;

/** How far a key was replayed. */
interface KeyProgress {
  done: number;
  key: ParkedKey | undefined;
}

/** Replays parked keys: several keys at a time, and the records of each key in order. */
export class Replay {
  /** Names this replay in leases. */
  private readonly holder = randomUUID();
  private readonly attempts: Attempts;
  private readonly keySlots: Semaphore;
  private readonly summary: ReplaySummary = { keys: 0, records: 0, stillParked: 0, dead: 0, oldestMs: 0 };

  constructor(
    private readonly settings: ConsumerSettings,
    private readonly handled: HandledPositions,
    unended: UnendedAttempts,
    private readonly time: WorkTime,
  ) {
    this.attempts = new Attempts(settings, unended, new Semaphore(settings.concurrency), time);
    this.keySlots = new Semaphore(settings.concurrency);
  }

  /** If one key cannot be read or written, it goes on with the others and throws the error in the end. */
  async replayKeys(): Promise<ReplaySummary> {
    const problems: unknown[] = [];
    const turns: Promise<void>[] = [];
    try {
      for await (const key of this.settings.parking.keys()) {
        await new Promise<void>((resolve) => this.keySlots.acquire(resolve));
        const turn = this.replayKey(key).catch((error) => void problems.push(error));
        turns.push(turn.finally(() => this.keySlots.release()));
      }
    } catch (error) {
      problems.push(error);
    }
    await Promise.all(turns);
    this.attempts.close();
    if (problems.length > 0) throw problems[0];
    return this.summary;
  }

  private async replayKey(key: ParkedKey): Promise<void> {
    const { done, key: left } = await this.drainKey(key);
    this.summary.records += done;
    if (left === undefined) this.summary.keys += 1;
    else {
      this.summary.stillParked += 1;
      if (left.dead) this.summary.dead += 1;
      this.summary.oldestMs = Math.max(this.summary.oldestMs, this.settings.timeOfDay() - left.since);
    }
  }

  /** Takes the lease of a key whose time has come. Returns the key as it is then, without this lease if it must wait. */
  private async acquireLease(found: ParkedKey): Promise<ParkedKey | undefined> {
    let key: ParkedKey | undefined = found;
    while (key !== undefined && !this.mustWait(key)) {
      const saved = await this.settings.parking.save({ ...key, lease: this.lease() });
      if (saved !== undefined) return saved;
      // Records were appended since the key was read, or another process has taken it.
      key = await this.readKey(key);
    }
    return key;
  }

  private mustWait({ dead, dueAt, lease }: ParkedKey): boolean {
    const now = this.settings.timeOfDay();
    const isLeased = lease !== undefined && lease.until > now;
    return dead || dueAt > now || isLeased || this.time.signal.aborted;
  }

  /** Handles records under a lease, until none is left, one fails, or the time is over. */
  private async drainKey(found: ParkedKey): Promise<KeyProgress> {
    const { parking } = this.settings;
    const leased = await this.acquireLease(found);
    if (leased?.lease?.holder !== this.holder) return { done: 0, key: leased };
    let key: ParkedKey = leased;
    let done = 0;
    for (;;) {
      const turn = await this.handleRecords(key);
      done += turn.done;
      if (turn.key?.lease === undefined) return { done, key: turn.key };
      key = turn.key;
      if (key.first === key.next && (await parking.remove(key))) return { done, key: undefined };
      const now = await this.readKey(key);
      if (now?.lease?.holder !== this.holder) return { done, key: now };
      key = now;
    }
  }

  /** Returns the key as it is then: without its lease if the turn is over, and with it if there may be more to do. */
  private async handleRecords(leased: ParkedKey): Promise<KeyProgress> {
    const { settings } = this;
    const { parking, clock, timeOfDay, onFailure } = settings;
    let { first, tries } = leased;
    let savedFirst = first;
    let savedAt = clock.now();
    const save = async (change: (behind: ParkedKey) => ParkedKey): Promise<KeyProgress> => {
      const key = await this.changeKey(leased, (now) => change(afterDone(now, first, timeOfDay())));
      return { done: first - leased.first, key };
    };
    const withLease = (behind: ParkedKey): ParkedKey => ({ ...behind, lease: this.lease() });
    for await (const record of parking.records(leased)) {
      const outcome = await this.replayRecord(record, tries + 1);
      if (outcome === 'unfinished') return save(released);
      if (outcome !== 'done') {
        const { error, wasCalled } = outcome;
        if (wasCalled) tries += 1;
        onFailure({ partitionKey: record.partitionKey, attempt: wasCalled ? tries : tries + 1, error, isParked: true });
        const turn = await save((behind) => {
          // Meanwhile a person has skipped the record.
          if (behind.first > first) return released(behind);
          return released(afterFailure(behind, { tries, error, isReplay: true }, settings));
        });
        if (turn.key !== undefined) notifyIfDead(leased, turn.key, settings);
        return turn;
      }
      this.handled.add(record.partitionKey, record.positions);
      first += 1;
      tries = 0;
      if (first - savedFirst < SAVED_AFTER_RECORDS && clock.now() - savedAt < SAVED_AFTER_MS) continue;
      const turn = await save(withLease);
      if (turn.key?.lease?.holder !== this.holder) return turn;
      savedFirst = first;
      savedAt = clock.now();
    }
    return save(withLease);
  }

  private async replayRecord(record: ParkedRecord, attempt: number): Promise<Outcome> {
    if (parseFence(record.data) !== undefined) {
      await this.settings.parking.markHandled(record.partitionKey, record.positions[0]!);
      return 'done';
    }
    if (this.handled.has(record.partitionKey, record.positions)) return 'done';
    return this.attempts.attempt(record, attempt);
  }

  /**
   * Changes the key while this process has the lease. Returns the key as it is stored then, even if another process holds
   * it.
   */
  private async changeKey(leased: ParkedKey, change: (now: ParkedKey) => ParkedKey): Promise<ParkedKey | undefined> {
    for (;;) {
      const now = await this.readKey(leased);
      if (now?.lease?.holder !== this.holder) return now;
      const saved = await this.settings.parking.save(change(now));
      if (saved !== undefined) return saved;
    }
  }

  private async readKey({ partitionKey }: ParkedKey): Promise<ParkedKey | undefined> {
    return (await this.settings.parking.find([partitionKey])).get(partitionKey);
  }

  private lease(): { holder: string; until: number } {
    return { holder: this.holder, until: this.settings.timeOfDay() + this.time.leaseMs };
  }
}

function released({ lease: _, ...key }: ParkedKey): ParkedKey {
  return key;
}
