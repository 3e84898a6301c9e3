import type { Clock } from '../kernel/clock';

/**
 * Lets a loop sleep until it is notified, or until a time is over. A notification before `sleep` is not lost: the next `sleep`
 * returns immediately.
 */
export class WakeSignal {
  private isNotified = false;
  private wake = (): void => {};

  constructor(private readonly clock: Clock) {}

  notify(): void {
    this.isNotified = true;
    this.wake();
  }

  async sleep(ms: number): Promise<void> {
    if (!this.isNotified) {
      let cancel = (): void => {};
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        if (ms !== Number.POSITIVE_INFINITY) cancel = this.clock.schedule(resolve, ms);
      });
      cancel();
    }
    this.isNotified = false;
  }
}
