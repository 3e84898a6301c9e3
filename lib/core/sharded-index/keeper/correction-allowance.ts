import type { Clock } from '../../kernel/clock';
import { RecentMap } from '../../kernel/recent-map';

/**
 * A keeper corrects an item this many times at once, and then one more time after each interval. A person or a program that
 * saves a whole item every ten seconds stays below this limit. The limit ends an endless exchange with a program that writes
 * old images back.
 */
export const CORRECTIONS_AT_ONCE = 300;
const CORRECTION_INTERVAL_MS = 10_000;

/**
 * The number of items whose corrections a process remembers. It remembers the most recently corrected items. A process corrects up
 * to 5,000 items a second. So if a loop changes more items than this, each item is corrected less than once in an interval.
 */
const MAX_ITEMS = 50_000;

/** Limits how often an item is corrected. */
export class CorrectionAllowance {
  private readonly left = new RecentMap<string, { corrections: number; atMs: number }>(MAX_ITEMS);

  constructor(private readonly clock: Clock) {}

  /** Whether the item may be corrected now. */
  allows(keyText: string): boolean {
    return this.leftOf(keyText) >= 1;
  }

  /** Counts a correction. */
  spend(keyText: string): void {
    this.left.set(keyText, { corrections: this.leftOf(keyText) - 1, atMs: this.clock.now() });
  }

  private leftOf(keyText: string): number {
    const before = this.left.get(keyText);
    if (before === undefined) return CORRECTIONS_AT_ONCE;
    const refilled = (this.clock.now() - before.atMs) / CORRECTION_INTERVAL_MS;
    return Math.min(CORRECTIONS_AT_ONCE, before.corrections + refilled);
  }
}
