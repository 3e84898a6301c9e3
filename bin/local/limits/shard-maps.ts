import { listOpenShards, type OpenShard } from '../../../lib/core/resharding/open-shards';
import { shardIndexOf } from '../../../lib/core/stream-format/hash-key-ranges';
import { hashPartitionKey, parseHashKey } from '../../../lib/core/stream-format/hash-key-space';
import type { Call } from '../emulators/gated-service';

/** Caches the shards of each stream, until `forget` is called after a change. */
export class ShardMaps {
  private readonly maps = new Map<string, Promise<readonly OpenShard[]>>();

  constructor(private readonly call: Call) {}

  open(streamName: string): Promise<readonly OpenShard[]> {
    const known = this.maps.get(streamName);
    if (known !== undefined) return known;
    const listShards = async (input: unknown) => (await this.call('ListShards', input)).output;
    const map = listOpenShards({ listShards }, streamName);
    this.maps.set(streamName, map);
    map.then((open) => open.length === 0 && this.forget(streamName)).catch(() => this.forget(streamName));
    return map;
  }

  /** The shard that stores a record. Undefined if no shard has the hash key. The emulator then rejects the record. */
  async shardOf(
    streamName: string,
    { PartitionKey, ExplicitHashKey }: { PartitionKey?: string; ExplicitHashKey?: string },
  ): Promise<string | undefined> {
    const open = await this.open(streamName);
    const hashKey =
      ExplicitHashKey === undefined ? hashPartitionKey(String(PartitionKey)) : parseHashKey(ExplicitHashKey);
    if (hashKey === undefined || open.length === 0) return undefined;
    return open[shardIndexOf(hashKey, open)]?.shardId;
  }

  forget(streamName: string): void {
    this.maps.delete(streamName);
  }
}
