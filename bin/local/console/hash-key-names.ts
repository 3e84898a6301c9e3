import type { RegistryStore } from '../../../lib/core/registry/registry-store';

/**
 * After each look, it waits nine times as long as the look took. So looks take at most a tenth of the time, however many
 * owners there are.
 */
const WAIT_PER_LOOK = 9;

/** How long a key that has a new owner may be shown with the name of the old one. */
const FRESH_MS = 5_000;

/** The owners of the hash keys of records, as a registry has them. */
export class HashKeyNames {
  private owners: ReadonlyMap<bigint | undefined, string> = new Map();
  private lookedAtMs = Number.NEGATIVE_INFINITY;
  private nextLookMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly registry: Pick<RegistryStore, 'readHead' | 'readEntries'>,
    private readonly nowMs: () => number,
  ) {}

  /** The owner of a hash key, if it was looked up already. */
  ownerOf(hashKey: bigint): string | undefined {
    return this.owners.get(hashKey);
  }

  /** Looks owners up if the owner of one of these keys is not known, or if the known owners are old. */
  async look(hashKeys: readonly bigint[]): Promise<void> {
    const startMs = this.nowMs();
    const isOld = startMs - this.lookedAtMs > FRESH_MS || hashKeys.some((hashKey) => !this.owners.has(hashKey));
    if (hashKeys.length === 0 || !isOld || startMs < this.nextLookMs) return;
    // The head has the latest entries, which the items of their owners may not have yet.
    const { recent = [] } = (await this.registry.readHead()) ?? {};
    const entries = [...(await this.registry.readEntries()), ...recent].sort((a, b) => a.version - b.version);
    const keys = new Map(entries.map(({ owner, hashKey }) => [owner, hashKey]));
    this.owners = new Map([...keys].map(([owner, hashKey]) => [hashKey, owner]));
    this.lookedAtMs = this.nowMs();
    this.nextLookMs = this.lookedAtMs + WAIT_PER_LOOK * (this.lookedAtMs - startMs);
  }
}
