import { randomUUID } from 'node:crypto';
import { Semaphore } from '../kernel/semaphore';
import { parseFence } from '../stream-format/fence';
import { Attempts, type Outcome } from './attempts';
import type { ConsumerSettings } from './consumer-options';
import { afterDone, afterFailure, notifyIfDead } from './parked-key-changes';
import type { ParkedKey, ParkedRecord } from './parking-store';
import type { ProcessState } from './process-state';
import type { WorkTime } from './work-time';

/** The result of a replay of parked keys. */
export interface ReplaySummary {
  /** How many keys are no longer parked. */
  keys: number;
  /** How many records are done, including records that had already taken effect. */
  records: number;
  /** How many keys are still parked, including dead keys. */
  stillParked: number;
  /** How many of the parked keys are dead. */
  dead: number;
  /** The longest time for which a first record has blocked its key, in milliseconds; 0 if no key is parked. */
  oldestMs: number;
}

/** Progress is saved, and the lease begins again, after this number of records or this time, whichever comes first. */
const SAVED_AFTER_RECORDS = 100;
const SAVED_AFTER_MS = 5_000;

interface KeyProgress {
  done: number;
  key: ParkedKey | undefined;
}

/** Replays parked keys: several keys in parallel, and the records of each key in order. */
export class Replay {
  /** The name of this replay in leases. */
  private readonly holder = randomUUID();
  private readonly attempts: Attempts;
  private readonly keySlots: Semaphore;
  private readonly summary: ReplaySummary = { keys: 0, records: 0, stillParked: 0, dead: 0, oldestMs: 0 };

  constructor(
    private readonly settings: ConsumerSettings,
    private readonly state: ProcessState,
    private readonly time: WorkTime,
  ) {
    this.attempts = new Attempts(settings, state, new Semaphore(settings.concurrency), time);
    this.keySlots = new Semaphore(settings.concurrency);
  }

  /**
   * Replays all parked keys. If a key cannot be read or written, the replay continues with the other keys, and throws the error
   * at the end.
   */
  async replayKeys(): Promise<ReplaySummary> {
    const problems: unknown[] = [];
    const replays: Promise<void>[] = [];
    try {
      for await (const key of this.settings.parking.keys()) {
        await new Promise<void>((resolve) => this.keySlots.acquire(resolve));
        const replay = this.replayKey(key).catch((error) => void problems.push(error));
        replays.push(replay.finally(() => this.keySlots.release()));
      }
    } catch (error) {
      problems.push(error);
    }
    await Promise.all(replays);
    this.attempts.close();
    if (problems.length > 0) throw problems[0];
    return this.summary;
  }

  private async replayKey(key: ParkedKey): Promise<void> {
    const { done, key: remaining } = await this.drainKey(key);
    this.summary.records += done;
    if (remaining === undefined) this.summary.keys += 1;
    else {
      this.summary.stillParked += 1;
      if (remaining.dead) this.summary.dead += 1;
      this.summary.oldestMs = Math.max(this.summary.oldestMs, this.settings.timeOfDay() - remaining.since);
    }
  }

  /**
   * Takes the lease of a key, if the key is due. Returns the stored key. If the key must wait, the stored key does not have a
   * lease of this replay.
   */
  private async acquireLease(found: ParkedKey): Promise<ParkedKey | undefined> {
    let key: ParkedKey | undefined = found;
    while (key !== undefined && !this.mustWait(key)) {
      const saved = await this.settings.parking.save({ ...key, lease: this.lease() });
      if (saved !== undefined) return saved;
      // Another process has appended records since this process read the key, or has taken the lease.
      key = await this.readKey(key);
    }
    return key;
  }

  private mustWait({ dead, dueAt, lease }: ParkedKey): boolean {
    const now = this.settings.timeOfDay();
    const isLeased = lease !== undefined && lease.until > now;
    return dead || dueAt > now || isLeased || this.time.signal.aborted;
  }

  /** Takes the lease of a key, and handles its records until all records are done, a record fails, or the time runs out. */
  private async drainKey(found: ParkedKey): Promise<KeyProgress> {
    const { parking } = this.settings;
    const leased = await this.acquireLease(found);
    if (leased?.lease?.holder !== this.holder) return { done: 0, key: leased };
    let key: ParkedKey = leased;
    let done = 0;
    for (;;) {
      const progress = await this.handleRecords(key);
      done += progress.done;
      if (progress.key?.lease === undefined) return { done, key: progress.key };
      key = progress.key;
      if (key.first === key.next && (await parking.remove(key))) return { done, key: undefined };
      const now = await this.readKey(key);
      if (now?.lease?.holder !== this.holder) return { done, key: now };
      key = now;
    }
  }

  /**
   * Handles the stored records of a key. Returns the stored key. The stored key has a lease if there may be more records, and no
   * lease if the replay of the key is over.
   */
  private async handleRecords(leased: ParkedKey): Promise<KeyProgress> {
    const { settings } = this;
    const { parking, timeOfDay, onFailure } = settings;
    let { first, tries } = leased;
    let saved = leased;
    const save = async (change: (state: ParkedKey) => ParkedKey): Promise<KeyProgress> => {
      const key = await this.changeKey(leased, (now) => change(afterDone(now, first, timeOfDay())));
      return { done: first - leased.first, key };
    };
    const withLease = (state: ParkedKey): ParkedKey => ({ ...state, lease: this.lease() });
    for await (const record of parking.records(leased)) {
      if (first - saved.first >= SAVED_AFTER_RECORDS || this.leaseAgeMs(saved) >= SAVED_AFTER_MS) {
        const progress = await save(withLease);
        if (progress.key?.lease?.holder !== this.holder) return progress;
        saved = progress.key;
        // The store took half of the lease for this write. The rest can be too short for another attempt.
        if (this.leaseAgeMs(saved) >= this.time.leaseMs / 2) return save(released);
      }
      const outcome = await this.replayRecord(record, tries + 1);
      if (outcome === 'unfinished') return save(released);
      if (outcome !== 'done') {
        const { error, wasCalled, hasEnded } = outcome;
        if (wasCalled) tries += 1;
        onFailure({ partitionKey: record.partitionKey, attempt: wasCalled ? tries : tries + 1, error, isParked: true });
        const minWaitMs = hasEnded ? 0 : this.time.handlersRunForMs();
        const progress = await save((state) => {
          // If a person skipped the record during the attempt, the failure does not count for the key.
          if (state.first > first) return released(state);
          return released(afterFailure(state, { tries, error, isReplay: true, minWaitMs }, settings));
        });
        if (progress.key !== undefined) notifyIfDead(leased, progress.key, settings);
        return progress;
      }
      first += 1;
      tries = 0;
    }
    return save(withLease);
  }

  private async replayRecord(record: ParkedRecord, attempt: number): Promise<Outcome> {
    if (record.isCorrupt !== true && parseFence(record.data) !== undefined) {
      await this.settings.parking.markHandled(record.partitionKey, record.positions[0]!);
      this.state.handled.add(record.partitionKey, record.positions);
      return 'done';
    }
    if (this.state.handled.has(record.partitionKey, record.positions)) return 'done';
    return this.attempts.attempt(record, attempt);
  }

  /** Changes the key while this process has the lease. Returns the stored key, even if another process has the lease. */
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

  /** The time since a key was written with a lease of this replay. It includes the time of the write. */
  private leaseAgeMs({ lease }: ParkedKey): number {
    return this.settings.timeOfDay() - (lease!.until - this.time.leaseMs);
  }

  private lease(): { holder: string; until: number } {
    return { holder: this.holder, until: this.settings.timeOfDay() + this.time.leaseMs };
  }
}

function released({ lease: _, ...key }: ParkedKey): ParkedKey {
  return key;
}
