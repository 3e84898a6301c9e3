import type { Clock } from '../kernel/clock';

/** Lets a loop sleep until there is something to do, or a time is over. What rings while nobody sleeps is not lost. */
export class Bell {
  private isRung = false;
  private wake = (): void => {};

  constructor(private readonly clock: Clock) {}

  ring(): void {
    this.isRung = true;
    this.wake();
  }

  async sleep(ms: number): Promise<void> {
    if (!this.isRung) {
      let cancel = (): void => {};
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        if (ms !== Number.POSITIVE_INFINITY) cancel = this.clock.schedule(resolve, ms);
      });
      cancel();
    }
    this.isRung = false;
  }
}
