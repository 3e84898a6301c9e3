import { Fifo } from '../kernel/fifo';
import type { PutRecordsRequestEntry } from './put-records-client';
import { hashKeyOfEntry, type KeyedEntry } from './record-hash-keys';
import { ShardLimiter } from './shard-limiter';
import type { ShardMap } from './shard-map';

/** The items that are ready for one shard, in order. */
export interface ShardQueue<T> {
  readonly shardId: string | undefined;
  readonly items: Fifo<T>;
  /** Undefined until the shard map was read. */
  readonly limiter: ShardLimiter | undefined;
  state: 'empty' | 'queued' | 'paused';
}

/** Limits of one PutRecords request. Source: the Kinesis API reference, PutRecords. */
export const MAX_REQUEST_RECORDS = 500;
export const MAX_REQUEST_BYTES = 10 * 1024 * 1024;

/** The maximum number of records that the producer sends before it has read the shard map: two full requests. */
const MAX_SENT_UNMAPPED = 2 * MAX_REQUEST_RECORDS;

/**
 * The items that are ready to be sent, by shard. Shards are served round-robin, so a hot shard does not delay the other shards. A
 * shard that has used its share is paused until it may receive more records.
 */
export class ShardTurns<T> {
  private readonly unmapped = emptyQueue<T>(undefined, undefined);
  private queues = new Map<string, ShardQueue<T>>();
  private turns = new Fifo<ShardQueue<T>>();
  private paused: ShardQueue<T>[] = [];
  private map?: ShardMap;
  /**
   * The records that were sent before the shard map was read. After that read, the limiters of the shards count these records.
   */
  private readonly sentUnmapped: { key: KeyedEntry; bytes: number }[] = [];

  /** The shard whose turn it is. Its queue is not empty. Undefined if no shard has a turn. */
  get current(): ShardQueue<T> | undefined {
    return this.turns.head;
  }

  get hasTurns(): boolean {
    return this.turns.length > 0;
  }

  get hasPaused(): boolean {
    return this.paused.length > 0;
  }

  /** Whether the shard map was read. Before that, all items are in one queue, and no hash key is needed to find the queue. */
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

  /** Ends the turn of the current shard, and queues the shard behind the other shards if it has more items. */
  next(): void {
    this.giveTurn(this.turns.shift()!);
  }

  /** Pauses the current shard until `resume`, because it has used its share. */
  pause(): void {
    const queue = this.turns.shift()!;
    queue.state = 'paused';
    this.paused.push(queue);
  }

  resume(): void {
    for (const queue of this.paused.splice(0)) this.giveTurn(queue);
  }

  /**
   * Counts a record that is sent to a shard. Remembers the key and the size of the record until the shard map is read. The method
   * does not keep the data of the record, because the shard map may never be read.
   */
  spend(queue: ShardQueue<T>, bytes: number, { PartitionKey, ExplicitHashKey }: PutRecordsRequestEntry): void {
    if (queue.limiter !== undefined) queue.limiter.spend(bytes);
    else if (this.map === undefined && this.sentUnmapped.length < MAX_SENT_UNMAPPED) {
      this.sentUnmapped.push({ key: { PartitionKey, ExplicitHashKey }, bytes });
    }
  }

  /** Replaces the shard map, and removes and returns all items. Shards that are in both maps keep their share. */
  remap(map: ShardMap, nowMs: number): T[] {
    const items = [this.unmapped, ...this.queues.values()].flatMap((queue) => drain(queue));
    const limiters = new Map([...this.queues].map(([shardId, { limiter }]) => [shardId, limiter]));
    this.map = map;
    this.turns = new Fifo();
    this.paused = [];
    this.queues = new Map();
    for (const shardId of map.shardIds) {
      this.queues.set(shardId, emptyQueue(shardId, limiters.get(shardId) ?? new ShardLimiter(nowMs)));
    }
    for (const { key, bytes } of this.sentUnmapped.splice(0)) this.queueAt(hashKeyOfEntry(key)).limiter?.spend(bytes);
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
