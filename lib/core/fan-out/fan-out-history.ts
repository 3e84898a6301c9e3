import { InvalidArgumentError } from '../kernel/errors';
import { ItemSizes } from './item-sizes';

/** How many of the last latencies are kept. The hedging threshold follows from them. */
const LATENCIES_KEPT = 1_000;

/** With fewer latencies than this, the slowest ones are not yet known. */
const MIN_LATENCIES = 100;

/** The threshold is computed again after so many latencies. */
const THRESHOLD_LASTS = 50;

/** An answer is late after this multiple of the median latency. */
const LATE = 3;

/** How many unused hedges can be saved. Without this bound, a quiet hour would allow a flood of hedges later. */
const MAX_SAVED_HEDGES = 10;

/**
 * What earlier queries have measured. The sizes of an index's items decide how much the first reads ask for. The
 * latencies of the answers decide when an answer is late, and a late request is sent a second time (see `hedgeBudget`).
 *
 * Create one history for each client, keep it as long as the client, and pass it with every query. It holds the last
 * 1,000 latencies, and three numbers for each index.
 */
export class FanOutHistory {
  private readonly sizes = new Map<string, ItemSizes>();
  private readonly latencies: number[] = [];
  private observed = 0;
  private threshold = { ms: 0, at: Number.NEGATIVE_INFINITY };
  private savedHedges = 0;

  /**
   * The sizes of an index's items. The caller may add further sizes to them.
   *
   * @param index the name of the index among those of all tables
   * @param first the sizes to begin with if the history does not know the index yet
   *
   * @internal
   */
  sizesOf(index: string, first = new ItemSizes()): ItemSizes {
    const known = this.sizes.get(index) ?? first;
    this.sizes.set(index, known);
    return known;
  }

  /**
   * Records the latency of an answered request. Each answer earns `hedgeBudget` of a hedge, and at most 10 are saved.
   *
   * @internal
   */
  observeLatency(ms: number, hedgeBudget: number): void {
    this.latencies[this.observed % LATENCIES_KEPT] = ms;
    this.observed += 1;
    this.savedHedges = Math.min(MAX_SAVED_HEDGES, this.savedHedges + hedgeBudget);
  }

  /**
   * After how many milliseconds to send a request a second time: it is later than all but a share of `hedgeBudget` of the
   * last requests took, and later than three times their median. So the budget is spent on answers that are truly late.
   * Undefined before the history has 100 latencies.
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

  /** Spends one hedge if the requests so far have earned one, and returns whether it did. @internal */
  takeHedge(): boolean {
    if (this.savedHedges < 1) return false;
    this.savedHedges -= 1;
    return true;
  }
}

/** The largest share of requests that hedging may add. More hedges would overload the shards that they wait for. */
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
