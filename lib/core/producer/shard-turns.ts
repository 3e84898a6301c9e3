import { Fifo } from '../kernel/fifo';
import { hashKeyOfEntry, type PlacedEntry } from './placement';
import type { PutRecordsRequestEntry } from './put-records-client';
import { ShardLimiter } from './shard-limiter';
import type { ShardMap } from './shard-map';

/** What is ready for one shard, in turn. */
export interface ShardQueue<T> {
  readonly shardId: string | undefined;
  readonly items: Fifo<T>;
  /** Undefined while nobody knows the shards. */
  readonly limiter: ShardLimiter | undefined;
  state: 'empty' | 'queued' | 'parked';
}

/** Limits of one PutRecords request. Source: the Kinesis API reference, PutRecords. */
export const MAX_REQUEST_RECORDS = 500;
export const MAX_REQUEST_BYTES = 10 * 1024 * 1024;

/** Two requests: no more can be sent while the stream is asked for its shards. */
const MAX_SENT_UNMAPPED = 2 * MAX_REQUEST_RECORDS;

/**
 * What is ready to be sent, by shard. Shards take turns: a hot shard does not hold up the others. A shard that has had
 * its share is parked until it may have more.
 */
export class ShardTurns<T> {
  private readonly unmapped = emptyQueue<T>(undefined, undefined);
  private queues = new Map<string, ShardQueue<T>>();
  private turns = new Fifo<ShardQueue<T>>();
  private parked: ShardQueue<T>[] = [];
  private map?: ShardMap;
  /** What was sent before the shards were known, to be counted when they are. */
  private readonly sentUnmapped: { place: PlacedEntry; bytes: number }[] = [];

  /** The shard whose turn it is; undefined if none has anything. Its queue is not empty. */
  get current(): ShardQueue<T> | undefined {
    return this.turns.head;
  }

  get hasTurns(): boolean {
    return this.turns.length > 0;
  }

  get hasParked(): boolean {
    return this.parked.length > 0;
  }

  /** Whether the shards are known. Until then there is one queue, which it takes no hash key to find. */
  get isMapped(): boolean {
    return this.map !== undefined;
  }

  queueAt(hashKey: bigint | undefined): ShardQueue<T> {
    const shardId = hashKey === undefined ? undefined : this.map?.shardIdOf(hashKey);
    return (shardId !== undefined && this.queues.get(shardId)) || this.unmapped;
  }

  enqueue(queue: ShardQueue<T>, item: T): void {
    queue.items.push(item);
    if (queue.state === 'empty') this.giveTurn(queue);
  }

  /** Ends the turn of the current shard, which goes last if it has more. */
  next(): void {
    this.giveTurn(this.turns.shift()!);
  }

  /** Ends the turn of the current shard: it has had its share. */
  park(): void {
    const queue = this.turns.shift()!;
    queue.state = 'parked';
    this.parked.push(queue);
  }

  /** Lets parked shards try again. */
  unpark(): void {
    for (const queue of this.parked.splice(0)) this.giveTurn(queue);
  }

  /** Counts what is sent to a shard. Does not hold on to data: the shards may never be known. */
  spend(queue: ShardQueue<T>, bytes: number, { PartitionKey, ExplicitHashKey }: PutRecordsRequestEntry): void {
    if (queue.limiter !== undefined) queue.limiter.spend(bytes);
    else if (this.map === undefined && this.sentUnmapped.length < MAX_SENT_UNMAPPED) {
      this.sentUnmapped.push({ place: { PartitionKey, ExplicitHashKey }, bytes });
    }
  }

  /** Takes everything out, to be queued anew by another map. Shards that stay keep their share. */
  remap(map: ShardMap, nowMs: number): T[] {
    const items = [this.unmapped, ...this.queues.values()].flatMap((queue) => drain(queue));
    const limiters = new Map([...this.queues].map(([shardId, { limiter }]) => [shardId, limiter]));
    this.map = map;
    this.turns = new Fifo();
    this.parked = [];
    this.queues = new Map();
    for (const shardId of map.shardIds) {
      this.queues.set(shardId, emptyQueue(shardId, limiters.get(shardId) ?? new ShardLimiter(nowMs)));
    }
    for (const { place, bytes } of this.sentUnmapped.splice(0))
      this.queueAt(hashKeyOfEntry(place)).limiter?.spend(bytes);
    return items;
  }

  private giveTurn(queue: ShardQueue<T>): void {
    queue.state = queue.items.length > 0 ? 'queued' : 'empty';
    if (queue.state === 'queued') this.turns.push(queue);
  }
}

function emptyQueue<T>(shardId: string | undefined, limiter: ShardLimiter | undefined): ShardQueue<T> {
  return { shardId, items: new Fifo(), limiter, state: 'empty' };
}

function drain<T>(queue: ShardQueue<T>): T[] {
  const items: T[] = [];
  for (let item = queue.items.shift(); item !== undefined; item = queue.items.shift()) items.push(item);
  queue.state = 'empty';
  return items;
}
