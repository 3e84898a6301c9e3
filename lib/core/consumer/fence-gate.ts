import { backoffMs } from '../kernel/backoff';
import { type Clock, systemClock } from '../kernel/clock';
import { EvenShardsError, InvalidArgumentError } from '../kernel/errors';
import { sleepUnlessAborted } from '../kernel/pause';
import { parseFence } from '../stream-format/fence';
import type { RecordSequence } from '../stream-format/record-sequence';
import { type FencedMove, type FenceStore, MemoryFenceStore, nameOfMove } from './fence-store';

/** The part of a record that a `FenceGate` reads. */
export interface ConsumedRecord {
  /** The partition key of the record. */
  partitionKey: string;
  /** The data of the record. */
  data: Uint8Array;
  /** The sequence of the record, as `deaggregate` returns it. Absent if the record is not sequenced. */
  sequence?: RecordSequence;
}

/** What a `FenceGate` shares with other processes, and how long it waits. */
export interface FenceGateOptions {
  /**
   * Keeps what the readers of all shards know of moves. All gates of a consumer must share it.
   * @default a `MemoryFenceStore`: one gate reads all shards
   */
  store?: FenceStore;
  /**
   * How long records wait for an `end` fence at most, in milliseconds. The waits of all attempts add up. Then the gate lets
   * the move go: the records pass, perhaps before records on the old shard.
   * @default 60000
   */
  maxWaitMs?: number;
  /**
   * Is called for each move that the gate lets go. Count these calls in a metric: each one means that records may be out of
   * order.
   */
  onLetGo?(move: FencedMove): void;
  /** @default the system's clock */
  clock?: Clock;
  /** A source of numbers in [0, 1), for the time between two looks at the store. @default Math.random */
  random?(): number;
}

/** Records still wait for an `end` fence, and the signal told the gate to stop. Read them again from the fence on. */
export class MoveInProgressError extends EvenShardsError {
  constructor() {
    super('MOVE_IN_PROGRESS', 'not processed: the records wait for the end fence of a move of their key');
  }
}

const DEFAULT_MAX_WAIT_MS = 60_000;

/**
 * The times between two looks at the store. They start short: an `end` fence is written before its `start` fence, so its
 * reader is usually near.
 */
const LOOK_BASE_MS = 100;
const LOOK_CAP_MS = 2_000;

/** The records of a key from a start fence on. */
interface Held<R> {
  readonly move: FencedMove;
  /** The records after the fence. */
  readonly records: R[];
}

/**
 * Keeps the order of a partition key whose records have moved from one shard to another with `handOver`. Use it in a
 * consumer that reads several shards of a stream at the same time, in one process or in many.
 *
 * Give the gate the records of a shard as they come, batch by batch, and process the runs that it returns:
 *
 *     for await (const run of gate.runs(batch)) await processAndSave(run);
 *     await checkpoint();
 *
 * A run holds the records to process now, in order; without fences, the whole batch is one run. The gate takes the
 * fences out, but for an `end` fence with a sequence: `deduplicate` takes that one out, and drops whatever its producer
 * wrote in front of it and the network held back. Behind a `start` fence it holds the records of that key until the move has ended: until some reader has
 * processed the records in front of the `end` fence of the same move. Then they are the next run. The records of all
 * other keys are in the first run.
 *
 * To ask for the next run says that the run before is processed and that its effects are saved. To leave the loop, for
 * example with an error, says that it is not. So when the loop has ended, the whole batch is processed, and nothing is
 * held in memory behind a checkpoint. A reader that crashes reads the batch again.
 *
 * Read the shards independently of each other, because a loop can wait for another. No two loops wait for each other:
 * every `end` fence was written before its `start` fence. As always, read a shard to its end before its children. A fence
 * can be part of an aggregate, so give the gate what `deaggregate` returns, and drop copies behind it, run by run.
 *
 * Where an `end` fence never comes, because it has expired or the consumer started behind it, the gate waits for
 * `maxWaitMs` and lets the move go. It never holds a key for ever, and it never drops a record.
 */
export class FenceGate {
  private readonly store: FenceStore;
  private readonly maxWaitMs: number;
  private readonly clock: Clock;

  /** @throws InvalidArgumentError if `maxWaitMs` is not a number of milliseconds from 0 on */
  constructor(private readonly options: FenceGateOptions = {}) {
    const { store = new MemoryFenceStore(), maxWaitMs = DEFAULT_MAX_WAIT_MS, clock = systemClock } = options;
    if (!(maxWaitMs >= 0 && maxWaitMs < Infinity)) {
      throw new InvalidArgumentError('maxWaitMs', maxWaitMs, 'a number of milliseconds, at least 0');
    }
    this.store = store;
    this.maxWaitMs = maxWaitMs;
    this.clock = clock;
  }

  /**
   * The records in runs: process each, and save its effects, before you ask for the next.
   *
   * @param records the next records of one shard, or those of one key among them, in order
   * @param signal ends the waiting early, for example before the time of an invocation is over. Only records behind a
   *   `start` fence are then left to be read again
   * @throws MoveInProgressError if records wait for an `end` fence when the signal aborts
   * @throws what the store throws
   */
  async *runs<R extends ConsumedRecord>(records: Iterable<R>, signal?: AbortSignal): AsyncGenerator<R[]> {
    const { run, ended, held } = split(records);
    if (run.length > 0) yield run;
    await Promise.all(ended.map((move) => this.store.end(move)));
    if (held.length > 0) yield* this.runsOfHeld(held, signal);
  }

  private async *runsOfHeld<R extends ConsumedRecord>(all: Held<R>[], signal?: AbortSignal): AsyncGenerator<R[]> {
    let held = all;
    let waitedMs = 0;
    for (let look = 1; ; look++) {
      const hasEnded = await Promise.all(held.map(({ move }) => this.hasEnded(move, waitedMs)));
      const released = held.filter((_, index) => hasEnded[index]);
      held = held.filter((_, index) => !hasEnded[index]);
      yield* this.runs(
        released.flatMap(({ records }) => records),
        signal,
      );
      if (held.length === 0) return;
      if (signal?.aborted) throw new MoveInProgressError();
      const pausedAt = this.clock.now();
      await this.pause(look, signal);
      waitedMs = this.clock.now() - pausedAt;
    }
  }

  /** Whether a move has ended. A move counts as ended, too, once its readers have waited long enough. */
  private async hasEnded(move: FencedMove, waitedMs: number): Promise<boolean> {
    const progress = await this.store.wait(move, waitedMs);
    if (progress.hasEnded) return true;
    if (progress.waitedMs < this.maxWaitMs) return false;
    await this.store.end(move);
    this.options.onLetGo?.(move);
    return true;
  }

  private pause(look: number, signal?: AbortSignal): Promise<void> {
    const { random = Math.random } = this.options;
    const delayMs =
      LOOK_BASE_MS / 2 + backoffMs(look, { backoffBaseMs: LOOK_BASE_MS, backoffCapMs: LOOK_CAP_MS, random });
    return sleepUnlessAborted(Math.min(delayMs, this.maxWaitMs), this.clock, signal);
  }
}

/**
 * Divides a batch into the records that can be processed at once, the moves that have ended then, and the records that wait
 * for a `start` fence. An `end` fence with a sequence is processed, because its number shows which later records are
 * copies.
 */
function split<R extends ConsumedRecord>(records: Iterable<R>): { run: R[]; ended: FencedMove[]; held: Held<R>[] } {
  const run: R[] = [];
  const ended = new Map<string, FencedMove>();
  const held = new Map<string, Held<R>>();
  for (const record of records) {
    const { partitionKey } = record;
    const ofKey = held.get(partitionKey);
    const fence = parseFence(record.data);
    if (ofKey !== undefined) ofKey.records.push(record);
    else if (fence === undefined) run.push(record);
    else {
      const move = { moveId: fence.moveId, partitionKey };
      if (fence.side === 'end') {
        ended.set(nameOfMove(move), move);
        if (record.sequence !== undefined) run.push(record);
      } else if (!ended.has(nameOfMove(move))) held.set(partitionKey, { move, records: [] });
    }
  }
  return { run, ended: [...ended.values()], held: [...held.values()] };
}
