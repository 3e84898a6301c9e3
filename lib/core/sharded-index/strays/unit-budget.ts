import type { Clock } from '../../kernel/clock';
import { pause } from '../../kernel/pause';

/**
 * Delays requests so that they consume at most a given number of capacity units per second. The consumption of a request is
 * known only from its response. So the budget reserves the cost of the previous request. If the response shows a higher
 * consumption than reserved, the budget delays later requests. In any period, requests consume at most the budget of that
 * period plus the consumption of the requests in flight.
 */
export class UnitBudget {
  private freeAtMs = Number.NEGATIVE_INFINITY;
  private expected = 1;

  constructor(
    private readonly unitsPerSecond = Number.POSITIVE_INFINITY,
    private readonly clock: Clock,
    private readonly signal: AbortSignal | undefined,
  ) {}

  /** Sends a request as soon as the budget allows it. A failed request still uses its reserved units. */
  async spend<T>(request: () => Promise<T>): Promise<{ response: T; units: number }> {
    const { expected } = this;
    const startMs = Math.max(this.clock.now(), this.freeAtMs);
    this.freeAtMs = startMs + this.msOf(expected);
    await pause(startMs - this.clock.now(), this.clock, this.signal);
    const response = await request();
    const units = consumedUnits(response);
    this.expected = units ?? expected;
    this.freeAtMs += this.msOf(this.expected - expected);
    return { response, units: units ?? 0 };
  }

  private msOf(units: number): number {
    return (units / this.unitsPerSecond) * 1_000;
  }
}

/**
 * The consumed units in a response, of one table or of several tables. Undefined if the response does not report the units as
 * numbers.
 */
function consumedUnits(response: unknown): number | undefined {
  const { ConsumedCapacity }: { ConsumedCapacity?: unknown } = Object(response);
  const tables: unknown[] = Array.isArray(ConsumedCapacity) ? ConsumedCapacity : [ConsumedCapacity];
  const units: unknown[] = tables.map((table) => Object(table).CapacityUnits);
  const isNumber = (each: unknown): each is number => typeof each === 'number' && each >= 0 && each < Infinity;
  return units.every(isNumber) ? units.reduce((sum, each) => sum + each, 0) : undefined;
}
