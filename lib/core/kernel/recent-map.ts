/** A map with a bounded number of entries. A full map removes the entry that was set the longest ago. */
export class RecentMap<K, V> {
  private readonly entriesByAge = new Map<K, V>();
  /**
   * The next key of this iterator is the oldest key, because `RecentMap` deletes every key that the iterator has returned. A new
   * iterator for each call would be slow, because a new iterator skips all deleted entries. An iterator that is never replaced
   * would leak memory, because it keeps internal tables that the `Map` has replaced. So `RecentMap` makes a new iterator when the
   * number of changes exceeds the number of entries.
   */
  private oldest = this.entriesByAge.keys();
  private changes = 0;

  /** @param mostEntries at least 1 */
  constructor(private readonly mostEntries: number) {}

  get size(): number {
    return this.entriesByAge.size;
  }

  /** The entries, in the order in which they were set. */
  [Symbol.iterator](): Iterator<[K, V]> {
    return this.entriesByAge.entries();
  }

  get(key: K): V | undefined {
    return this.entriesByAge.get(key);
  }

  /** Sets an entry, which becomes the newest. */
  set(key: K, value: V): void {
    this.entriesByAge.delete(key);
    this.entriesByAge.set(key, value);
    this.changes += 1;
    if (this.changes > this.entriesByAge.size) {
      this.oldest = this.entriesByAge.keys();
      this.changes = 0;
    }
    if (this.entriesByAge.size > this.mostEntries) this.entriesByAge.delete(this.oldest.next().value as K);
  }

  /** Removes and returns the oldest entry. Undefined if the map is empty. */
  shift(): [K, V] | undefined {
    if (this.entriesByAge.size === 0) return undefined;
    const key = this.oldest.next().value as K;
    const value = this.entriesByAge.get(key) as V;
    this.entriesByAge.delete(key);
    return [key, value];
  }

  delete(key: K): void {
    this.entriesByAge.delete(key);
  }
}
