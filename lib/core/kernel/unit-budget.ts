import type { Clock } from './clock';
import { pause } from './pause';

/**
 * Delays requests so that they consume at most a given number of units per second. The consumption of a request is known only
 * from its response. So the budget reserves the cost of the previous request. If the response shows a higher consumption than
 * reserved, the budget delays later requests. In any period, requests consume at most the budget of that period plus the
 * consumption of the requests in flight.
 */
export class UnitBudget<R = unknown> {
  private freeAtMs = Number.NEGATIVE_INFINITY;
  private expected = 1;

  /** @param unitsOf returns the units that a response reports, or undefined if it reports none */
  constructor(
    private readonly unitsPerSecond = Number.POSITIVE_INFINITY,
    private readonly clock: Clock,
    private readonly signal: AbortSignal | undefined,
    private readonly unitsOf: (response: R) => number | undefined,
  ) {}

  /** Sends a request as soon as the budget allows it. A failed request still uses its reserved units. */
  async spend<T extends R>(request: () => Promise<T>): Promise<{ response: T; units: number }> {
    const { expected } = this;
    const startMs = Math.max(this.clock.now(), this.freeAtMs);
    this.freeAtMs = startMs + this.msOf(expected);
    await pause(startMs - this.clock.now(), this.clock, this.signal);
    const response = await request();
    const units = this.unitsOf(response);
    this.expected = units ?? expected;
    this.freeAtMs += this.msOf(this.expected - expected);
    return { response, units: units ?? 0 };
  }

  private msOf(units: number): number {
    return (units / this.unitsPerSecond) * 1_000;
  }
}
