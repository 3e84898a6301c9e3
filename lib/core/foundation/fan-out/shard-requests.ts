import { backoffMs } from '../backoff';
import { ShardsUnavailableError } from './fan-out-errors';
import type { FanOutStats } from './fan-out-stats';
import type { ItemSizes } from './item-sizes';
import type { ReadFailure } from './read-failure';
import type { ReadPolicy } from './read-policy';
import type { ShardBuffer, StreamRead } from './shard-buffer';
import type { ShardPage } from './shard-reader';

/** A request under way. */
interface Attempt<T> {
  answer: Promise<ShardPage<T>>;
  abort(): void;
}

/** What the requests of one query have in common besides their policy. */
export interface RequestContext {
  stats: FanOutStats;
  sizes: ItemSizes;
  failureOf(error: unknown): ReadFailure;
}

/** Sends the reads of one query: several at a time, again when they fail, twice when they are late. */
export class ShardRequests<T> {
  /** Whether reads may still be sent: neither closed nor past the deadline. */
  open = true;
  private readonly underWay = new Set<Attempt<T>>();
  private readonly waiting: (() => void)[] = [];
  private readonly timers = new Set<() => void>();
  private readonly expiry: Promise<void> | undefined;
  private busy = 0;

  constructor(
    private readonly streams: readonly ShardBuffer<T>[],
    private readonly policy: ReadPolicy,
    private readonly context: RequestContext,
  ) {
    const { deadlineMs } = policy;
    if (deadlineMs !== undefined) this.expiry = this.sleep(deadlineMs).then(() => this.close());
  }

  /** Reads side by side, until all have answered or the deadline has come. */
  async wave(reads: readonly StreamRead<T>[]): Promise<void> {
    this.context.stats.waves += 1;
    await this.inTime(Promise.all(reads.map((read) => this.fill(read))));
  }

  /** Waits for answers until the deadline, then for nothing. */
  async inTime<R>(answers: Promise<R>) {
    return this.expiry === undefined ? answers : Promise.race([answers, this.expiry]);
  }

  /** Reads one stream on, and leaves it as it is if the answer comes too late. */
  async fill({ stream, ...read }: StreamRead<T>): Promise<void> {
    try {
      const page = await this.withRetries({ stream, ...read });
      if (!this.open) return;
      const { stats, sizes } = this.context;
      stats.itemsRead += page.itemsRead;
      stats.consumedReadUnits += page.consumedReadUnits;
      for (const bytes of page.itemSizes) sizes.observe(bytes);
      stream.absorb(page, read.until);
    } catch (error) {
      if (!this.open) return;
      if (this.context.failureOf(error) === 'final' || this.policy.onShardFailure === 'fail') throw error;
      this.giveUp([stream], error);
    }
  }

  /**
   * Goes on without these shards.
   *
   * @throws ShardsUnavailableError if the policy says so, or if no shard would be left
   */
  giveUp(streams: readonly ShardBuffer<T>[], cause?: unknown): void {
    for (const stream of streams) stream.giveUp();
    if (this.policy.onShardFailure === 'partial' && !this.streams.every(({ missing }) => missing)) return;
    const missing = this.streams.filter((stream) => stream.missing);
    throw new ShardsUnavailableError(
      missing.map(({ shard }) => shard),
      { cause },
    );
  }

  /** Gives up whatever is under way. */
  close(): void {
    this.open = false;
    this.waiting.length = 0;
    for (const cancel of this.timers) cancel();
    for (const { abort } of this.underWay) abort();
  }

  private async withRetries(read: StreamRead<T>): Promise<ShardPage<T>> {
    const { attempts: most, hedgeBudget } = this.policy;
    let throttled = false;
    for (let attempts = 1; ; attempts++) {
      await this.slot();
      try {
        return await (hedgeBudget > 0 && !throttled ? this.hedged(read) : this.send(read).answer);
      } catch (error) {
        const failure = this.context.failureOf(error);
        if (failure === 'throttled') {
          throttled = true;
          if (this.open) this.context.stats.throttled += 1;
        }
        if (failure === 'final' || attempts === most || !this.open) throw error;
      } finally {
        this.freeSlot();
      }
      await this.sleep(backoffMs(attempts, this.policy));
    }
  }

  /** Sends a read, and again if it is late and the budget allows. The first answer counts. */
  private hedged(read: StreamRead<T>): Promise<ShardPage<T>> {
    const { history, hedgeBudget, clock, concurrency } = this.policy;
    const first = this.send(read);
    const lateAfterMs = history?.hedgeAfterMs(hedgeBudget);
    if (lateAfterMs === undefined) return first.answer;
    return new Promise((resolve, reject) => {
      const attempts = [first];
      let failed = 0;
      const follow = (attempt: Attempt<T>): void => {
        attempt.answer.then(
          (page) => {
            stopWaiting();
            for (const other of attempts) if (other !== attempt) other.abort();
            resolve(page);
          },
          (error) => {
            stopWaiting();
            failed += 1;
            if (failed === attempts.length) reject(error);
          },
        );
      };
      const stopWaiting = clock.schedule(() => {
        this.timers.delete(stopWaiting);
        // A hedge that had to wait for a socket would be late itself.
        if (this.busy >= concurrency || !history?.takeHedge()) return;
        this.context.stats.hedged += 1;
        this.busy += 1;
        const second = this.send(read);
        attempts.push(second);
        follow(second);
        second.answer.catch(() => undefined).finally(() => this.freeSlot());
      }, lateAfterMs);
      this.timers.add(stopWaiting);
      follow(first);
    });
  }

  private send({ stream, limit, until }: StreamRead<T>): Attempt<T> {
    const { history, hedgeBudget, clock } = this.policy;
    const controller = new AbortController();
    const { signal } = controller;
    const sentAt = clock.now();
    const observe = (): void => history?.observeLatency(clock.now() - sentAt, hedgeBudget);
    const answer = stream.read({ limit, until, signal }).then(
      (page) => {
        this.underWay.delete(attempt);
        observe();
        return page;
      },
      (error) => {
        this.underWay.delete(attempt);
        // Of a request that was given up, this is what it took at least. Another error says nothing about answers.
        if (signal.aborted) observe();
        throw error;
      },
    );
    const attempt: Attempt<T> = { answer, abort: () => controller.abort() };
    this.underWay.add(attempt);
    this.context.stats.requests += 1;
    return attempt;
  }

  private async slot(): Promise<void> {
    if (this.busy >= this.policy.concurrency) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.busy += 1;
  }

  /** Hands the slot to whoever waits longest. */
  private freeSlot(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.busy -= 1;
    else next();
  }

  private sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.policy.clock.schedule(() => {
        this.timers.delete(cancel);
        resolve();
      }, delayMs);
      this.timers.add(cancel);
    });
  }
}
