import type { Clock } from '../../kernel/clock';
import { pause } from '../../kernel/pause';

/**
 * Spaces requests so that they consume at most a given number of capacity units a second. Only its answer tells what a
 * request consumes. So each is expected to cost as much as the one before, and later requests wait for the difference. In
 * any period, requests consume at most the budget of that period, and what the requests in flight consume.
 */
export class UnitBudget {
  private freeAtMs = Number.NEGATIVE_INFINITY;
  private expected = 1;

  constructor(
    private readonly unitsPerSecond = Number.POSITIVE_INFINITY,
    private readonly clock: Clock,
    private readonly signal: AbortSignal | undefined,
  ) {}

  /** Sends a request when its turn comes. The units of a request that failed count, too. */
  async spend<T>(request: () => Promise<T>): Promise<{ answer: T; units: number }> {
    const { expected } = this;
    const startMs = Math.max(this.clock.now(), this.freeAtMs);
    this.freeAtMs = startMs + this.msOf(expected);
    await pause(startMs - this.clock.now(), this.clock, this.signal);
    const answer = await request();
    const units = consumedUnits(answer);
    this.expected = units ?? expected;
    this.freeAtMs += this.msOf(this.expected - expected);
    return { answer, units: units ?? 0 };
  }

  private msOf(units: number): number {
    return (units / this.unitsPerSecond) * 1_000;
  }
}

/** How much an answer says it consumed, of one table or of several. Undefined if it does not say it, or not as a number. */
function consumedUnits(answer: unknown): number | undefined {
  const { ConsumedCapacity }: { ConsumedCapacity?: unknown } = Object(answer);
  const tables: unknown[] = Array.isArray(ConsumedCapacity) ? ConsumedCapacity : [ConsumedCapacity];
  const units: unknown[] = tables.map((table) => Object(table).CapacityUnits);
  const isNumber = (each: unknown): each is number => typeof each === 'number' && each >= 0 && each < Infinity;
  return units.every(isNumber) ? units.reduce((sum, each) => sum + each, 0) : undefined;
}
