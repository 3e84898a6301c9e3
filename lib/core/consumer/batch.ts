import { EvenShardsError } from '../kernel/errors';
import { Semaphore } from '../kernel/semaphore';
import { Attempts, type FailedAttempt, type HandlersWork, type UnendedAttempts, type WorkTime } from './attempts';
import type { ConsumerSettings } from './consumer-options';
import { FenceGate } from './fence-gate';
import { isPast, type PassedPlaces } from './handled-positions';
import { afterFailure, mayBeHalfDone, newParkedKey, tellIfDead, withAppended } from './parked-key-changes';
import { groupsOf } from './parked-segment';
import type { ParkedKey } from './parking-store';
import { type Arrival, arrivalsByKey, type SourceBatch } from './shard-record';

/** The records of one key in a batch, and how far they are done or parked. */
interface Lane extends HandlersWork {
  readonly partitionKey: string;
  readonly records: readonly Arrival[];
  /** How many of the records need not come again. */
  ended: number;
  /**
   * Where its first fence is. No record from there on ends before all of them: a fence ends only when all readers know that its
   * move has ended.
   */
  readonly limit: number;
}

/** One or several attempts that ended without success. */
interface Failed {
  error: unknown;
  attempts: number;
  /** Whether its key is set aside now. */
  isParked: boolean;
}

/** Other processes changed the key between each of our reads and writes. */
class ParkingContentionError extends EvenShardsError {
  constructor() {
    super('PARKING_CONTENTION', `not parked: another process has changed the key ${MOST_CHANGES} times meanwhile`);
  }
}

const MOST_CHANGES = 20;

/**
 * A batch of a shard. The records of a key are handled in order, and keys at the same time. A key that fails is set aside
 * alone.
 */
export class Batch {
  private readonly lanes: readonly Lane[];
  private readonly attempts: Attempts;

  constructor(
    private readonly settings: ConsumerSettings,
    private readonly passed: PassedPlaces,
    unended: UnendedAttempts,
    private readonly time: WorkTime,
    private readonly records: SourceBatch,
  ) {
    this.attempts = new Attempts(settings, unended, new Semaphore(settings.concurrency), time);
    this.lanes = Array.from(arrivalsByKey(records, settings.onCorrupt), ([partitionKey, ofKey]) => ({
      partitionKey,
      records: ofKey,
      ended: 0,
      limit: firstFence(ofKey),
      busyMs: 0,
    }));
  }

  /** The index of the first record that must come again; undefined if all are done or parked. */
  get firstToComeAgain(): number | undefined {
    let first: number | undefined;
    for (const { records, ended } of this.lanes) {
      const index = records[ended]?.batchIndex;
      if (index !== undefined && (first === undefined || index < first)) first = index;
    }
    return first;
  }

  /** How long the handlers of each key were at work. */
  get busyMs(): number[] {
    return this.lanes.map(({ busyMs }) => busyMs);
  }

  /**
   * Handles the batch. What is neither done nor parked afterwards must come again.
   *
   * @returns the problems of single keys
   * @throws what the parking store throws if it cannot say which keys are parked
   */
  async run(): Promise<unknown[]> {
    const problems: unknown[] = [];
    try {
      const keys = this.lanes.map(({ partitionKey }) => partitionKey);
      const found = await this.settings.parking.find(keys, this.time);
      const run = async (lane: Lane): Promise<void> => {
        try {
          await this.runLane(lane, found.get(lane.partitionKey));
        } catch (error) {
          problems.push(error);
        }
      };
      await Promise.all(this.lanes.map(run));
    } finally {
      this.attempts.close();
    }
    return problems;
  }

  private async runLane(lane: Lane, found: ParkedKey | undefined): Promise<void> {
    if (lane.limit === lane.records.length) return void (await this.runInOrder(lane, lane.records, found));
    const gate = new FenceGate({ ...this.settings, source: this.records.source });
    for await (const run of gate.runs(lane.records, this.time.signal)) {
      // Only now is it known what was parked on the shard that the key comes from.
      if (!(await this.runInOrder(lane, run, await this.find(lane.partitionKey)))) return;
    }
    lane.ended = lane.records.length;
  }

  /**
   * Handles the records in place while their key is not parked, and appends the others to the parked key. Returns false if
   * the time ran out first.
   */
  private async runInOrder(lane: Lane, run: readonly Arrival[], found: ParkedKey | undefined): Promise<boolean> {
    const { timeOfDay } = this.settings;
    let parked = found;
    let from = 0;
    for (let change = 0; change < MOST_CHANGES; change++) {
      let key: ParkedKey;
      if (parked === undefined) {
        const { ended, failed } = await this.handleInPlace(lane, run, from);
        from = ended;
        if (failed === undefined) return ended === run.length;
        const fresh = newParkedKey(lane.partitionKey, timeOfDay());
        key = afterFailure(fresh, { tries: failed.attempts, error: failed.error, isRetry: false }, this.settings);
      } else key = parked;
      const { past } = key;
      // This process may have applied some of these records before a record of another source parked the key.
      const isDone = ({ partitionKey, positions }: Arrival): boolean =>
        isPast(past, positions) || this.passed.has(partitionKey, positions);
      const rest = run.slice(from).filter((record) => !isDone(record));
      const saved = await this.append(key, rest);
      if (saved !== undefined) {
        tellIfDead(parked, saved, this.settings);
        this.end(lane, run.at(-1)!);
        return true;
      }
      parked = await this.find(lane.partitionKey);
    }
    throw new ParkingContentionError();
  }

  /** Appends records to a key, as many at once as a transaction can write. What was appended is in the past of the key. */
  private async append(key: ParkedKey, records: readonly Arrival[]): Promise<ParkedKey | undefined> {
    let saved: ParkedKey | undefined = key;
    for (const group of groupsOf(records)) {
      if (saved !== undefined) saved = await this.settings.parking.save(withAppended(saved, group), group);
    }
    return saved;
  }

  /** Handles records until one has failed as often as it may, or until the time is over. */
  private async handleInPlace(
    lane: Lane,
    run: readonly Arrival[],
    from: number,
  ): Promise<{ ended: number; failed?: Failed }> {
    let attempt = 1;
    for (let index = from; index < run.length; ) {
      const record = run[index]!;
      if (!this.passed.has(record.partitionKey, record.positions)) {
        const outcome = record.isFence ? await this.pass(record) : await this.attempts.attempt(record, attempt, lane);
        if (outcome === 'unfinished') return { ended: index };
        if (outcome !== 'done') {
          const failed = this.failed(record, attempt, outcome);
          if (failed.isParked) return { ended: index, failed };
          await this.attempts.backOff(attempt);
          attempt += 1;
          continue;
        }
        this.passed.add(record.partitionKey, record.positions);
      }
      this.end(lane, record);
      index += 1;
      attempt = 1;
    }
    return { ended: run.length };
  }

  private failed(
    { partitionKey, isCorrupt }: Arrival,
    attempt: number,
    { error, hasEnded, wasCalled }: FailedAttempt,
  ): Failed {
    const { attempts, onFailure } = this.settings;
    const isFinal = isCorrupt === true || mayBeHalfDone(error);
    const isParked = attempt >= attempts || !hasEnded || isFinal;
    onFailure({ partitionKey, attempt, error, isParked });
    return { error, attempts: wasCalled ? attempt : attempt - 1, isParked };
  }

  /** From now on a record that the producer wrote before the fence, and that arrives after it, counts as a copy. */
  private async pass({ partitionKey, positions }: Arrival): Promise<'done'> {
    await this.settings.parking.pass(partitionKey, positions[0]!);
    return 'done';
  }

  private async find(partitionKey: string): Promise<ParkedKey | undefined> {
    return (await this.settings.parking.find([partitionKey])).get(partitionKey);
  }

  private end(lane: Lane, record: Arrival): void {
    lane.ended = Math.min(lane.records.indexOf(record, lane.ended) + 1, lane.limit);
  }
}

function firstFence(records: readonly Arrival[]): number {
  const index = records.findIndex(({ isFence }) => isFence);
  return index < 0 ? records.length : index;
}
