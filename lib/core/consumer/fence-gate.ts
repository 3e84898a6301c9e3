import { backoffMs } from '../kernel/backoff';
import type { Clock } from '../kernel/clock';
import { EvenShardsError } from '../kernel/errors';
import { sleepUnlessAborted } from '../kernel/pause';
import { parseFence } from '../stream-format/fence';
import { type FencedMove, moveOfSource } from './fenced-move';
import type { ParkedRecord, ParkingStore } from './parking-store';

/** The options of a gate. */
interface FenceGateOptions {
  /** Keeps what the readers of all shards know of moves. */
  parking: ParkingStore;
  /** The name of the source of the records. */
  source: string;
  clock: Clock;
  random: () => number;
  /** How long records wait for an `end` fence, in milliseconds. The waits of all attempts add up. */
  maxMoveWaitMs: number;
  /** Called for each move for whose `end` fence the gate no longer waits. */
  onLetGo(move: FencedMove): void;
}

/** Records still wait for an `end` fence, and the time of the consumer is over. They come again from the fence on. */
export class MoveInProgressError extends EvenShardsError {
  constructor() {
    super('MOVE_IN_PROGRESS', 'not processed: the records wait for the end fence of a move of their key');
  }
}

/** The times between two looks at a move start short: its `end` fence was written first, so the reader of that fence is usually near. */
const LOOK_BASE_MS = 100;
const LOOK_CAP_MS = 2_000;

/**
 * Keeps the order of a partition key whose records have moved from one shard to another with `handOver`. It divides the records of
 * the key in a batch into runs. To ask for the next run says that the run before is processed and its effects are saved.
 *
 * After a `start` fence, the records wait until some reader has processed the records in front of the `end` fence of the same move.
 * They wait in the loop over their batch, so a reader that crashes only reads the batch again. No two readers wait for each other,
 * because every `end` fence was written before its `start` fence.
 *
 * An `end` fence can be missing: it has expired, or the consumer began after it. After `maxMoveWaitMs` the records go on.
 */
export class FenceGate {
  constructor(private readonly options: FenceGateOptions) {}

  /**
   * The records in runs, without the fences. An `end` fence with a sequence stays: the consumer remembers its number, and drops
   * records that the producer wrote before it and that arrive later.
   *
   * @throws MoveInProgressError if records wait for an `end` fence when the signal aborts
   */
  async *runs<R extends ParkedRecord>(records: readonly R[], signal: AbortSignal): AsyncGenerator<readonly R[]> {
    let rest = records;
    for (;;) {
      const { run, ended, waitsFor, behind } = firstRun(rest);
      if (run.length > 0) yield run;
      await Promise.all(ended.map((move) => this.end(move)));
      if (waitsFor === undefined) return;
      await this.waitForEnd(waitsFor, signal);
      rest = behind;
    }
  }

  private async waitForEnd(move: FencedMove, signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    let waitedMs = 0;
    for (let look = 1; !(await this.hasEnded(move, waitedMs)); look++) {
      if (signal.aborted) throw new MoveInProgressError();
      const pausedAt = clock.now();
      await this.pause(look, signal);
      waitedMs = clock.now() - pausedAt;
    }
  }

  /** Whether a move has ended. It also counts as ended when its readers have waited for `maxMoveWaitMs`. */
  private async hasEnded(move: FencedMove, waitedMs: number): Promise<boolean> {
    const { parking, source, maxMoveWaitMs, onLetGo } = this.options;
    const progress = await parking.waitForMove(moveOfSource(source, move), waitedMs);
    if (progress.hasEnded) return true;
    if (progress.waitedMs < maxMoveWaitMs) return false;
    await this.end(move);
    onLetGo(move);
    return true;
  }

  private end(move: FencedMove): Promise<void> {
    return this.options.parking.endMove(moveOfSource(this.options.source, move));
  }

  private pause(look: number, signal: AbortSignal): Promise<void> {
    const { clock, random, maxMoveWaitMs } = this.options;
    const delayMs =
      LOOK_BASE_MS / 2 + backoffMs(look, { backoffBaseMs: LOOK_BASE_MS, backoffCapMs: LOOK_CAP_MS, random });
    return sleepUnlessAborted(Math.min(delayMs, maxMoveWaitMs), clock, signal);
  }
}

/** The records up to the first `start` fence whose move has not ended, and what comes after them. */
interface FirstRun<R> {
  /** The records to process now. */
  run: R[];
  /** The moves that have ended when the run is processed. */
  ended: FencedMove[];
  /** The move of the `start` fence. Undefined if there is none. */
  waitsFor?: FencedMove;
  /** The records after the `start` fence. */
  behind: readonly R[];
}

function firstRun<R extends ParkedRecord>(records: readonly R[]): FirstRun<R> {
  const run: R[] = [];
  const ended = new Map<string, FencedMove>();
  for (const [index, record] of records.entries()) {
    const fence = parseFence(record.data);
    if (fence === undefined) run.push(record);
    else {
      const move = { moveId: fence.moveId, partitionKey: record.partitionKey };
      if (fence.side === 'end') {
        ended.set(fence.moveId, move);
        if (record.sequence !== undefined) run.push(record);
      } else if (!ended.has(fence.moveId)) {
        return { run, ended: [...ended.values()], waitsFor: move, behind: records.slice(index + 1) };
      }
    }
  }
  return { run, ended: [...ended.values()], behind: [] };
}
