import type { Clock } from '../../foundation/clock';
import { pause } from './pause';

/**
 * Spaces requests so that they consume no more than so many capacity units a second. What a request consumes is known only
 * from its answer, so each is expected to cost as much as the one before, and the next ones wait for the difference. In any
 * time, requests consume at most the budget of that time, and what the requests in flight consume.
 */
export class UnitBudget {
  private freeAtMs = Number.NEGATIVE_INFINITY;
  private expected = 1;

  constructor(
    private readonly unitsPerSecond: number | undefined,
    private readonly clock: Clock,
    private readonly signal: AbortSignal | undefined,
  ) {}

  /** Sends a request when its turn comes, and returns its answer. The units of a request that failed count, too. */
  async spend<T extends { ConsumedCapacity?: { CapacityUnits?: number } }>(request: () => Promise<T>): Promise<T> {
    const { expected } = this;
    const startMs = Math.max(this.clock.now(), this.freeAtMs);
    this.freeAtMs = startMs + this.msOf(expected);
    await pause(startMs - this.clock.now(), this.clock, this.signal);
    const answer = await request();
    const consumed = answer.ConsumedCapacity?.CapacityUnits ?? expected;
    this.freeAtMs += this.msOf(consumed - expected);
    this.expected = consumed;
    return answer;
  }

  private msOf(units: number): number {
    return this.unitsPerSecond === undefined ? 0 : (units / this.unitsPerSecond) * 1_000;
  }
}
