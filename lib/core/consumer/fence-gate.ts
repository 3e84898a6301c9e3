import { parseFence } from '../foundation/fence';

/** The part of a record that a `FenceGate` reads. */
export interface ConsumedRecord {
  /** The partition key of the record. */
  partitionKey: string;
  /** The data of the record. */
  data: Uint8Array;
}

/**
 * Keeps the order of a partition key whose records have moved from one shard to another with `handOver`. Use it in a
 * consumer that reads several shards of a stream at the same time.
 *
 * Give the gate every record of every shard, in the order of the shard, and process the records that it returns, in
 * that order. The gate removes the fences. When it meets a `start` fence of a key on a shard, it holds the later
 * records of that key on that shard. It releases them when it meets the `end` fence of the same move on the other
 * shard. All other records pass at once.
 *
 * A fence can be part of an aggregate, so give the gate the result of `deaggregate`. Drop copies of records after the
 * gate, never before it: before the gate, `deduplicate` would take the records that still wait on the old shard for
 * copies.
 *
 * As always with resharding, read a shard to its end before you read its children; a shard whose records the gate
 * `holds` has not ended. Held records are not processed yet, so do not write a checkpoint behind them. Start to read
 * all shards at `TRIM_HORIZON`, or at one time at which no move was in progress: the gate never releases a key whose
 * `end` fence it does not meet.
 *
 * If several processes share the shards of a stream, one gate is not enough. They need the same rule, with the ended
 * moves in a store that they share.
 */
export class FenceGate<R extends ConsumedRecord> {
  /** The moves whose end fence has passed, by move and partition key. They are kept because a fence can come twice. */
  private readonly ended = new Set<string>();
  /** By shard and partition key: the records from a start fence on, as long as its move has not ended. */
  private readonly held = new Map<string, Map<string, R[]>>();

  /**
   * Takes the next record of a shard. Returns the records to process now, in order: the record itself, or the records
   * of another shard that have waited for it. The result is empty if the record must wait.
   */
  accept(shardId: string, record: R): R[] {
    const queue = this.held.get(shardId)?.get(record.partitionKey);
    if (queue !== undefined) {
      queue.push(record);
      return [];
    }
    return this.pass(shardId, [record]);
  }

  /** Whether the gate holds records of the shard. */
  holds(shardId: string): boolean {
    return this.held.has(shardId);
  }

  /** Passes records of one shard and key until a record must wait. */
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
