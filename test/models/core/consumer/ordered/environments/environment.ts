import type { OrderedConsumer } from '../../../../../../lib/core/consumer';
import type { Clock } from '../../../../../../lib/core/kernel/clock';
import type { VirtualClock } from '../../../../../../lib/testing';

/**
 * An execution environment of Lambda. It handles one invocation at a time. Between two invocations it is frozen: its timers and
 * the responses to its requests arrive only in the next invocation.
 */
export class Environment {
  consumer!: OrderedConsumer;
  isCrashed = false;
  private isBusy = false;
  private isFrozen = true;
  private readonly waiting: (() => void)[] = [];
  private onCrash = (): void => {};

  constructor(private readonly world: VirtualClock) {}

  get isIdle(): boolean {
    return !this.isBusy && !this.isCrashed;
  }

  /** The clock of the environment. */
  get clock(): Clock {
    return {
      now: () => this.world.now(),
      schedule: (callback, delayMs) => {
        let isCancelled = false;
        const cancel = this.world.schedule(() => {
          this.whenAwake(() => {
            if (!isCancelled) callback();
          });
        }, delayMs);
        return () => {
          isCancelled = true;
          cancel();
        };
      },
      sleep: (delayMs) => this.sleep(delayMs),
    };
  }

  async sleep(ms: number): Promise<void> {
    await this.world.sleep(ms);
    await this.awake(undefined);
  }

  /** Resolves when the environment is not frozen. Never resolves after a crash. */
  awake<T>(value: T): Promise<T> {
    return new Promise((resolve) => this.whenAwake(() => resolve(value)));
  }

  thaw(): void {
    this.isFrozen = false;
    for (const callback of this.waiting.splice(0)) this.whenAwake(callback);
  }

  crash(): void {
    this.isCrashed = true;
    this.onCrash();
  }

  /** Runs an invocation. Resolves to undefined if the environment crashes, or if Lambda ends the environment at the timeout. */
  async invoke<T>(handle: () => Promise<T>, timeoutMs: number): Promise<T | undefined> {
    this.isBusy = true;
    this.thaw();
    const crashed = new Promise<undefined>((resolve) => {
      this.onCrash = () => resolve(undefined);
    });
    const cancel = this.world.schedule(() => this.crash(), timeoutMs);
    const response = await Promise.race([handle().catch(() => undefined), crashed]);
    cancel();
    this.onCrash = () => {};
    this.isBusy = false;
    this.isFrozen = true;
    return response;
  }

  private whenAwake(callback: () => void): void {
    if (this.isCrashed) return;
    if (this.isFrozen) this.waiting.push(callback);
    else callback();
  }
}
