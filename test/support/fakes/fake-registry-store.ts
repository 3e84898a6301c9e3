import type { RegistryEntry, RegistryHead, RegistryStore } from '../../../lib/core';

/** The process that sent the request has crashed and must do nothing more. */
export class CrashError extends Error {}

/** Runs waiting jobs one at a time in random order. */
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
      if (next === undefined) throw new Error('the work has not ended, but no job is waiting');
      next();
    }
  }
}

/** A registry table in memory that several processes use. */
export class FakeRegistryTable {
  /** All heads that were written. */
  readonly heads: RegistryHead[] = [];
  readonly entries = new Map<string, RegistryEntry>();

  /** The store of one process. Each request takes time, and the process may crash before or after the request. */
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
          // Some databases return the existing item with the rejection.
          if ((stored?.version ?? 0) !== expected) return schedule.random() < 0.5 ? false : stored!;
          this.heads.push(head);
          return true;
        }),
      readEntry: (owner) => request(() => this.entries.get(owner)),
      // A scan is not a snapshot. It reads one item after the other while other processes write.
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
