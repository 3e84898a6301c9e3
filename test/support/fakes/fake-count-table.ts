import type { GrownCount, ShardCountStore } from '../../../lib/core';

/** What becomes of a request: the answer arrives; or it is lost before, or behind, what the request does; or it is sent twice. */
export type Fate = 'answered' | 'failed' | 'lost' | 'sent twice';

/** A table of shard counts in memory, seen by many processes at once. */
export class FakeCountTable {
  /** Every count that was ever written, in order. */
  readonly written: GrownCount[] = [];
  private readonly counts = new Map<string | undefined, GrownCount>();

  of(value?: string): GrownCount | undefined {
    return this.counts.get(value);
  }

  /**
   * One process's way to the table.
   *
   * @param pause resolves when the next request, or its answer, arrives
   * @param fateOf decides the fate of each write
   */
  store(pause: () => Promise<void> = async () => {}, fateOf: () => Fate = () => 'answered'): ShardCountStore {
    const request = async <T>(apply: () => T): Promise<T> => {
      await pause();
      const answer = apply();
      await pause();
      return answer;
    };
    const write = (count: GrownCount, expected: number): boolean => {
      if ((this.counts.get(count.value)?.version ?? 0) !== expected) return false;
      this.counts.set(count.value, count);
      this.written.push(count);
      return true;
    };
    return {
      readCounts: () => request(() => [...this.counts.values()]),
      readCount: (value) => request(() => this.counts.get(value)),
      writeCount: async (count, expected) => {
        const fate = fateOf();
        if (fate === 'failed') throw new Error('failed');
        const isWritten = await request(() => write(count, expected));
        if (fate === 'lost') throw new Error('lost');
        return fate === 'sent twice' ? request(() => write(count, expected)) : isWritten;
      },
    };
  }
}

/** Counts as write/read. */
export const countText = (count: { write: number; read: number } | undefined): string =>
  count === undefined ? 'none' : `${count.write}/${count.read}`;
