import type { Clock } from '../kernel/clock';

interface Wait {
  readonly giveUp: (afterMs: number) => void;
  cancel: () => void;
}

/**
 * How long Postgres may take to answer. Nobody says that a connection is half open, or that a server hangs: only that no
 * answer comes.
 */
export class Patience {
  private readonly waits = new Set<Wait>();

  constructor(
    private readonly clock: Clock,
    private ms: number,
  ) {}

  /** @throws an error that has no code if there is no answer in time; what comes later is dropped */
  async for<T>(answer: Promise<T>): Promise<T> {
    let wait: Wait | undefined;
    const givenUp = new Promise<never>((_, reject) => {
      wait = {
        giveUp: (afterMs) => reject(new Error(`Postgres gave no answer within ${afterMs} ms`)),
        cancel: () => {},
      };
      this.schedule(wait);
    });
    this.waits.add(wait!);
    try {
      return await Promise.race([answer, givenUp]);
    } finally {
      wait!.cancel();
      this.waits.delete(wait!);
    }
  }

  /** Waits at most so long from now on. This holds for answers that it waits for already, too. */
  atMost(ms: number): void {
    if (ms >= this.ms) return;
    this.ms = ms;
    for (const wait of this.waits) {
      wait.cancel();
      this.schedule(wait);
    }
  }

  private schedule(wait: Wait): void {
    const ms = this.ms;
    wait.cancel = this.clock.schedule(() => wait.giveUp(ms), ms);
  }
}
