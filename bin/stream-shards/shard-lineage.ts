import type { Shard } from '@aws-sdk/client-kinesis';
import { pages } from '../../lib/core/kernel/pages';
import type { ReadStart, StreamClient } from './shard-reader';

/** A shard whose turn it is, and where it is begun. */
interface ReadyShard {
  readonly shardId: string;
  readonly from: ReadStart;
}

interface KnownShard {
  readonly parents: readonly string[];
  readonly from: ReadStart;
  state: 'waiting' | 'reading' | 'ended';
}

/** The shards of a stream in the order in which they may be read: one that came from others after those. */
export class ShardLineage {
  private readonly shards = new Map<string, KnownShard>();
  private isStart = true;

  constructor(
    private readonly client: StreamClient,
    private readonly streamName: string,
    private readonly start: ReadStart,
  ) {}

  /**
   * Looks for shards that are new. What is closed when reading begins at the tip holds nothing that is asked for; a shard that
   * comes while the stream is read is begun at its first record.
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

  /** Those that are to be begun now: they are in the stream, and what they came from has ended. */
  takeReady(): ReadyShard[] {
    const ready = [...this.shards].filter(
      ([, { state, parents }]) => state === 'waiting' && parents.every(this.isEnded),
    );
    for (const [, shard] of ready) shard.state = 'reading';
    return ready.map(([shardId, { from }]) => ({ shardId, from }));
  }

  /** All of the shard is done. */
  end(shardId: string): void {
    this.shards.get(shardId)!.state = 'ended';
  }

  /** One that is no longer in the stream has ended, too. */
  private readonly isEnded = (shardId: string): boolean => (this.shards.get(shardId)?.state ?? 'ended') === 'ended';

  private async list(): Promise<Shard[]> {
    const all: Shard[] = [];
    const read = (token: string | undefined) =>
      this.client.listShards(token === undefined ? { StreamName: this.streamName } : { NextToken: token });
    for await (const page of pages('ListShards', read, ({ NextToken }) => NextToken)) all.push(...(page.Shards ?? []));
    return all;
  }
}
