import type { Lane } from './lane';
import type { PutRecordsRequestEntry } from './put-records-client';
import type { ShardLimiter } from './shard-limiter';

/** A Kinesis record that is sent: the entry of one lane, or an aggregate with the entries of several lanes. */
export interface OutgoingRecord {
  readonly entry: PutRecordsRequestEntry;
  /** The bytes of the entry that count against Kinesis' limits. */
  readonly bytes: number;
  readonly lanes: readonly Lane[];
  /** The shard of the record, according to the shard map. The shard has no id before the map is read. */
  readonly shard: { readonly shardId: string | undefined; readonly limiter: ShardLimiter | undefined };
}
