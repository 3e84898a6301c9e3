import { type HashKeyRange, shardIndexOf } from '../../../lib/core/foundation/hash-key-ranges';
import { hashPartitionKey, parseHashKey } from '../../../lib/core/foundation/hash-key-space';
import type { ServiceProxy } from './service-proxy';

/** The open shards of a stream, by hash key. */
export interface OpenShard {
  readonly shardId: string;
  readonly range: HashKeyRange;
}

interface Shards {
  readonly open: readonly OpenShard[];
  readonly ranges: readonly HashKeyRange[];
}

/** The shards of each stream, asked for once, and again when they have changed. */
export class ShardMaps {
  private readonly maps = new Map<string, Promise<Shards>>();

  constructor(private readonly proxy: Pick<ServiceProxy, 'call'>) {}

  async open(streamName: string): Promise<readonly OpenShard[]> {
    return (await this.map(streamName)).open;
  }

  /** The shard that takes a record; undefined if there is none, so that the service says what is wrong. */
  async shardOf(
    streamName: string,
    { PartitionKey, ExplicitHashKey }: { PartitionKey?: string; ExplicitHashKey?: string },
  ): Promise<string | undefined> {
    const { open, ranges } = await this.map(streamName);
    const hashKey =
      ExplicitHashKey === undefined ? hashPartitionKey(String(PartitionKey)) : parseHashKey(ExplicitHashKey);
    if (hashKey === undefined || ranges.length === 0) return undefined;
    return open[shardIndexOf(hashKey, ranges)]?.shardId;
  }

  forget(streamName: string): void {
    this.maps.delete(streamName);
  }

  private map(streamName: string): Promise<Shards> {
    let map = this.maps.get(streamName);
    if (map === undefined) {
      map = this.ask(streamName);
      this.maps.set(streamName, map);
      map.then(({ open }) => open.length === 0 && this.forget(streamName)).catch(() => this.forget(streamName));
    }
    return map;
  }

  private async ask(streamName: string): Promise<Shards> {
    const open: OpenShard[] = [];
    let NextToken: string | undefined;
    do {
      const { output } = await this.proxy.call('ListShards', NextToken ? { NextToken } : { StreamName: streamName });
      for (const { ShardId, HashKeyRange, SequenceNumberRange } of output.Shards ?? []) {
        // Emulators write null where the service leaves out.
        if (typeof SequenceNumberRange.EndingSequenceNumber === 'string') continue;
        const [startingHashKey, endingHashKey] = [HashKeyRange.StartingHashKey, HashKeyRange.EndingHashKey].map(BigInt);
        open.push({ shardId: ShardId, range: { startingHashKey: startingHashKey!, endingHashKey: endingHashKey! } });
      }
      NextToken = output.NextToken ?? undefined;
    } while (NextToken !== undefined);
    open.sort((a, b) => (a.range.startingHashKey < b.range.startingHashKey ? -1 : 1));
    return { open, ranges: open.map(({ range }) => range) };
  }
}
