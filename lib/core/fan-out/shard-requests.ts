import { backoffMs } from '../kernel/backoff';
import { Semaphore } from '../kernel/semaphore';
import { ShardsUnavailableError } from './fan-out-errors';
import type { FanOutStats } from './fan-out-stats';
import type { ItemSizes } from './item-sizes';
import type { PageEnd } from './page-end';
import type { ReadPolicy } from './read-policy';
import type { BufferRead, ShardBuffer } from './shard-buffer';
import type { ReadFailure, ShardPage } from './shard-reader';

interface Attempt<T> {
  response: Promise<ShardPage<T>>;
  abort(): void;
}

/** The statistics and settings that the requests of a query share. */
interface RequestContext {
  stats: FanOutStats;
  sizes: ItemSizes;
  failureOf(error: unknown): ReadFailure;
}

/** Sends the reads of one query in parallel, retries failed reads, and hedges late reads. */
export class ShardRequests<T> {
  /** Whether the query may still send reads. False after `close`, and after the deadline. */
  open = true;
  private readonly inFlight = new Set<Attempt<T>>();
  private readonly slots: Semaphore;
  private readonly timers = new Set<() => void>();
  private readonly expiry: Promise<void> | undefined;

  constructor(
    private readonly buffers: readonly ShardBuffer<T>[],
    private readonly policy: ReadPolicy,
    private readonly context: RequestContext,
  ) {
    const { concurrency, deadlineMs } = policy;
    this.slots = new Semaphore(concurrency);
    if (deadlineMs !== undefined) this.expiry = this.sleep(deadlineMs).then(() => this.close());
  }

  /**
   * Sends reads in parallel, and waits for all responses or the deadline.
   *
   * @param end the latest possible end of the page, which restricts later reads
   */
  async wave(reads: readonly BufferRead<T>[], end?: PageEnd<T>): Promise<void> {
    this.context.stats.waves += 1;
    await this.inTime(Promise.all(reads.map((read) => this.fill(read, end))));
  }

  /** Waits for responses until the deadline. Resolves to undefined at the deadline. */
  async inTime<R>(responses: Promise<R>) {
    return this.expiry === undefined ? responses : Promise.race([responses, this.expiry]);
  }

  /** Reads the next items into a buffer. Ignores a response after the deadline. */
  async fill(planned: BufferRead<T>, end?: PageEnd<T>): Promise<void> {
    const read = { ...planned };
    const { buffer } = read;
    try {
      const page = await this.withRetries(read, end);
      if (page === undefined || !this.open) return;
      const { stats, sizes } = this.context;
      stats.itemsRead += page.itemsRead;
      stats.itemsHidden += page.itemsHidden ?? 0;
      stats.consumedReadUnits += page.consumedReadUnits;
      for (const bytes of page.itemSizes) sizes.observe(bytes);
      const positions = buffer.absorb(page, read.until);
      end?.addResponse(buffer, positions);
    } catch (error) {
      if (!this.open) return;
      if (this.context.failureOf(error) === 'final' || this.policy.onShardFailure === 'fail') throw error;
      this.giveUp([buffer], error);
    }
  }

  /**
   * Gives up shards, so that the query continues without them.
   *
   * @throws ShardsUnavailableError if the policy does not allow a partial page, or if all shards are missing
   */
  giveUp(buffers: readonly ShardBuffer<T>[], cause?: unknown): void {
    for (const buffer of buffers) buffer.giveUp();
    if (this.policy.onShardFailure === 'partial' && !this.buffers.every(({ missing }) => missing)) return;
    const missing = this.buffers.filter((buffer) => buffer.missing);
    throw new ShardsUnavailableError(
      missing.map(({ shard }) => shard),
      { cause },
    );
  }

  close(): void {
    this.open = false;
    for (const cancel of this.timers) cancel();
    for (const { abort } of this.inFlight) abort();
  }

  /** Sends a read with retries. Returns undefined if the page no longer needs the read. */
  private async withRetries(read: BufferRead<T>, end: PageEnd<T> | undefined): Promise<ShardPage<T> | undefined> {
    const { attempts: most, hedgeBudget } = this.policy;
    let throttled = false;
    for (let attempts = 1; ; attempts++) {
      if (!this.slots.tryAcquire()) await new Promise<void>((resolve) => this.slots.acquire(resolve));
      try {
        if (!this.open) return undefined;
        // Responses that arrived after the plan was made may have shown that the page ends earlier.
        if (attempts === 1 && end?.narrow(read) === false) return undefined;
        return await (hedgeBudget > 0 && !throttled ? this.hedged(read) : this.send(read).response);
      } catch (error) {
        const failure = this.context.failureOf(error);
        if (failure === 'throttled') {
          throttled = true;
          if (this.open) this.context.stats.throttled += 1;
        }
        if (failure === 'final' || attempts === most || !this.open) throw error;
      } finally {
        this.slots.release();
      }
      await this.sleep(backoffMs(attempts, this.policy));
    }
  }

  /**
   * Sends a read. If the response is late and the budget allows a hedge, sends the read a second time. Resolves to the
   * first response.
   */
  private hedged(read: BufferRead<T>): Promise<ShardPage<T>> {
    const { history, hedgeBudget } = this.policy;
    const first = this.send(read);
    const lateAfterMs = history?.hedgeAfterMs(hedgeBudget);
    if (lateAfterMs === undefined) return first.response;
    return new Promise((resolve, reject) => {
      const attempts = [first];
      let failed = 0;
      const follow = (attempt: Attempt<T>): void => {
        attempt.response.then(
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
      const stopWaiting = this.schedule(() => {
        // Do not wait for a free slot, because then the hedge would be late, too.
        if (!this.slots.tryAcquire()) return;
        if (!history?.takeHedge()) {
          this.slots.release();
          return;
        }
        this.context.stats.hedged += 1;
        const second = this.send(read);
        attempts.push(second);
        follow(second);
        second.response.catch(() => undefined).finally(() => this.slots.release());
      }, lateAfterMs);
      follow(first);
    });
  }

  private send({ buffer, limit, until }: BufferRead<T>): Attempt<T> {
    const { history, hedgeBudget, clock } = this.policy;
    const controller = new AbortController();
    const { signal } = controller;
    const sentAt = clock.now();
    const observe = (): void => history?.observeLatency(clock.now() - sentAt, hedgeBudget);
    const response = buffer.read({ limit, until, signal }).then(
      (page) => {
        this.inFlight.delete(attempt);
        observe();
        return page;
      },
      (error) => {
        this.inFlight.delete(attempt);
        // Record the time of an aborted request, because its latency would have been at least this time. Other errors do not
        // show the latency of a response.
        if (signal.aborted) observe();
        throw error;
      },
    );
    const attempt: Attempt<T> = { response: response, abort: () => controller.abort() };
    this.inFlight.add(attempt);
    this.context.stats.requests += 1;
    return attempt;
  }

  private sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.schedule(resolve, delayMs));
  }

  /** Schedules a callback. Call the returned function or `close` to cancel the callback. */
  private schedule(callback: () => void, delayMs: number): () => void {
    const cancel = this.policy.clock.schedule(() => {
      this.timers.delete(cancel);
      callback();
    }, delayMs);
    this.timers.add(cancel);
    return () => {
      this.timers.delete(cancel);
      cancel();
    };
  }
}
