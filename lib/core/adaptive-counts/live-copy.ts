import { callWithin } from '../kernel/call-within';
import type { Clock } from '../kernel/clock';
import { ShardCountsUnavailableError } from './adaptive-count-errors';
import { COPY_LIFE_MS, REFRESH_AFTER_MS } from './copy-life';

/** A moment, by the clock of the process and by the time of day. */
export interface Moment {
  readonly ms: number;
  readonly timeOfDay: number;
}

/** What was read, and when the question was asked. The answer is at least as recent as the question. */
export interface Answer<T> {
  readonly value: T;
  readonly askedAt: Moment;
}

/** For this long after a failure, nobody asks again: the next caller would wait as long, and most likely fail as well. */
const PAUSE_AFTER_FAILURE_MS = 1_000;

/** A copy of something that others change. It lives for 30 seconds, and is replaced while it is used. */
export class LiveCopy<T> {
  private copy: Answer<T> | undefined;
  private asking: Promise<Answer<T>> | undefined;
  private failure: { error: unknown; atMs: number } | undefined;

  /**
   * @param read asks for the present state. It gets what the copy held before
   * @param now the present moment
   * @param onUnavailable is told why the state could not be read
   */
  constructor(
    private readonly clock: Clock,
    private readonly now: () => Moment,
    private readonly read: (before: T | undefined) => Promise<Answer<T>>,
    private readonly onUnavailable?: (error: unknown) => void,
  ) {}

  /**
   * @param withinMs how long to wait for the copy, in milliseconds
   * @throws ShardCountsUnavailableError if it cannot be read, or not in time, and the copy is too old
   */
  async value(withinMs = Number.POSITIVE_INFINITY): Promise<T> {
    const copy = this.usable() ?? (await this.askWithin(withinMs));
    if (!this.isFresh(copy)) throw new ShardCountsUnavailableError();
    return copy.value;
  }

  /** The copy, unless it is too old to use. A copy that is old is replaced in the background. */
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
   * The larger of two ages: the clock may have stood still while the process was frozen, and the time of day may have been
   * set back.
   */
  private ageOf({ askedAt }: Answer<T>): number {
    const { ms, timeOfDay } = this.now();
    return Math.max(ms - askedAt.ms, timeOfDay - askedAt.timeOfDay);
  }

  /** Replaces the copy. While a question is in flight, other callers wait for the same answer. */
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

  /** Asks, and stops waiting after some milliseconds. The question goes on for other callers. */
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
