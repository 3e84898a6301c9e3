import { hashPartitionKey } from '../foundation/hash-key-space';
import { Fifo } from './fifo';
import type { Lane } from './lane';
import { ShardLimiter } from './shard-limiter';
import type { ShardMap } from './shard-map';
import type { UnitFormer } from './unit-former';

/** The ready lanes of one shard, in turn. */
interface ShardQueue {
  readonly shardId: string | undefined;
  readonly lanes: Fifo<Lane>;
  /** Undefined while nobody knows the shards. */
  readonly limiter: ShardLimiter | undefined;
  state: 'empty' | 'queued' | 'parked';
}

/** Where a lane queues, or queued last, and what for. */
interface Place {
  readonly queue: ShardQueue;
  readonly explicitHashKey: bigint | undefined;
  readonly generation: number;
}

/** Limits of one PutRecords request. Source: the Kinesis API reference, PutRecords. */
export const MAX_REQUEST_RECORDS = 500;
const MAX_REQUEST_BYTES = 10 * 1024 * 1024;

/** Two requests: no more can be sent while the stream is asked for its shards. */
const MAX_SENT_UNMAPPED = 2 * MAX_REQUEST_RECORDS;

/**
 * The lanes whose turn it is to be sent, by shard. Shards take turns, and in a shard the lanes do: neither a hot shard
 * nor a busy key holds up the others. A shard that has had its share is parked until it may have more.
 */
export class ReadyLanes {
  private readonly unmapped: ShardQueue = { shardId: undefined, lanes: new Fifo(), limiter: undefined, state: 'empty' };
  private queues = new Map<string, ShardQueue>();
  private readonly places = new Map<string, Place>();
  private turns = new Fifo<ShardQueue>();
  private parked: ShardQueue[] = [];
  private map?: ShardMap;
  private generation = 0;
  /** The units that were sent before the shards were known, to be counted when they are. */
  private readonly sentUnmapped: { partitionKey: string; explicitHashKey: bigint | undefined; bytes: number }[] = [];

  constructor(private readonly units: UnitFormer) {}

  get hasTurns(): boolean {
    return this.turns.length > 0;
  }

  get hasParked(): boolean {
    return this.parked.length > 0;
  }

  push(lane: Lane): void {
    lane.becomeReady();
    this.enqueue(lane);
  }

  /** The shard that the lane was sent to, as the shard map had it then; undefined if there was no map. */
  shardIdOf(lane: Lane): string | undefined {
    return this.places.get(lane.partitionKey)?.queue.shardId;
  }

  /** Hears that the lane's shard throttled the unit that was sent at this time. */
  throttled(lane: Lane, sentAtMs: number, nowMs: number): void {
    this.places.get(lane.partitionKey)?.queue.limiter?.throttled(sentAtMs, nowMs);
  }

  /** Forgets where a lane queued that has ended. */
  forget(lane: Lane): void {
    this.places.delete(lane.partitionKey);
  }

  /** Takes as many lanes as one request carries and their shards take now, each with its unit. */
  takeBatch(maxRecords: number, nowMs: number): Lane[] {
    const batch: Lane[] = [];
    let bytes = 0;
    while (this.turns.length > 0 && batch.length < maxRecords) {
      const queue = this.turns.head!;
      const lane = queue.lanes.head!;
      if (lane.state !== 'ready') {
        // It ended while it waited.
        queue.lanes.shift();
        this.giveTurn(this.turns.shift()!);
        continue;
      }
      const maxBytes = this.units.maxBytes(lane);
      if (bytes > 0 && bytes + maxBytes > MAX_REQUEST_BYTES) break;
      this.turns.shift();
      if (queue.limiter?.allows(maxBytes, nowMs) === false) {
        queue.state = 'parked';
        this.parked.push(queue);
        continue;
      }
      queue.lanes.shift();
      const unit = lane.unit ?? this.units.form(lane);
      lane.depart(unit);
      this.spend(queue, lane, unit.bytes);
      bytes += unit.bytes;
      batch.push(lane);
      this.giveTurn(queue);
    }
    return batch;
  }

  /** Lets parked shards try again. */
  unpark(): void {
    for (const queue of this.parked.splice(0)) this.giveTurn(queue);
  }

  /** Sorts the ready lanes anew. Shards that stay keep their share. */
  remap(map: ShardMap, nowMs: number): void {
    const queues = [this.unmapped, ...this.queues.values()];
    const lanes = queues.flatMap((queue) => drain(queue));
    const limiters = new Map([...this.queues].map(([shardId, { limiter }]) => [shardId, limiter]));
    this.map = map;
    this.generation += 1;
    this.turns = new Fifo();
    this.parked = [];
    this.queues = new Map();
    for (const shardId of map.shardIds) {
      const limiter = limiters.get(shardId) ?? new ShardLimiter(nowMs);
      this.queues.set(shardId, { shardId, lanes: new Fifo(), limiter, state: 'empty' });
    }
    for (const { partitionKey, explicitHashKey, bytes } of this.sentUnmapped.splice(0)) {
      this.queueAt(explicitHashKey ?? hashPartitionKey(partitionKey)).limiter?.spend(bytes);
    }
    for (const lane of lanes) if (lane.state === 'ready') this.enqueue(lane);
  }

  private enqueue(lane: Lane): void {
    const queue = this.queueOf(lane);
    queue.lanes.push(lane);
    if (queue.state === 'empty') this.giveTurn(queue);
  }

  private spend(queue: ShardQueue, { partitionKey, head }: Lane, bytes: number): void {
    if (queue.limiter !== undefined) queue.limiter.spend(bytes);
    else if (this.map === undefined && this.sentUnmapped.length < MAX_SENT_UNMAPPED) {
      // Without the data: a stream whose shards nobody may read must not keep them.
      this.sentUnmapped.push({ partitionKey, explicitHashKey: head.record.explicitHashKey, bytes });
    }
  }

  private giveTurn(queue: ShardQueue): void {
    queue.state = queue.lanes.length > 0 ? 'queued' : 'empty';
    if (queue.state === 'queued') this.turns.push(queue);
  }

  private queueOf(lane: Lane): ShardQueue {
    if (this.map === undefined) return this.unmapped;
    const { explicitHashKey } = lane.head.record;
    const place = this.places.get(lane.partitionKey);
    if (place?.generation === this.generation && place.explicitHashKey === explicitHashKey) return place.queue;
    const queue = this.queueAt(explicitHashKey ?? hashPartitionKey(lane.partitionKey));
    this.places.set(lane.partitionKey, { queue, explicitHashKey, generation: this.generation });
    return queue;
  }

  private queueAt(hashKey: bigint): ShardQueue {
    const shardId = this.map?.shardIdOf(hashKey);
    return (shardId !== undefined && this.queues.get(shardId)) || this.unmapped;
  }
}

function drain(queue: ShardQueue): Lane[] {
  const lanes: Lane[] = [];
  for (let lane = queue.lanes.shift(); lane !== undefined; lane = queue.lanes.shift()) lanes.push(lane);
  queue.state = 'empty';
  return lanes;
}
