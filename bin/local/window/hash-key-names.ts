import type { RegistryStore } from '../../../lib/core/registry/registry-store';

/** Looks take a tenth of the time at most, however many owners there are: after each it waits nine times as long. */
const WAIT_PER_LOOK = 9;

/** A key that has another owner now may be called by the old one for so long. */
const FRESH_MS = 5_000;

/** Whose hash keys those of records are, as a registry has it. */
export class HashKeyNames {
  private owners: ReadonlyMap<bigint | undefined, string> = new Map();
  private lookedAtMs = Number.NEGATIVE_INFINITY;
  private nextLookMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly registry: Pick<RegistryStore, 'readHead' | 'readEntries'>,
    private readonly nowMs: () => number,
  ) {}

  /** The owner of a hash key, as far as it was looked up. */
  ownerOf(hashKey: bigint): string | undefined {
    return this.owners.get(hashKey);
  }

  /** Looks owners up if one of these keys has none, or if what is known is old. */
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
