/** A map that holds so many entries at most, and forgets the one that was set the longest ago. */
export class RecentMap<K, V> {
  private readonly entriesByAge = new Map<K, V>();
  /**
   * Stands in front of the oldest entry for good, because every entry that it returns is deleted. A new iterator would
   * have to pass the gaps that deleted entries leave, which are as many as entries before the map is built anew.
   */
  private readonly oldest = this.entriesByAge.keys();

  /** @param mostEntries at least 1 */
  constructor(private readonly mostEntries: number) {}

  get size(): number {
    return this.entriesByAge.size;
  }

  /** The entries, the one that was set last at the end. */
  [Symbol.iterator](): Iterator<[K, V]> {
    return this.entriesByAge.entries();
  }

  get(key: K): V | undefined {
    return this.entriesByAge.get(key);
  }

  /** Sets an entry, and makes it the last. */
  set(key: K, value: V): void {
    this.entriesByAge.delete(key);
    this.entriesByAge.set(key, value);
    if (this.entriesByAge.size > this.mostEntries) this.entriesByAge.delete(this.oldest.next().value as K);
  }

  delete(key: K): void {
    this.entriesByAge.delete(key);
  }
}
