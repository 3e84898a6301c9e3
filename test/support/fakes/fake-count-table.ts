import type { GrownCount, ShardCountStore } from '../../../lib/core';

/** The outcome of a request: its response arrives or is lost, or the request is sent twice. */
export type Fate = 'answered' | 'lost' | 'sent twice';

/** A table of shard counts in memory for several processes. */
export class FakeCountTable {
  /** All counts that were written, in order. */
  readonly written: GrownCount[] = [];
  private readonly counts = new Map<string | undefined, GrownCount>();

  of(value?: string): GrownCount | undefined {
    return this.counts.get(value);
  }

  /** A store. `fateOf` returns the fate of each write. */
  store(fateOf: () => Fate = () => 'answered'): ShardCountStore {
    const write = (count: GrownCount, expected: number): boolean => {
      if ((this.counts.get(count.value)?.version ?? 0) !== expected) return false;
      this.counts.set(count.value, count);
      this.written.push(count);
      return true;
    };
    return {
      readCounts: async () => [...this.counts.values()],
      readCount: async (value) => this.counts.get(value),
      writeCount: async (count, expected) => {
        const fate = fateOf();
        const isWritten = write(count, expected);
        if (fate === 'lost') throw new Error('lost');
        return fate === 'sent twice' ? write(count, expected) : isWritten;
      },
    };
  }
}

/** A count as the text `write/read`. */
export const countText = (count: { write: number; read: number } | undefined): string =>
  count === undefined ? 'none' : `${count.write}/${count.read}`;
