import { InvalidArgumentError } from '../errors';
import { ItemSizes } from './item-sizes';

/** Latencies that the hedging threshold is taken from. */
const LATENCIES_KEPT = 1_000;

/** Too few latencies say nothing about a tail. */
const FEWEST_LATENCIES = 100;

/** The threshold is computed anew after so many latencies. */
const THRESHOLD_LASTS = 50;

/** An answer is late after so many times the median. */
const LATE = 3;

/** Hedges that can be saved up, so that a quiet hour does not pay for a storm. */
const MOST_SAVED_HEDGES = 10;

/**
 * What earlier queries have shown: how large an index's items are, which sizes the first reads, and how long answers
 * take, which says when one is late. Keep one for as long as the client, and pass it with every query.
 */
export class FanOutHistory {
  private readonly sizes = new Map<string, ItemSizes>();
  private readonly latencies: number[] = [];
  private observed = 0;
  private threshold = { ms: 0, at: Number.NEGATIVE_INFINITY };
  private savedHedges = 0;

  /** The sizes of an index's items, which the caller may go on observing. */
  sizesOf(index: string, first = new ItemSizes()): ItemSizes {
    const known = this.sizes.get(index) ?? first;
    this.sizes.set(index, known);
    return known;
  }

  /** Counts a request that was answered, and with it a share of a hedge. */
  observeLatency(ms: number, hedgeBudget: number): void {
    this.latencies[this.observed % LATENCIES_KEPT] = ms;
    this.observed += 1;
    this.savedHedges = Math.min(MOST_SAVED_HEDGES, this.savedHedges + hedgeBudget);
  }

  /**
   * When to send a request a second time: after as long as all but `hedgeBudget` of the last requests took, and at
   * least after a multiple of what is usual, so that the budget is there for answers that are truly late.
   */
  hedgeAfterMs(hedgeBudget: number): number | undefined {
    if (this.observed < FEWEST_LATENCIES) return undefined;
    if (this.observed - this.threshold.at >= THRESHOLD_LASTS) {
      const sorted = [...this.latencies].sort((a, b) => a - b);
      const quantile = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)]!;
      const ms = Math.max(quantile(1 - hedgeBudget), LATE * quantile(0.5));
      this.threshold = { ms, at: this.observed };
    }
    return this.threshold.ms;
  }

  /** Spends a hedge, if the requests so far have earned one. */
  takeHedge(): boolean {
    if (this.savedHedges < 1) return false;
    this.savedHedges -= 1;
    return true;
  }
}

/** The most of all requests that hedging may add. Beyond it, hedges make the trouble they are against. */
const LARGEST_HEDGE_BUDGET = 0.1;

export function checkHedgeBudget(hedgeBudget: unknown): void {
  const valid = typeof hedgeBudget === 'number' && hedgeBudget >= 0 && hedgeBudget <= LARGEST_HEDGE_BUDGET;
  if (!valid) {
    throw new InvalidArgumentError('hedgeBudget', hedgeBudget, `a share of the requests, 0 to ${LARGEST_HEDGE_BUDGET}`);
  }
}
