import { type Clock, InvalidCursorError, type ReshardItemsOptions, StrayScanError } from '../../../../lib/core';
import type { Faults } from '../faults';
import { Heard } from '../heard';
import type { Footprint, World } from '../world';

/** Sends a request of the process that is there. */
export type Send = <T>(
  what: string,
  input: object,
  footprint: Partial<Footprint>,
  apply: () => Promise<T>,
) => Promise<T>;

/** More than a process needs. */
const MOST_REQUESTS = 30;

/**
 * A process that goes over a table with `reshardItems`. Its requests fail, lose their answers, or arrive late, and are its last. One
 * that ends is followed by another, from its resume point on.
 */
export class CrashingWalk {
  private readonly heard = new Heard();
  /** The requests that can still arrive, by their names. */
  private readonly underWay = new Map<string, unknown>();
  private requests = 0;
  private lives = 0;
  private resumeFrom?: string;

  /** @param reshard calls `reshardItems` with a client that sends its requests that way */
  constructor(
    private readonly world: World,
    private readonly faults: Faults,
    private readonly reshard: (send: Send, options: ReshardItemsOptions) => Promise<unknown>,
  ) {}

  /** All that it does from now on depends on this, and on the table. */
  get state(): unknown {
    return [this.heard.all(), [...this.underWay].sort(), this.lives, this.resumeFrom, this.faults.rest];
  }

  /** The names of the requests to move an item that can still arrive. */
  get movesUnderWay(): string[] {
    return [...this.underWay.keys()].filter((name) => name.includes(' moves '));
  }

  /** Until a process has come to the end of the table. */
  async toTheEnd(): Promise<void> {
    for (;;) {
      let end!: () => void;
      const crash = new Promise<'crash'>((resolve) => {
        end = () => resolve('crash');
      });
      const life = ++this.lives;
      this.requests = 0;
      this.heard.forget('process');
      const run = this.reshard((...request) => this.request(life, end, ...request), {
        clock: this.clock(life),
        random: () => 0,
        attempts: 2,
        concurrency: 2,
        ...(this.resumeFrom !== undefined && { resumeFrom: this.resumeFrom }),
        onProgress: ({ resumePoint }) => {
          if (life === this.lives) this.resumeFrom = resumePoint ?? this.resumeFrom;
        },
      }).catch((error) => {
        // The counts have changed since the point was written, so whoever follows begins again.
        if (error instanceof InvalidCursorError) {
          this.resumeFrom = undefined;
          return 'crash' as const;
        }
        if (!(error instanceof StrayScanError)) throw error;
        if ((error.cause as Error).name !== 'TimeoutError') throw error.cause;
        this.resumeFrom = error.report.resumePoint;
        return 'crash' as const;
      });
      if ((await Promise.race([run, crash])) !== 'crash') return;
    }
  }

  /** What a process hears, as long as it is there. */
  private hear(life: number, what: unknown): void {
    if (life === this.lives) this.heard.hear('process', what);
  }

  private clock(life: number): Clock {
    const { clock } = this.world;
    const schedule = (callback: () => void, delayMs: number): (() => void) =>
      clock.schedule(() => {
        this.hear(life, 'time');
        callback();
      }, delayMs);
    return { now: clock.now, schedule, sleep: (delayMs) => new Promise((resolve) => schedule(resolve, delayMs)) };
  }

  /** A request is applied at some moment, unless its process has ended before. Whoever ends hears no answer any more. */
  private request<T>(
    life: number,
    end: () => void,
    what: string,
    input: object,
    { reads = [], writes = [] }: Partial<Footprint>,
    apply: () => Promise<T>,
  ): Promise<T> {
    const name = `process ${life} ${what} ${++this.requests}`;
    if (this.requests > MOST_REQUESTS) throw new Error('a walk comes to an end');
    const footprint = { reads, writes: [...writes, 'process'] };
    if (life !== this.lives) return new Promise(() => {});
    this.underWay.set(name, input);
    return new Promise((resolve, reject) => {
      let offers: (() => void)[] = [];
      const once = (happen: () => void) => () => {
        for (const takeBack of offers) takeBack();
        this.underWay.delete(name);
        happen();
      };
      const answer = (said: T): void => {
        this.hear(life, said);
        resolve(said);
      };
      const refuse = (error: Error): void => {
        this.hear(life, error);
        reject(error);
      };
      const fail = (): void => refuse(Object.assign(new Error('no answer'), { name: 'TimeoutError' }));
      const applied = (): void => void apply().catch(() => undefined);
      const late = (): void => {
        fail();
        this.underWay.set(name, input);
        this.world.offer(`${name} late`, footprint, () => {
          this.underWay.delete(name);
          applied();
        });
      };
      offers = [
        this.world.offer(
          name,
          footprint,
          once(() => apply().then(answer, refuse)),
        ),
        this.faults.offer(`${name} in vain`, footprint, once(fail)),
        this.faults.offer(`${name} never, and ends`, footprint, once(end)),
      ];
      if (writes.length === 0) return;
      const lose = (): void => {
        applied();
        fail();
      };
      offers.push(this.faults.offer(`${name}, and the answer is lost`, footprint, once(lose)));
      offers.push(this.faults.offer(`${name}, and the request is late`, footprint, once(late)));
      const applyAndEnd = (): void => {
        applied();
        end();
      };
      offers.push(this.faults.offer(`${name}, and ends`, footprint, once(applyAndEnd)));
    });
  }
}
