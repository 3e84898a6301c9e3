import type { KeeperState, KeeperStore, NamedItem } from '../../../lib/core/sharded-index/keeper/keeper-store';

/** The store of a keeper in memory. */
export class MemoryKeeperStore implements KeeperStore {
  state: KeeperState | undefined;
  readonly items = new Map<string, NamedItem>();

  async readState() {
    return this.state && structuredClone(this.state);
  }

  async replaceState(before: KeeperState | undefined, next: Omit<KeeperState, 'version'>) {
    if (this.state?.version !== before?.version) return false;
    this.state = structuredClone({ ...next, version: (before?.version ?? 0) + 1 });
    return true;
  }

  async put(item: NamedItem) {
    this.items.set(item.keyText, structuredClone(item));
  }

  async remove(keyText: string) {
    this.items.delete(keyText);
  }

  async page() {
    return { items: [...this.items.values()] };
  }
}
