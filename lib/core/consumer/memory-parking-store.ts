import { InvalidArgumentError } from '../kernel/errors';
import { RecentMap } from '../kernel/recent-map';
import { BaseParkingStore } from './base-parking-store';
import type { FencedMove, MoveProgress } from './fenced-move';
import type { ParkedKey, ParkedRecord } from './parking-store';

interface Parked {
  key: ParkedKey;
  /** The first record has the number `key.first`. */
  records: ParkedRecord[];
}

/** How many moves the store remembers. It drops the least recently used move. */
const MAX_MOVES = 10_000;

/**
 * Stores parked keys in memory, so they are lost when the process ends. Use it in tests, and for a consumer in one process that
 * reads its shards from the beginning after each start.
 */
export class MemoryParkingStore extends BaseParkingStore {
  readonly consumer = 'memory';
  private readonly parkedKeys = new Map<string, Parked>();
  private readonly moves = new RecentMap<string, MoveProgress>(MAX_MOVES);
  private revisions = 0;

  async find(partitionKeys: Iterable<string>): Promise<Map<string, ParkedKey>> {
    const found = new Map<string, ParkedKey>();
    for (const partitionKey of partitionKeys) {
      const parked = this.parkedKeys.get(partitionKey);
      if (parked !== undefined) found.set(partitionKey, parked.key);
    }
    return found;
  }

  async *keys(): AsyncGenerator<ParkedKey> {
    for (const { key } of [...this.parkedKeys.values()]) yield key;
  }

  async *records({ partitionKey, first, next }: ParkedKey): AsyncGenerator<ParkedRecord> {
    for (let number = first; number < next; number++) {
      const parked = this.parkedKeys.get(partitionKey);
      const record = parked?.records[number - parked.key.first];
      if (record === undefined) return;
      yield record;
    }
  }

  async save(key: ParkedKey, appended: readonly ParkedRecord[] = []): Promise<ParkedKey | undefined> {
    const before = this.parkedKeys.get(key.partitionKey);
    if (before?.key.revision !== key.revision) return undefined;
    // Reuses the array, because a copy for each appended record would take quadratic time.
    const records = before?.records ?? [];
    records.splice(0, key.first - (before?.key.first ?? key.first));
    for (const record of appended) records.push(record);
    this.revisions += 1;
    const saved = { ...key, revision: String(this.revisions) };
    this.parkedKeys.set(key.partitionKey, { key: saved, records });
    return saved;
  }

  async remove({ partitionKey, revision }: ParkedKey): Promise<boolean> {
    if (this.parkedKeys.get(partitionKey)?.key.revision !== revision) return false;
    this.parkedKeys.delete(partitionKey);
    return true;
  }

  async markHandled(): Promise<void> {}

  async endMove(move: FencedMove): Promise<void> {
    this.updateMove(move, { hasEnded: true });
  }

  async waitForMove(move: FencedMove, waitedMs: number): Promise<MoveProgress> {
    const before = this.moves.get(nameOfMove(move))?.waitedMs ?? 0;
    return this.updateMove(move, { waitedMs: before + waitedMs });
  }

  onceItem(): never {
    throw new InvalidArgumentError('parking', 'a MemoryParkingStore', 'a DynamoDbParkingStore (once needs one)');
  }

  private updateMove(move: FencedMove, changes: Partial<MoveProgress>): MoveProgress {
    const name = nameOfMove(move);
    const progress = { hasEnded: false, waitedMs: 0, ...this.moves.get(name), ...changes };
    this.moves.set(name, progress);
    return progress;
  }
}

function nameOfMove({ moveId, partitionKey }: FencedMove): string {
  return JSON.stringify([moveId, partitionKey]);
}
