import { type Deferred, deferred } from './deferred';

/** Lets callers wait until shared state changes. A caller must check the state after each change, and may have to wait again. */
export class Condition {
  private next: Deferred<void> | undefined;

  /** Resolves at the next change. */
  change(): Promise<void> {
    this.next ??= deferred();
    return this.next.promise;
  }

  /** Wakes all callers that wait. */
  notifyAll(): void {
    this.next?.resolve();
    this.next = undefined;
  }
}
