import type { Shard } from '@aws-sdk/client-kinesis';
import { pages } from '../../lib/core/kernel/pages';
import type { ReadStart, StreamClient } from './shard-reader';

/** A shard and its start position. */
interface ReadyShard {
  readonly shardId: string;
  readonly from: ReadStart;
}

interface KnownShard {
  readonly parents: readonly string[];
  readonly from: ReadStart;
  state: 'waiting' | 'reading' | 'ended';
}

/** The shards of a stream in a valid reading order: a child shard follows its parents. */
export class ShardLineage {
  private readonly shards = new Map<string, KnownShard>();
  private isStart = true;

  constructor(
    private readonly client: StreamClient,
    private readonly streamName: string,
    private readonly start: ReadStart,
  ) {}

  /**
   * Finds new shards. If reading starts at the tip, shards that are already closed have no new records. A shard that appears later is
   * read from its first record.
   */
  async look(): Promise<void> {
    for (const { ShardId, ParentShardId, AdjacentParentShardId, SequenceNumberRange } of await this.list()) {
      if (ShardId === undefined || this.shards.has(ShardId)) continue;
      const isClosed = SequenceNumberRange?.EndingSequenceNumber !== undefined;
      this.shards.set(ShardId, {
        parents: [ParentShardId, AdjacentParentShardId].flatMap((id) => id ?? []),
        from: this.isStart ? this.start : 'TRIM_HORIZON',
        state: this.isStart && this.start === 'LATEST' && isClosed ? 'ended' : 'waiting',
      });
    }
    this.isStart = false;
  }

  /** The shards to start now: they are in the stream, and their parents have ended. */
  takeReady(): ReadyShard[] {
    const ready = this.unread().filter(({ shardId }) => this.haveParentsEnded(shardId));
    for (const { shardId } of ready) this.take(shardId);
    return ready;
  }

  /** The shards that the caller has not taken, in the order of the stream. */
  unread(): ReadyShard[] {
    return [...this.shards].flatMap(([shardId, { state, from }]) => (state === 'waiting' ? [{ shardId, from }] : []));
  }

  take(shardId: string): void {
    this.shards.get(shardId)!.state = 'reading';
  }

  haveParentsEnded(shardId: string): boolean {
    return this.shards.get(shardId)!.parents.every(this.isEnded);
  }

  /** Marks a shard as completely read. */
  end(shardId: string): void {
    this.shards.get(shardId)!.state = 'ended';
  }

  /** A shard that is no longer in the stream has ended, too. */
  private readonly isEnded = (shardId: string): boolean => (this.shards.get(shardId)?.state ?? 'ended') === 'ended';

  private async list(): Promise<Shard[]> {
    const all: Shard[] = [];
    const read = (token: string | undefined) =>
      this.client.listShards(token === undefined ? { StreamName: this.streamName } : { NextToken: token });
    for await (const page of pages('ListShards', read, ({ NextToken }) => NextToken)) all.push(...(page.Shards ?? []));
    return all;
  }
}
