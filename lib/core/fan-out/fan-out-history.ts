import { InvalidArgumentError } from '../kernel/errors';
import { ItemSizes } from './item-sizes';

/** How many of the most recent latencies the history keeps, to compute the hedging threshold. */
const LATENCIES_KEPT = 1_000;

/** The hedging threshold needs at least this number of latencies. */
const MIN_LATENCIES = 100;

/** The threshold is computed again after this number of new latencies. */
const THRESHOLD_LASTS = 50;

/** A response is late only after this multiple of the median latency. */
const LATE = 3;

/**
 * The maximum number of unused hedges to save. Without this bound, many queries without a hedge would allow a burst of hedges
 * later.
 */
const MAX_SAVED_HEDGES = 10;

/**
 * The measurements of earlier queries. The sizes of an index's items determine the limits of the first reads. The latencies of
 * responses determine when to hedge a request (see `hedgeBudget`).
 *
 * Create one history for each client, keep the history as long as you keep the client, and pass it with every query. A history
 * holds the last 1,000 latencies, and three numbers for each index.
 */
export class FanOutHistory {
  private readonly sizes = new Map<string, ItemSizes>();
  private readonly latencies: number[] = [];
  private observed = 0;
  private threshold = { ms: 0, at: Number.NEGATIVE_INFINITY };
  private savedHedges = 0;

  /**
   * Returns the sizes of an index's items. The caller may add sizes.
   *
   * @param index the unique name of the index
   * @param first the initial sizes of an index without history
   *
   * @internal
   */
  sizesOf(index: string, first = new ItemSizes()): ItemSizes {
    const known = this.sizes.get(index) ?? first;
    this.sizes.set(index, known);
    return known;
  }

  /**
   * Records the latency of a response. Each response adds `hedgeBudget` to the saved hedges. At most 10 hedges are
   * saved.
   *
   * @internal
   */
  observeLatency(ms: number, hedgeBudget: number): void {
    this.latencies[this.observed % LATENCIES_KEPT] = ms;
    this.observed += 1;
    this.savedHedges = Math.min(MAX_SAVED_HEDGES, this.savedHedges + hedgeBudget);
  }

  /**
   * Returns how long to wait for a response before a hedge, in milliseconds. Of the recent requests, only a share of
   * `hedgeBudget` took longer than this time, and this time is at least three times the median latency. So queries spend the
   * budget only on requests that are clearly late. Returns undefined until the history has 100 latencies.
   *
   * @internal
   */
  hedgeAfterMs(hedgeBudget: number): number | undefined {
    if (this.observed < MIN_LATENCIES) return undefined;
    if (this.observed - this.threshold.at >= THRESHOLD_LASTS) {
      const sorted = [...this.latencies].sort((a, b) => a - b);
      const quantile = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)]!;
      const ms = Math.max(quantile(1 - hedgeBudget), LATE * quantile(0.5));
      this.threshold = { ms, at: this.observed };
    }
    return this.threshold.ms;
  }

  /** Uses one saved hedge. Returns false if no hedge is saved. @internal */
  takeHedge(): boolean {
    if (this.savedHedges < 1) return false;
    this.savedHedges -= 1;
    return true;
  }
}

/** The maximum of `hedgeBudget`, the share of additional requests. More hedges would overload slow shards. */
const MAX_HEDGE_BUDGET = 0.1;

export function checkHedgeBudget(hedgeBudget: unknown): void {
  const valid = typeof hedgeBudget === 'number' && hedgeBudget >= 0 && hedgeBudget <= MAX_HEDGE_BUDGET;
  if (!valid) {
    throw new InvalidArgumentError(
      'hedgeBudget',
      hedgeBudget,
      `a share of the requests, from 0 to ${MAX_HEDGE_BUDGET}`,
    );
  }
}
