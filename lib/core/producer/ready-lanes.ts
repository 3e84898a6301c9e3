import type { Lane } from './lane';
import type { OutgoingRecord, ReadyQueue } from './outgoing-record';
import type { Placement } from './placement';
import type { ShardMap } from './shard-map';
import { MAX_REQUEST_BYTES, type ShardQueue, ShardTurns } from './shard-turns';
import type { UnitFormer } from './unit-former';

/**
 * The lanes whose turn it is to be sent, by shard, each with a Kinesis record of its own. Shards take turns, and in a
 * shard the lanes do: neither a hot shard nor a busy key holds up the others.
 */
export class ReadyLanes implements ReadyQueue {
  readonly nextDueAtMs = undefined;
  private readonly turns = new ShardTurns<Lane>();

  constructor(
    private readonly units: UnitFormer,
    private readonly placement: Placement,
  ) {}

  get hasTurns(): boolean {
    return this.turns.hasTurns;
  }

  get hasParked(): boolean {
    return this.turns.hasParked;
  }

  push(lane: Lane): void {
    lane.becomeReady();
    this.enqueue(lane);
  }

  takeBatch(maxRecords: number, nowMs: number): OutgoingRecord[] {
    const batch: OutgoingRecord[] = [];
    let bytes = 0;
    while (batch.length < maxRecords) {
      const queue = this.turns.current;
      if (queue === undefined) break;
      const lane = queue.items.head!;
      if (!lane.isReadyIn(queue)) {
        // Its first record ended while it waited.
        queue.items.shift();
        lane.leave(queue);
        this.turns.next();
        continue;
      }
      const maxBytes = this.units.maxBytes(lane);
      if (batch.length > 0 && bytes + maxBytes > MAX_REQUEST_BYTES) break;
      if (queue.limiter?.allows(maxBytes, nowMs) === false) {
        this.turns.park();
        continue;
      }
      queue.items.shift();
      const record = this.depart(lane, queue);
      bytes += record.bytes;
      batch.push(record);
      this.turns.next();
    }
    return batch;
  }

  /** No lane waits for company. */
  endLingering(): void {}
  grow(): void {}

  unpark(): void {
    this.turns.unpark();
  }

  remap(map: ShardMap, nowMs: number): void {
    const lanes = this.turns.remap(map, nowMs);
    for (const lane of lanes) lane.queuedIn = undefined;
    for (const lane of lanes) if (lane.state === 'ready') this.enqueue(lane);
  }

  private enqueue(lane: Lane): void {
    const queue = this.queueOf(lane);
    if (lane.queuedIn === queue) return;
    lane.queuedIn = queue;
    this.turns.enqueue(queue, lane);
  }

  private depart(lane: Lane, shard: ShardQueue<Lane>): OutgoingRecord {
    const unit = lane.unit ?? this.units.form(lane);
    lane.depart(unit);
    const { entry, bytes } = unit;
    this.turns.spend(shard, bytes, entry!);
    return { entry: entry!, bytes, lanes: [lane], shard };
  }

  private queueOf(lane: Lane): ShardQueue<Lane> {
    return this.turns.queueAt(this.turns.isMapped ? this.placement.hashKeyOf(lane.head.record) : undefined);
  }
}
