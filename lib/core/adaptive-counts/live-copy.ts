import { callWithin } from '../kernel/call-within';
import type { Clock } from '../kernel/clock';
import { ShardCountsUnavailableError } from './adaptive-count-errors';
import { COPY_LIFE_MS, REFRESH_AFTER_MS } from './copy-life';

/** A time, by the clock of the process and by the time of day. */
export interface Moment {
  readonly ms: number;
  readonly timeOfDay: number;
}

/** A value, and the time when its request was sent. The value is at least as recent as that time. */
export interface Answer<T> {
  readonly value: T;
  readonly askedAt: Moment;
}

/**
 * After a failure, send no request for this time. Otherwise each caller would wait for a request that most likely
 * fails, too.
 */
const PAUSE_AFTER_FAILURE_MS = 1_000;

/**
 * Caches a value that other processes change. The cached value expires after 30 seconds, and is refreshed in the
 * background before that.
 */
export class LiveCopy<T> {
  private copy: Answer<T> | undefined;
  private asking: Promise<Answer<T>> | undefined;
  private failure: { error: unknown; atMs: number } | undefined;

  /**
   * @param read reads the current value; its argument is the cached value
   * @param now returns the current time
   * @param onUnavailable called with the error if the value cannot be read
   */
  constructor(
    private readonly clock: Clock,
    private readonly now: () => Moment,
    private readonly read: (before: T | undefined) => Promise<Answer<T>>,
    private readonly onUnavailable?: (error: unknown) => void,
  ) {}

  /**
   * @param withinMs how long to wait for the value, in milliseconds
   * @throws ShardCountsUnavailableError if the value cannot be read in time, and the cached value has expired
   */
  async value(withinMs = Number.POSITIVE_INFINITY): Promise<T> {
    const copy = this.usable() ?? (await this.askWithin(withinMs));
    if (!this.isFresh(copy)) throw new ShardCountsUnavailableError();
    return copy.value;
  }

  /** Returns the cached value unless it has expired. Refreshes an old value in the background. */
  private usable(): Answer<T> | undefined {
    const { copy } = this;
    if (copy === undefined || !this.isFresh(copy)) return undefined;
    if (this.ageOf(copy) >= REFRESH_AFTER_MS) this.ask().catch(() => {});
    return copy;
  }

  private isFresh(copy: Answer<T>): boolean {
    return this.ageOf(copy) < COPY_LIFE_MS;
  }

  /**
   * The age of a cached value: the larger age by the two clocks. The clock of the process can stop while the process is
   * frozen, and the time of day can be set back.
   */
  private ageOf({ askedAt }: Answer<T>): number {
    const { ms, timeOfDay } = this.now();
    return Math.max(ms - askedAt.ms, timeOfDay - askedAt.timeOfDay);
  }

  /** Refreshes the cached value. Concurrent callers share one request. */
  private ask(): Promise<Answer<T>> {
    const { failure } = this;
    if (failure !== undefined && this.clock.now() - failure.atMs < PAUSE_AFTER_FAILURE_MS) {
      return Promise.reject(failure.error);
    }
    this.asking ??= this.askInTurn().finally(() => {
      this.asking = undefined;
    });
    return this.asking;
  }

  /**
   * Refreshes the cached value, and waits for at most some milliseconds. After that, the request continues for other
   * callers.
   */
  private askWithin(ms: number): Promise<Answer<T>> {
    const asked = this.ask();
    return callWithin({ ms, clock: this.clock }, () => asked).catch((cause) => {
      throw cause instanceof ShardCountsUnavailableError ? cause : new ShardCountsUnavailableError({ cause });
    });
  }

  private async askInTurn(): Promise<Answer<T>> {
    try {
      this.copy = await this.read(this.copy?.value);
      this.failure = undefined;
      return this.copy;
    } catch (cause) {
      const error = new ShardCountsUnavailableError({ cause });
      this.failure = { error, atMs: this.clock.now() };
      this.onUnavailable?.(cause);
      throw error;
    }
  }
}
