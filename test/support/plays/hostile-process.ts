import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import type { Clock } from '../../../lib/core/kernel/clock';

export interface HostileFacts {
  crashes: number;
  lostAnswers: number;
  refusedCalls: number;
}

/** A process whose calls fail or lose their response, and which may crash before or after each call. */
export class HostileProcess {
  /** Resolves when the process has crashed. The calls of a crashed process never end. */
  readonly crashed: Promise<undefined>;
  /** The clock of the process. A crash cancels the timers of this clock. */
  readonly clock: Clock = {
    now: () => performance.now(),
    sleep: (ms) => new Promise((resolve) => void this.clock.schedule(resolve, ms)),
    schedule: (callback, ms) => {
      if (this.hasCrashed) return () => {};
      const timer = setTimeout(callback, ms);
      this.timers.add(timer);
      return () => {
        clearTimeout(timer);
        this.timers.delete(timer);
      };
    },
  };
  private readonly timers = new Set<NodeJS.Timeout>();
  private hasCrashed = false;
  private crash!: () => void;

  constructor(
    private readonly random: () => number,
    private readonly hostility: () => number,
    private readonly facts: HostileFacts,
  ) {
    this.crashed = new Promise((resolve) => {
      this.crash = () => resolve(undefined);
    });
  }

  /** Runs the work of the process. Returns undefined if it has crashed. */
  run<T>(work: Promise<T>): Promise<T | undefined> {
    return Promise.race([work.catch(() => undefined), this.crashed]);
  }

  async call<T>(send: () => Promise<T>): Promise<T> {
    await this.mayCrash();
    if (this.random() < this.hostility()) {
      this.facts.refusedCalls += 1;
      throw new Error('no connection');
    }
    const answer = await send();
    if (this.random() < this.hostility()) {
      this.facts.lostAnswers += 1;
      throw new Error('no response');
    }
    await this.mayCrash();
    return answer;
  }

  /**
   * @param release performs the actions of the operating system after a crash, such as closing the connections of the
   * process
   */
  async mayCrash(release?: () => void): Promise<void> {
    if (!this.hasCrashed && this.random() < this.hostility() / 4) {
      this.hasCrashed = true;
      this.facts.crashes += 1;
      for (const timer of this.timers) clearTimeout(timer);
      this.crash();
    }
    if (!this.hasCrashed) return;
    release?.();
    await new Promise(() => {});
  }

  client(dynamodb: DynamoDB): DynamoDB {
    const has = (method: string | symbol) => typeof dynamodb[method as keyof DynamoDB] === 'function';
    return new Proxy(dynamodb, {
      get: (_, name) => {
        const method = dynamodb[name as keyof DynamoDB] as (input: unknown) => Promise<unknown>;
        return has(name) ? (input: unknown) => this.call(() => method.call(dynamodb, input)) : undefined;
      },
    });
  }
}
