import type { Lane } from './lane';
import type { PutRecordsRequestEntry } from './put-records-client';
import type { ShardLimiter } from './shard-limiter';
import type { ShardMap } from './shard-map';

/** A Kinesis record that is sent: the unit of one lane, or a pack with the units of several. */
export interface OutgoingRecord {
  readonly entry: PutRecordsRequestEntry;
  /** What the entry counts against Kinesis' limits. */
  readonly bytes: number;
  readonly lanes: readonly Lane[];
  /** The shard it is sent to, as the shard map has it. It has no id while nobody knows the shards. */
  readonly shard: { readonly shardId: string | undefined; readonly limiter: ShardLimiter | undefined };
}

/** What queues lanes that are ready, and takes what they send. */
export interface ReadyQueue {
  /** Queues a lane. */
  push(lane: Lane): void;
  /** Hears that a lane that is ready was given another record. */
  grow(lane: Lane, bytes: number): void;
  /** Takes as many Kinesis records as one request carries and their shards take now. */
  takeBatch(maxRecords: number, nowMs: number): OutgoingRecord[];
  /** Whether anything waits for its turn. */
  readonly hasTurns: boolean;
  /** Whether a shard that has had its share waits for more. */
  readonly hasParked: boolean;
  /** When something that waits for company goes without it; undefined if nothing waits. */
  readonly nextDueAtMs: number | undefined;
  /** Lets go what has waited for company long enough. */
  endLingering(nowMs: number): void;
  /** Lets parked shards try again. */
  unpark(): void;
  /** Sorts anew what is ready. */
  remap(map: ShardMap, nowMs: number): void;
}
