import { callWithin } from '../kernel/call-within';
import type { Clock } from '../kernel/clock';
import { ShardCountsUnavailableError } from './adaptive-count-errors';
import { MAX_COUNT_AGE_MS, REFRESH_AFTER_MS } from './count-age';

/** A time, measured by the clock of the process (`ms`) and by the time of day. */
export interface Moment {
  readonly ms: number;
  readonly timeOfDay: number;
}

/** A value, and the time when the request for the value was sent. The value is at least as recent as that time. */
export interface TimedValue<T> {
  readonly value: T;
  readonly requestedAt: Moment;
}

/**
 * After a failure, no request is sent for this time. Otherwise each caller would wait for a request that most likely fails, too.
 */
const PAUSE_AFTER_FAILURE_MS = 1_000;

/**
 * Caches a value that other processes change. The cached value expires after 30 seconds, and is refreshed in the
 * background before that.
 */
export class CachedValue<T> {
  private cached: TimedValue<T> | undefined;
  private inFlight: Promise<TimedValue<T>> | undefined;
  private failure: { error: unknown; atMs: number } | undefined;

  /**
   * @param read reads the current value; its argument is the cached value
   * @param now returns the current time
   * @param onUnavailable called with the error if the value cannot be read
   */
  constructor(
    private readonly clock: Clock,
    private readonly now: () => Moment,
    private readonly read: (before: T | undefined) => Promise<TimedValue<T>>,
    private readonly onUnavailable?: (error: unknown) => void,
  ) {}

  /**
   * @param withinMs how long to wait for the value, in milliseconds
   * @throws ShardCountsUnavailableError if the value cannot be read in time, and the cached value has expired
   */
  async value(withinMs = Number.POSITIVE_INFINITY): Promise<T> {
    const cached = this.usable() ?? (await this.refreshWithin(withinMs));
    if (!this.isFresh(cached)) throw new ShardCountsUnavailableError();
    return cached.value;
  }

  /** Returns the cached value unless it has expired. Refreshes an old value in the background. */
  private usable(): TimedValue<T> | undefined {
    const { cached } = this;
    if (cached === undefined || !this.isFresh(cached)) return undefined;
    if (this.ageOf(cached) >= REFRESH_AFTER_MS) this.refresh().catch(() => {});
    return cached;
  }

  private isFresh(cached: TimedValue<T>): boolean {
    return this.ageOf(cached) < MAX_COUNT_AGE_MS;
  }

  /**
   * The age of a cached value. This is the larger of two ages: by the clock of the process, and by the time of day. The clock
   * of the process can stop while the process is frozen, and the time of day can be set back.
   */
  private ageOf({ requestedAt }: TimedValue<T>): number {
    const { ms, timeOfDay } = this.now();
    return Math.max(ms - requestedAt.ms, timeOfDay - requestedAt.timeOfDay);
  }

  /** Refreshes the cached value. Concurrent callers share one request. */
  private refresh(): Promise<TimedValue<T>> {
    const { failure } = this;
    if (failure !== undefined && this.clock.now() - failure.atMs < PAUSE_AFTER_FAILURE_MS) {
      return Promise.reject(failure.error);
    }
    this.inFlight ??= this.load().finally(() => {
      this.inFlight = undefined;
    });
    return this.inFlight;
  }

  /**
   * Refreshes the cached value, and waits for at most `ms` milliseconds. After that, the request continues for other
   * callers.
   */
  private refreshWithin(ms: number): Promise<TimedValue<T>> {
    const refreshed = this.refresh();
    return callWithin({ ms, clock: this.clock }, () => refreshed).catch((cause) => {
      throw cause instanceof ShardCountsUnavailableError ? cause : new ShardCountsUnavailableError({ cause });
    });
  }

  private async load(): Promise<TimedValue<T>> {
    try {
      this.cached = await this.read(this.cached?.value);
      this.failure = undefined;
      return this.cached;
    } catch (cause) {
      const error = new ShardCountsUnavailableError({ cause });
      this.failure = { error, atMs: this.clock.now() };
      this.onUnavailable?.(cause);
      throw error;
    }
  }
}
