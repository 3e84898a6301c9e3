import { parseFence } from '../foundation/fence';

/** What a consumer knows of a record. */
export interface ConsumedRecord {
  partitionKey: string;
  data: Uint8Array;
}

/**
 * Keeps the order of a partition key whose records have moved from one shard to another by `handOver`, for a consumer that
 * reads the shards of a stream at the same time.
 *
 * Give it every record of every shard, in the order of the shard, and process what it returns, in that order. It takes out
 * the fences. Behind a fence that starts a key on a shard it holds the records of that key, there alone, until the fence
 * that ended them elsewhere was given to it; everything else passes at once.
 *
 * A fence can be within an aggregate, so give it what `deaggregate` returns. Drop second copies behind it, never in front:
 * `deduplicate` would take the records that still wait on the old shard for copies.
 *
 * As ever with resharding, read a shard to its end before its children: a shard that `holds` records has not ended. Records
 * that are held have not been processed: do not checkpoint past them. Start to read all shards at `TRIM_HORIZON`, or at
 * one time without a move under way: a key whose end fence is never read stays held.
 *
 * A consumer that spreads its shards over several processes needs the same rule with the ended moves in a store that they
 * share.
 */
export class FenceGate<R extends ConsumedRecord> {
  /** Moves whose end fence has passed, by move and partition key. Kept: a fence can come twice. */
  private readonly ended = new Set<string>();
  /** By shard and partition key, the records from a start fence on whose move has not ended. */
  private readonly held = new Map<string, Map<string, R[]>>();

  /** What to process now: the record, and records of other shards that waited for it; nothing if the record waits. */
  accept(shardId: string, record: R): R[] {
    const queue = this.held.get(shardId)?.get(record.partitionKey);
    if (queue !== undefined) {
      queue.push(record);
      return [];
    }
    return this.pass(shardId, [record]);
  }

  /** Whether records of the shard are held. */
  holds(shardId: string): boolean {
    return this.held.has(shardId);
  }

  /** Passes records of one shard and key until one must wait. */
  private pass(shardId: string, records: readonly R[]): R[] {
    const passed: R[] = [];
    for (const [index, record] of records.entries()) {
      const fence = parseFence(record.data);
      const move = JSON.stringify([fence?.moveId, record.partitionKey]);
      if (fence === undefined) {
        passed.push(record);
      } else if (fence.side === 'end') {
        this.ended.add(move);
        passed.push(...this.released(move, record.partitionKey));
      } else if (!this.ended.has(move)) {
        this.hold(shardId, record.partitionKey, records.slice(index));
        break;
      }
    }
    return passed;
  }

  private hold(shardId: string, partitionKey: string, records: R[]): void {
    const ofShard = this.held.get(shardId) ?? new Map<string, R[]>();
    this.held.set(shardId, ofShard.set(partitionKey, records));
  }

  private released(move: string, partitionKey: string): R[] {
    for (const [shardId, ofShard] of this.held) {
      const records = ofShard.get(partitionKey);
      const fence = records && parseFence(records[0]!.data);
      if (records === undefined || JSON.stringify([fence!.moveId, partitionKey]) !== move) continue;
      ofShard.delete(partitionKey);
      if (ofShard.size === 0) this.held.delete(shardId);
      return this.pass(shardId, records);
    }
    return [];
  }
}
