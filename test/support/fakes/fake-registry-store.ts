import type { RegistryEntry, RegistryHead, RegistryStore } from '../../../lib/core';

/** The process that made a request is gone: nothing after it happens. */
export class CrashError extends Error {}

/** Runs what waits in an order drawn at random, one at a time. */
export class RandomSchedule {
  private readonly waiting: (() => void)[] = [];

  constructor(readonly random: () => number) {}

  pause = (): Promise<void> => new Promise((resolve) => this.waiting.push(resolve));

  async runUntil<T>(done: Promise<T>): Promise<T> {
    let settled = false;
    const end = (): void => {
      settled = true;
    };
    done.then(end, end);
    for (;;) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (settled) return done;
      const [next] = this.waiting.splice(Math.floor(this.random() * this.waiting.length), 1);
      if (next === undefined) throw new Error('nothing left to wait for, and the work has not ended');
      next();
    }
  }
}

/** The items of a registry's table, seen by many processes at once. */
export class FakeRegistryTable {
  /** Every head that was ever written. */
  readonly heads: RegistryHead[] = [];
  readonly entries = new Map<string, RegistryEntry>();

  /** One process's way to the table. Each request takes its time, and may end with the process, done or not. */
  store(schedule: RandomSchedule, crashes: number): RegistryStore {
    const request = async <T>(apply: () => T): Promise<T> => {
      await schedule.pause();
      if (schedule.random() < crashes / 2) throw new CrashError('before the request');
      const answer = apply();
      await schedule.pause();
      if (schedule.random() < crashes / 2) throw new CrashError('before the answer');
      return answer;
    };
    return {
      readHead: () => request(() => this.heads.at(-1)),
      writeHead: (head, expected) =>
        request(() => {
          const stored = this.heads.at(-1);
          // Some databases return what stands in the way.
          if ((stored?.version ?? 0) !== expected) return schedule.random() < 0.5 ? false : stored!;
          this.heads.push(head);
          return true;
        }),
      readEntry: (owner) => request(() => this.entries.get(owner)),
      // A scan is no snapshot: it reads item by item, while others write.
      readEntries: async () => {
        const read: RegistryEntry[] = [];
        for (const owner of [...this.entries.keys()].sort()) {
          await request(() => read.push(this.entries.get(owner)!));
        }
        return read;
      },
      writeEntry: (entry) =>
        request(() => {
          if ((this.entries.get(entry.owner)?.version ?? 0) < entry.version) this.entries.set(entry.owner, entry);
        }),
    };
  }
}
