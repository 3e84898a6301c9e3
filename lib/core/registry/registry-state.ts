import type { HashKeyRange } from '../stream-format/hash-key-ranges';
import { HASH_KEY_SPACE } from '../stream-format/hash-key-space';
import { BalancedKeyAllocator } from './balanced-key-allocator';
import type { HashKeyOwner } from './hash-key-owner';
import type { RegistryEntry } from './registry-store';

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

  /**
   * An allocator with the keys of all owners. The caller must undo its changes to the allocator, because `apply` makes the
   * committed changes after the commit.
   */
  allocatorFor(ranges: readonly HashKeyRange[]): BalancedKeyAllocator {
    const key = ranges.map(({ startingHashKey, endingHashKey }) => `${startingHashKey}-${endingHashKey}`).join();
    if (this.allocator === undefined || this.ranges !== key) {
      this.allocator = new BalancedKeyAllocator({ space: HASH_KEY_SPACE, ranges, allocated: this.byName.values() });
      this.ranges = key;
    }
    return this.allocator;
  }

  /** Applies one commit. All owners of the commit release their old keys before an owner gets a new key. */
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

  /** Applies changes before their commit. Returns a function that undoes them. */
  applyForNow(changes: readonly RegistryChange[]): () => void {
    const before = changes.map(({ owner }) => this.byName.get(owner) ?? { owner, weight: 1 });
    this.apply(this.currentVersion, changes);
    return () => this.apply(this.currentVersion, before);
  }
}
