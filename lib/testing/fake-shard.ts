import type { Shard } from '@aws-sdk/client-kinesis';
import type { HashKeyRange } from '../core/stream-format/hash-key-ranges';
import type { ShardTokenBucket } from './shard-token-bucket';

/** A record of a shard. */
export interface StoredRecord {
  readonly shardId: string;
  readonly sequenceNumber: string;
  readonly partitionKey: string;
  readonly explicitHashKey?: string;
  readonly data: Uint8Array;
  readonly arrivedAtMs: number;
}

/** One shard, open until a split or a merge closes it. */
export class FakeShard {
  readonly records: StoredRecord[] = [];
  endingSequenceNumber?: string;

  /** @internal */
  constructor(
    readonly shardId: string,
    readonly range: HashKeyRange,
    readonly startingSequenceNumber: string,
    /** The parents: no parent for an initial shard, one parent after a split, two parents after a merge. */
    readonly parents: readonly FakeShard[],
    /** The time until which the parents still accept the records of this shard. @internal */
    readonly takesFromMs: number,
    /** @internal */
    readonly bucket: ShardTokenBucket | undefined,
    /** The next sequence number: shared by all open shards, and separate once the shard is closed. @internal */
    public numbers: { next: bigint },
  ) {}

  get isOpen(): boolean {
    return this.endingSequenceNumber === undefined;
  }

  /** The next sequence number, which is larger than all earlier sequence numbers and larger than `after`. @internal */
  takeSequenceNumber(after = -1n): string {
    if (after >= this.numbers.next) this.numbers.next = after + 1n;
    return String(this.numbers.next++);
  }

  /** The parent whose range contained a hash key. @internal */
  parentAt(hashKey: bigint): FakeShard {
    return this.parents.find(({ range }) => range.startingHashKey <= hashKey && hashKey <= range.endingHashKey)!;
  }

  /** The shard in the format of ListShards. */
  describe(): Shard {
    const [parent, adjacentParent] = this.parents;
    return {
      ShardId: this.shardId,
      ...(parent && { ParentShardId: parent.shardId }),
      ...(adjacentParent && { AdjacentParentShardId: adjacentParent.shardId }),
      HashKeyRange: {
        StartingHashKey: this.range.startingHashKey.toString(),
        EndingHashKey: this.range.endingHashKey.toString(),
      },
      SequenceNumberRange: {
        StartingSequenceNumber: this.startingSequenceNumber,
        ...(this.endingSequenceNumber !== undefined && { EndingSequenceNumber: this.endingSequenceNumber }),
      },
    };
  }
}

/** All records in an order in which a KCL consumer may read them: the shards in order, and each shard after its parents. */
export function recordsAlongLineage(shards: readonly FakeShard[]): StoredRecord[] {
  const read = new Set<FakeShard>();
  const records: StoredRecord[] = [];
  const visit = (shard: FakeShard): void => {
    if (read.has(shard)) return;
    read.add(shard);
    shard.parents.forEach(visit);
    for (const record of shard.records) records.push(record);
  };
  shards.forEach(visit);
  return records;
}
