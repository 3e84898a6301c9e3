import type { RegistryStore } from '../../../lib/core/registry/registry-store';

/**
 * The pause after each read of the registry, as a multiple of the duration of the read. Because of this pause, reads
 * take at most a tenth of the time, even with many owners.
 */
const WAIT_PER_REFRESH = 9;

/** If a hash key has a new owner, the console can show the old owner for up to this time. */
const FRESH_MS = 5_000;

/** Caches the owners of hash keys from a registry. */
export class HashKeyNames {
  private owners: ReadonlyMap<bigint | undefined, string> = new Map();
  private refreshedAtMs = Number.NEGATIVE_INFINITY;
  private nextRefreshMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly registry: Pick<RegistryStore, 'readHead' | 'readEntries'>,
    private readonly nowMs: () => number,
  ) {}

  /** The owner of a hash key. Undefined if the hash key is not in the cache. */
  ownerOf(hashKey: bigint): string | undefined {
    return this.owners.get(hashKey);
  }

  /** Reads the registry if the cache lacks the owner of one of these hash keys, or if the cache is old. */
  async refresh(hashKeys: readonly bigint[]): Promise<void> {
    const startMs = this.nowMs();
    const isOld = startMs - this.refreshedAtMs > FRESH_MS || hashKeys.some((hashKey) => !this.owners.has(hashKey));
    if (hashKeys.length === 0 || !isOld || startMs < this.nextRefreshMs) return;
    // The head item of the registry has the latest entries, which may not have their own items yet.
    const { recent = [] } = (await this.registry.readHead()) ?? {};
    const entries = [...(await this.registry.readEntries()), ...recent].sort((a, b) => a.version - b.version);
    const keys = new Map(entries.map(({ owner, hashKey }) => [owner, hashKey]));
    this.owners = new Map([...keys].map(([owner, hashKey]) => [hashKey, owner]));
    this.refreshedAtMs = this.nowMs();
    this.nextRefreshMs = this.refreshedAtMs + WAIT_PER_REFRESH * (this.refreshedAtMs - startMs);
  }
}
