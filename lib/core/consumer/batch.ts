import { EvenShardsError } from '../kernel/errors';
import { settlesUnlessAborted } from '../kernel/pause';
import { Semaphore } from '../kernel/semaphore';
import { Attempts, type FailedAttempt, type HandlersWork } from './attempts';
import type { ConsumerSettings } from './consumer-options';
import { FenceGate } from './fence-gate';
import { isCovered } from './handled-positions';
import { afterFailure, mayBePartlyApplied, newParkedKey, notifyIfDead, withAppended } from './parked-key-changes';
import { groupsOf } from './parked-segment';
import type { ParkedKey } from './parking-store';
import type { ProcessState } from './process-state';
import { type Arrival, arrivalsByKey, type SourceBatch } from './shard-record';
import type { WorkTime } from './work-time';

/** The records of one key in a batch, and how many of them are finished: handled or parked. */
interface KeyQueue extends HandlersWork {
  readonly partitionKey: string;
  readonly records: readonly Arrival[];
  /** How many records at the beginning of the queue are finished. Finished records need not be delivered again. */
  finished: number;
  /**
   * The index of the first fence, or the number of records if there is no fence. The records from this index on become finished
   * together, when all of them are handled or parked. Until then, the parking store must not show the end of a move to the
   * readers of other shards.
   */
  readonly firstFence: number;
}

interface HandledInPlace {
  rest: readonly Arrival[];
  /** The key to park, if a record has failed. If `key` is absent and `rest` has records, the time for the batch has run out. */
  key?: ParkedKey;
}

/** The records were not parked: before each write of this process, another process had changed the key. */
class ParkingContentionError extends EvenShardsError {
  constructor() {
    super('PARKING_CONTENTION', `not parked: other processes changed the key before each of ${MAX_CHANGES} attempts`);
  }
}

const MAX_CHANGES = 20;

/**
 * Handles a batch of a shard: the records of one key in order, and different keys in parallel. If a record fails, only its key is
 * parked.
 */
export class Batch {
  private readonly queues: readonly KeyQueue[];
  private readonly attempts: Attempts;

  constructor(
    private readonly settings: ConsumerSettings,
    private readonly state: ProcessState,
    private readonly time: WorkTime,
    private readonly records: SourceBatch,
  ) {
    this.attempts = new Attempts(settings, state, new Semaphore(settings.concurrency), time);
    this.queues = Array.from(arrivalsByKey(records, settings.onCorrupt), ([partitionKey, ofKey]) => ({
      partitionKey,
      records: ofKey,
      finished: 0,
      firstFence: firstFence(ofKey),
      busyMs: 0,
    }));
  }

  /**
   * The index of the first record that is neither handled nor parked, and so must be delivered again. Undefined if there is no
   * such record.
   */
  get firstUnfinished(): number | undefined {
    let first: number | undefined;
    for (const { records, finished } of this.queues) {
      const index = records[finished]?.batchIndex;
      if (index !== undefined && (first === undefined || index < first)) first = index;
    }
    return first;
  }

  get busyMs(): number[] {
    return this.queues.map(({ busyMs }) => busyMs);
  }

  /**
   * Handles the batch. The records from `firstUnfinished` on must be delivered again.
   *
   * @returns the errors of keys whose records could not be handled or parked
   * @throws the error of the parking store if it cannot read which keys are parked
   */
  async process(): Promise<unknown[]> {
    const problems: unknown[] = [];
    try {
      const keys = this.queues.map(({ partitionKey }) => partitionKey);
      const parked = await this.settings.parking.find(keys, this.time);
      const processOne = async (queue: KeyQueue): Promise<void> => {
        try {
          await this.processQueue(queue, parked.get(queue.partitionKey));
        } catch (error) {
          problems.push(error);
        }
      };
      await Promise.all(this.queues.map(processOne));
    } finally {
      this.attempts.close();
    }
    return problems;
  }

  private async processQueue(queue: KeyQueue, parked: ParkedKey | undefined): Promise<void> {
    const { records, firstFence, partitionKey } = queue;
    if (firstFence === records.length) return void (await this.handleOrPark(queue, records, parked));
    const gate = new FenceGate({ ...this.settings, source: this.records.source });
    for await (const run of gate.runs(records, this.time.signal)) {
      // Reads the parked key only now, because the reader of the key's old shard may have parked the key before the move ended.
      if (!(await this.handleOrPark(queue, run, await this.findParkedKey(partitionKey)))) return;
    }
    queue.finished = records.length;
  }

  /**
   * Handles records while their key is not parked, and appends the remaining records to the parked key. Returns false if the time
   * runs out before all records are handled or parked.
   */
  private async handleOrPark(
    queue: KeyQueue,
    records: readonly Arrival[],
    found: ParkedKey | undefined,
  ): Promise<boolean> {
    let parked = found;
    let rest = records;
    for (let change = 0; change < MAX_CHANGES; change++) {
      const parking = this.state.parkingOf(queue.partitionKey);
      if (parked === undefined && parking !== undefined) {
        // An earlier batch is still parking the key, perhaps with the same records.
        if (!(await settlesUnlessAborted(parking, this.time.signal))) return false;
        parked = await this.findParkedKey(queue.partitionKey);
        continue;
      }
      let key = parked;
      if (parked === undefined) ({ rest, key } = await this.handleInPlace(queue, rest));
      if (key === undefined) return rest.length === 0;
      const saved = await this.append(key, rest);
      if (saved !== undefined) {
        notifyIfDead(parked, saved, this.settings);
        this.finishUpTo(queue, records.at(-1)!);
        return true;
      }
      parked = await this.findParkedKey(queue.partitionKey);
    }
    throw new ParkingContentionError();
  }

  /** Handles records until a record has no attempts left, or until the time runs out. */
  private async handleInPlace(queue: KeyQueue, records: readonly Arrival[]): Promise<HandledInPlace> {
    let attempt = 1;
    let lastError: unknown;
    for (let index = 0; index < records.length; ) {
      const record = records[index]!;
      if (!this.state.handled.has(record.partitionKey, record.positions)) {
        let outcome = record.isFence
          ? await this.skipFence(record)
          : await this.attempts.attempt(record, attempt, queue);
        if (outcome === 'unfinished') {
          if (!this.isLastChance(attempt)) return { rest: records.slice(index) };
          outcome = { error: lastError, hasEnded: false, wasCalled: false };
        }
        if (outcome !== 'done') {
          lastError = outcome.error;
          const key = this.handleFailure(record, attempt, outcome);
          if (key !== undefined) return { rest: records.slice(index), key };
          await this.attempts.backOff(attempt);
          attempt += 1;
          continue;
        }
      }
      this.finishUpTo(queue, record);
      index += 1;
      attempt = 1;
    }
    return { rest: [] };
  }

  /**
   * Whether a record must be parked because an invocation has no time for its remaining attempts. If Lambda delivered the
   * record again, its attempts would begin again, and they could run out of time forever.
   */
  private isLastChance(attempt: number): boolean {
    return attempt > 1 && this.time.longAttemptMs !== undefined;
  }

  /** Reports a failed attempt. Returns the key to park if the record must not be tried again in this batch. */
  private handleFailure(
    { partitionKey, isCorrupt }: Arrival,
    attempt: number,
    { error, hasEnded, wasCalled }: FailedAttempt,
  ): ParkedKey | undefined {
    const { attempts, onFailure, timeOfDay } = this.settings;
    const isFinal = isCorrupt === true || mayBePartlyApplied(error);
    const isParked = attempt >= attempts || !hasEnded || isFinal;
    onFailure({ partitionKey, attempt, error, isParked });
    if (!isParked) return undefined;
    const minWaitMs = hasEnded ? 0 : this.time.handlersRunForMs();
    const failure = { tries: wasCalled ? attempt : attempt - 1, error, isReplay: false, minWaitMs };
    return afterFailure(newParkedKey(partitionKey, timeOfDay()), failure, this.settings);
  }

  /**
   * Marks the fence as handled. If a duplicate of an earlier record arrives after the fence, the consumer then recognises the
   * duplicate by its number.
   */
  private async skipFence({ partitionKey, positions }: Arrival): Promise<'done'> {
    await this.settings.parking.markHandled(partitionKey, positions[0]!);
    this.state.handled.add(partitionKey, positions);
    return 'done';
  }

  /**
   * Appends records to a parked key, without duplicates, in groups that each fit into a transaction. Returns undefined if another
   * process has changed the key. In this case, `parkedUpTo` of the stored key shows which records are already appended.
   */
  private async append(key: ParkedKey, records: readonly Arrival[]): Promise<ParkedKey | undefined> {
    const { parkedUpTo } = key;
    // A record of another source may have parked the key after this process had handled some of these records.
    const isDuplicate = ({ partitionKey, positions }: Arrival): boolean =>
      isCovered(parkedUpTo, positions) || this.state.handled.has(partitionKey, positions);
    const save = async (): Promise<ParkedKey | undefined> => {
      let saved: ParkedKey | undefined = key;
      for (const group of groupsOf(records.filter((record) => !isDuplicate(record)))) {
        if (saved !== undefined)
          saved = await this.settings.parking.save(withAppended(saved, group), group, { signal: this.time.over });
      }
      return saved;
    };
    return this.state.park(key.partitionKey, save);
  }

  private async findParkedKey(partitionKey: string): Promise<ParkedKey | undefined> {
    return (await this.settings.parking.find([partitionKey])).get(partitionKey);
  }

  private finishUpTo(queue: KeyQueue, record: Arrival): void {
    queue.finished = Math.min(queue.records.indexOf(record, queue.finished) + 1, queue.firstFence);
  }
}

function firstFence(records: readonly Arrival[]): number {
  const index = records.findIndex(({ isFence }) => isFence);
  return index < 0 ? records.length : index;
}
