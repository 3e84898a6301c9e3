import type { Clock } from '../kernel/clock';
import { Fifo } from '../kernel/fifo';
import { type EntryFormer, kinesisRecordOf } from './entry-former';
import type { Lane } from './lane';
import type { OutgoingRecord } from './outgoing-record';
import { ReadyGroup } from './ready-group';
import type { RecordHashKeys } from './record-hash-keys';
import type { ShardMap } from './shard-map';
import { MAX_REQUEST_BYTES, type ShardQueue, ShardTurns } from './shard-turns';

type Group = ReadyGroup<Lane>;

interface ReadyQueueOptions {
  aggregation: 'none' | 'per-key' | 'packed';
  /** The maximum size of an aggregate of several records, in bytes. */
  maxAggregateBytes: number;
  /** How long a group waits for more lanes before it queues for its turn, in milliseconds. */
  lingerMs: number;
  clock: Clock;
}

/**
 * The lanes that are ready to be sent. The queue is served round-robin: first by shard, then by group, then by lane. So neither a
 * hot shard nor a busy key delays other shards and keys.
 *
 * A group is a single lane or, with `aggregation: 'packed'`, the lanes of one aggregation group. All records of a group have
 * one hash key, so no reshard can divide an aggregate.
 */
export class ReadyQueue {
  private readonly turns = new ShardTurns<Group>();
  /** The groups of several lanes, by name. */
  private readonly groups = new Map<string, Group>();
  private readonly lingering = new Fifo<{ group: Group; dueAtMs: number }>();
  private readonly isPacked: boolean;

  constructor(
    private readonly former: EntryFormer,
    private readonly hashKeys: RecordHashKeys,
    private readonly options: ReadyQueueOptions,
  ) {
    this.isPacked = options.aggregation === 'packed';
  }

  get hasTurns(): boolean {
    return this.turns.hasTurns;
  }

  /** Whether a shard is paused because it has used its share. */
  get hasPaused(): boolean {
    return this.turns.hasPaused;
  }

  /** When the next lingering group gets its turn. Undefined if no group lingers. */
  get nextDueAtMs(): number | undefined {
    return this.lingering.head?.dueAtMs;
  }

  enqueue(lane: Lane): void {
    lane.becomeReady();
    const group = this.groupOf(lane);
    if (lane.queuedIn !== group) {
      lane.queuedIn = group;
      group.append(lane);
    }
    group.bytes += lane.entry?.bytes ?? lane.bytes;
    this.enqueueIfDue(group, lane);
  }

  /** Counts a record that was appended to a ready lane, because the record may complete an aggregate. */
  countAppended(lane: Lane, bytes: number): void {
    // A formed entry accepts no more records.
    if (!this.isPacked || lane.entry !== undefined) return;
    const group = this.groupOf(lane);
    group.bytes += bytes;
    this.enqueueIfDue(group, lane);
  }

  /** Takes as many Kinesis records as one request may contain and as their shards accept now. */
  takeBatch(maxRecords: number, nowMs: number): OutgoingRecord[] {
    const batch: OutgoingRecord[] = [];
    let bytes = 0;
    while (batch.length < maxRecords) {
      const shard = this.turns.current;
      if (shard === undefined) break;
      const group = shard.items.head!;
      const lane = firstReady(group);
      if (lane === undefined) {
        // No lane of the group is ready: the first record of each lane got its result while the group waited.
        shard.items.shift();
        this.forget(group);
        this.turns.next();
        continue;
      }
      const leastBytes = this.former.leastBytes(lane);
      const isAlone = lane.entry?.mustBeSentAlone === true;
      if (batch.length > 0 && (isAlone || bytes + Math.max(leastBytes, this.fullBytes) > MAX_REQUEST_BYTES)) break;
      if (shard.limiter?.allows(leastBytes, nowMs) === false) {
        this.turns.pause();
        continue;
      }
      shard.items.shift();
      const record = this.isPacked ? this.formShared(group, lane, shard, leastBytes) : this.formOwn(lane, shard);
      this.turns.spend(shard, record.bytes, record.entry);
      bytes += record.bytes;
      batch.push(record);
      if (firstReady(group) === undefined) this.forget(group);
      else shard.items.push(group);
      this.turns.next();
      if (isAlone) break;
    }
    return batch;
  }

  /** Queues the groups that have waited for `lingerMs`. */
  endLingering(nowMs: number): void {
    for (let next = this.lingering.head; next !== undefined && next.dueAtMs <= nowMs; next = this.lingering.head) {
      this.lingering.shift();
      if (next.group.shard === undefined) this.enqueueGroup(next.group);
    }
  }

  resume(): void {
    this.turns.resume();
  }

  /** Moves the groups to the queues of their shards, according to a new shard map. */
  remap(map: ShardMap, nowMs: number): void {
    for (const group of this.turns.remap(map, nowMs)) this.enqueueGroup(group);
  }

  /** The bytes of a full aggregate of several lanes. */
  private get fullBytes(): number {
    return this.isPacked ? this.options.maxAggregateBytes : 0;
  }

  private groupOf(lane: Lane): Group {
    if (!this.isPacked) {
      const { queuedIn } = lane;
      // The lane keeps its position in the queue if its first record has expired and the next record belongs to the same shard.
      return queuedIn !== undefined && queuedIn.shard === this.shardOf(lane) ? queuedIn : new ReadyGroup(undefined);
    }
    const { name } = this.hashKeys.aggregationGroupOf(lane.head.record);
    let group = this.groups.get(name);
    if (group === undefined) {
      group = new ReadyGroup(name);
      this.groups.set(name, group);
      const { lingerMs, clock } = this.options;
      if (lingerMs > 0) this.lingering.push({ group, dueAtMs: clock.now() + lingerMs });
    }
    return group;
  }

  /** A group that has enough records for a full aggregate does not linger. */
  private enqueueIfDue(group: Group, lane: Lane): void {
    if (group.shard !== undefined) return;
    const { lingerMs, maxAggregateBytes } = this.options;
    if (lingerMs === 0 || group.bytes >= maxAggregateBytes) this.giveTurn(group, lane);
  }

  private enqueueGroup(group: Group): void {
    const lane = firstReady(group);
    if (lane === undefined) this.forget(group);
    else this.giveTurn(group, lane);
  }

  private giveTurn(group: Group, lane: Lane): void {
    group.shard = this.shardOf(lane);
    this.turns.enqueue(group.shard, group);
  }

  private shardOf({ head }: Lane): ShardQueue<Group> {
    return this.turns.queueAt(this.turns.isMapped ? this.hashKeys.hashKeyOf(head.record) : undefined);
  }

  private forget({ name }: Group): void {
    if (name !== undefined) this.groups.delete(name);
  }

  private formOwn(lane: Lane, shard: ShardQueue<Group>): OutgoingRecord {
    const entry = lane.entry ?? this.former.form(lane);
    lane.depart(entry);
    return { entry: entry.kinesisRecord!, bytes: entry.bytes, lanes: [lane], shard };
  }

  /** Forms an aggregate of as many lanes as fit, or of one lane whose entry is too large or must be sent alone. */
  private formShared(group: Group, first: Lane, shard: ShardQueue<Group>, leastBytes: number): OutgoingRecord {
    const { maxAggregateBytes } = this.options;
    const bytesLeft = shard.limiter?.bytesLeft ?? maxAggregateBytes;
    const maxBytes = Math.min(maxAggregateBytes, Math.max(leastBytes, bytesLeft));
    const target = this.hashKeys.aggregationGroupOf(first.head.record);
    let aggregate = this.former.startAggregate(target, maxBytes);
    const lanes: Lane[] = [];
    for (let lane: Lane | undefined = first; lane !== undefined; lane = firstReady(group)) {
      if (lane.entry?.mustBeSentAlone) break;
      const entry = this.former.addTo(aggregate, target, lane);
      if (entry === undefined) break;
      lane.depart(entry);
      lanes.push(lane);
    }
    if (lanes.length === 0) {
      aggregate = this.former.startAggregate(target, leastBytes);
      first.depart(this.former.addTo(aggregate, target, first, 1)!);
      lanes.push(first);
    }
    return { entry: kinesisRecordOf(aggregate.build()), bytes: aggregate.byteLength, lanes, shard };
  }
}

/** The first ready lane of a group. Removes the lanes before it, which are in flight, are in another group, or have ended. */
function firstReady(group: Group): Lane | undefined {
  for (let lane = group.head; lane !== undefined; lane = group.head) {
    if (lane.isReadyIn(group)) return lane;
    group.removeFirst();
    lane.leave(group);
  }
  return undefined;
}
