import { type Clock, InvalidCursorError, type ReshardItemsOptions, StrayScanError } from '../../../../lib/core';
import type { Faults } from '../faults';
import { ProcessInputs } from '../process-inputs';
import type { Footprint, World } from '../world';

/** Sends a request of the current process. */
export type Send = <T>(
  what: string,
  input: object,
  footprint: Partial<Footprint>,
  apply: () => Promise<T>,
) => Promise<T>;

/** The maximum number of requests in a run. A correct run needs fewer requests. */
const MAX_REQUESTS = 30;

/**
 * A process that scans a table with `reshardItems`. Its requests fail, lose their responses or arrive late, and it can crash. The
 * next process continues from the resume point.
 */
export class CrashingWalk {
  private readonly inputs = new ProcessInputs();
  /** The requests that can still arrive, by their names. */
  private readonly inFlight = new Map<string, unknown>();
  private requests = 0;
  private lives = 0;
  private resumeFrom?: string;

  /** @param reshard calls `reshardItems` with a client that sends requests with `send` */
  constructor(
    private readonly world: World,
    private readonly faults: Faults,
    private readonly reshard: (send: Send, options: ReshardItemsOptions) => Promise<unknown>,
  ) {}

  /** The state of the process, in addition to the table. */
  get state(): unknown {
    return [this.inputs.all(), [...this.inFlight].sort(), this.lives, this.resumeFrom, this.faults.rest];
  }

  /** The names of the moves that can still arrive. */
  get movesInFlight(): string[] {
    return [...this.inFlight.keys()].filter((name) => name.includes(' moves '));
  }

  /** Runs one process after another until a process has reached the end of the table. */
  async toTheEnd(): Promise<void> {
    for (;;) {
      let end!: () => void;
      const crash = new Promise<'crash'>((resolve) => {
        end = () => resolve('crash');
      });
      const life = ++this.lives;
      this.requests = 0;
      this.inputs.remove('process');
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
        // The counts have changed since the resume point was written, so the next process starts from the beginning.
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

  /** Records an input of a running process. */
  private addInput(life: number, what: unknown): void {
    if (life === this.lives) this.inputs.add('process', what);
  }

  private clock(life: number): Clock {
    const { clock } = this.world;
    const schedule = (callback: () => void, delayMs: number): (() => void) =>
      clock.schedule(() => {
        this.addInput(life, 'time');
        callback();
      }, delayMs);
    return { now: clock.now, schedule, sleep: (delayMs) => new Promise((resolve) => schedule(resolve, delayMs)) };
  }

  /** A request is applied at some moment, unless its process has already crashed. A crashed process receives no response. */
  private request<T>(
    life: number,
    end: () => void,
    what: string,
    input: object,
    { reads = [], writes = [] }: Partial<Footprint>,
    apply: () => Promise<T>,
  ): Promise<T> {
    const name = `process ${life} ${what} ${++this.requests}`;
    if (this.requests > MAX_REQUESTS) throw new Error('the number of requests of a scan is limited');
    const footprint = { reads, writes: [...writes, 'process'] };
    if (life !== this.lives) return new Promise(() => {});
    this.inFlight.set(name, input);
    return new Promise((resolve, reject) => {
      let offers: (() => void)[] = [];
      const once = (happen: () => void) => () => {
        for (const takeBack of offers) takeBack();
        this.inFlight.delete(name);
        happen();
      };
      const answer = (response: T): void => {
        this.addInput(life, response);
        resolve(response);
      };
      const refuse = (error: Error): void => {
        this.addInput(life, error);
        reject(error);
      };
      const fail = (): void => refuse(Object.assign(new Error('no response'), { name: 'TimeoutError' }));
      const applied = (): void => void apply().catch(() => undefined);
      const late = (): void => {
        fail();
        this.inFlight.set(name, input);
        this.world.offer(`${name} late`, footprint, () => {
          this.inFlight.delete(name);
          applied();
        });
      };
      offers = [
        this.world.offer(
          name,
          footprint,
          once(() => apply().then(answer, refuse)),
        ),
        this.faults.offer(`${name}, and fails`, footprint, once(fail)),
        this.faults.offer(`ends before ${name}`, footprint, once(end)),
      ];
      if (writes.length === 0) return;
      const lose = (): void => {
        applied();
        fail();
      };
      offers.push(this.faults.offer(`${name}, and its response is lost`, footprint, once(lose)));
      offers.push(this.faults.offer(`${name}, and its request is late`, footprint, once(late)));
      const applyAndEnd = (): void => {
        applied();
        end();
      };
      offers.push(this.faults.offer(`${name}, and ends`, footprint, once(applyAndEnd)));
    });
  }
}
