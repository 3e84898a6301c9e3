import { backoffMs } from '../kernel/backoff';
import type { Clock } from '../kernel/clock';
import { EvenShardsError } from '../kernel/errors';
import { sleepUnlessAborted } from '../kernel/pause';
import { parseFence } from '../stream-format/fence';
import { type FencedMove, moveOfSource } from './fenced-move';
import type { ParkedRecord, ParkingStore } from './parking-store';

interface FenceGateOptions {
  /** Stores the progress of moves for the readers of all shards. */
  parking: ParkingStore;
  source: string;
  clock: Clock;
  random: () => number;
  /** The maximum time for which records wait for an `end` fence, in milliseconds. The limit is for all attempts together. */
  maxMoveWaitMs: number;
  /** Called for a move when the gate stops waiting for the `end` fence of the move. */
  onLetGo(move: FencedMove): void;
}

/** The consumer ran out of time while records waited for the `end` fence of a move. These records will be delivered again. */
export class MoveInProgressError extends EvenShardsError {
  constructor() {
    super('MOVE_IN_PROGRESS', 'not processed: the records wait for the end fence of a move of their key');
  }
}

/**
 * The delays between polls for the end of a move. The first delay is short: the producer wrote the `end` fence before the `start`
 * fence, so the reader of the other shard has usually almost reached the `end` fence.
 */
const POLL_BASE_MS = 100;
const POLL_CAP_MS = 2_000;

/**
 * Keeps the order of a partition key whose records have moved from one shard to another with `handOver`. It divides the records
 * of the key in a batch into runs. A caller must request the next run only after the effects of the previous run are saved.
 *
 * The records after a `start` fence wait until a reader has processed the records before the `end` fence of the same move. The
 * records wait within their batch, so after a crash the batch is simply read again. Readers cannot wait for each other in a
 * circle, because every `end` fence was written before its `start` fence.
 *
 * An `end` fence can be missing, because the fence has expired, or because the consumer began to read the shard after the fence.
 * So the records wait for at most `maxMoveWaitMs`.
 */
export class FenceGate {
  constructor(private readonly options: FenceGateOptions) {}

  /**
   * Returns the records in runs, without `start` fences and without `end` fences that have no sequence. The consumer remembers
   * the number of an `end` fence that has a sequence, and so drops late duplicates of earlier records.
   *
   * @throws MoveInProgressError if records wait for an `end` fence when the signal aborts
   */
  async *runs<R extends ParkedRecord>(records: readonly R[], signal: AbortSignal): AsyncGenerator<readonly R[]> {
    let rest = records;
    for (;;) {
      const { run, ended, waitsFor, rest: after } = firstRun(rest);
      if (run.length > 0) yield run;
      await Promise.all(ended.map((move) => this.end(move)));
      if (waitsFor === undefined) return;
      await this.waitForEnd(waitsFor, signal);
      rest = after;
    }
  }

  private async waitForEnd(move: FencedMove, signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    let waitedMs = 0;
    for (let poll = 1; !(await this.hasEnded(move, waitedMs)); poll++) {
      if (signal.aborted) throw new MoveInProgressError();
      const pausedAt = clock.now();
      await this.pause(poll, signal);
      waitedMs = clock.now() - pausedAt;
    }
  }

  /** Whether a move has ended, or readers have waited for the move for `maxMoveWaitMs`. */
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

  private pause(poll: number, signal: AbortSignal): Promise<void> {
    const { clock, random, maxMoveWaitMs } = this.options;
    const delayMs =
      POLL_BASE_MS / 2 + backoffMs(poll, { backoffBaseMs: POLL_BASE_MS, backoffCapMs: POLL_CAP_MS, random });
    return sleepUnlessAborted(Math.min(delayMs, maxMoveWaitMs), clock, signal);
  }
}

/** The records up to the first `start` fence whose move has not ended, and the remaining records. */
interface FirstRun<R> {
  run: R[];
  /** The moves that end when the run is processed. */
  ended: FencedMove[];
  /** The move of the `start` fence. Undefined if no `start` fence must wait. */
  waitsFor?: FencedMove;
  /** The records after the `start` fence. */
  rest: readonly R[];
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
        return { run, ended: [...ended.values()], waitsFor: move, rest: records.slice(index + 1) };
      }
    }
  }
  return { run, ended: [...ended.values()], rest: [] };
}
