import type { HashKeyRange } from '../stream-format/hash-key-ranges';
import { HASH_KEY_SPACE } from '../stream-format/hash-key-space';
import { BalancedKeyAllocator } from './balanced-key-allocator';
import type { HashKeyOwner } from './hash-key-owner';
import type { RegistryEntry } from './registry-store';

/** What a commit says about one owner. */
export type RegistryChange = Omit<RegistryEntry, 'version'>;

/** All owners of a registry at one version. */
export class RegistryState {
  private readonly byName = new Map<string, HashKeyOwner>();
  private ranges = '';
  private allocator: BalancedKeyAllocator | undefined;

  constructor(
    private currentVersion: number,
    entries: Iterable<RegistryEntry>,
  ) {
    for (const { owner, hashKey, weight } of entries) {
      if (hashKey !== undefined) this.byName.set(owner, { owner, hashKey, weight });
    }
  }

  get version(): number {
    return this.currentVersion;
  }

  get owners(): ReadonlyMap<string, HashKeyOwner> {
    return this.byName;
  }

  /** An allocator that holds the keys of all owners. Undo every change of it: `apply` makes the changes of a commit. */
  allocatorFor(ranges: readonly HashKeyRange[]): BalancedKeyAllocator {
    const key = ranges.map(({ startingHashKey, endingHashKey }) => `${startingHashKey}-${endingHashKey}`).join();
    if (this.allocator === undefined || this.ranges !== key) {
      this.allocator = new BalancedKeyAllocator({ space: HASH_KEY_SPACE, ranges, allocated: this.byName.values() });
      this.ranges = key;
    }
    return this.allocator;
  }

  /** Applies one commit. All owners of the commit release their old keys before any of them takes a new one. */
  apply(version: number, commit: readonly RegistryChange[]): void {
    for (const { owner } of commit) {
      const before = this.byName.get(owner);
      if (before === undefined) continue;
      this.allocator?.release(before.hashKey);
      this.byName.delete(owner);
    }
    for (const { owner, hashKey, weight } of commit) {
      if (hashKey === undefined) continue;
      this.allocator?.claim(hashKey, weight);
      this.byName.set(owner, { owner, hashKey, weight });
    }
    this.currentVersion = version;
  }

  /** Makes changes that are not committed yet. Returns a function that undoes them. */
  assume(changes: readonly RegistryChange[]): () => void {
    const before = changes.map(({ owner }) => this.byName.get(owner) ?? { owner, weight: 1 });
    this.apply(this.currentVersion, changes);
    return () => this.apply(this.currentVersion, before);
  }
}
