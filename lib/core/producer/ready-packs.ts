import type { Clock } from '../kernel/clock';
import { Fifo } from '../kernel/fifo';
import type { AggregateBuilder } from './aggregate-builder';
import type { Lane } from './lane';
import type { OutgoingRecord, ReadyQueue } from './outgoing-record';
import type { MeetingPoint, Placement } from './placement';
import type { ShardMap } from './shard-map';
import { MAX_REQUEST_BYTES, type ShardQueue, ShardTurns } from './shard-turns';
import { entryOf, type UnitFormer } from './unit-former';

/** The ready lanes that may share a pack. */
interface Company {
  readonly point: MeetingPoint;
  readonly lanes: Fifo<Lane>;
  /** What the lanes have brought together. */
  bytes: number;
  /** Whether it waits for more lanes before it queues for its turn. */
  isLingering: boolean;
}

interface PackOptions {
  /** The largest pack of several records, in bytes. */
  maxAggregateBytes: number;
  /** How long a lane waits for company, in milliseconds. */
  lingerMs: number;
  clock: Clock;
}

/**
 * The lanes whose turn it is to be sent, by the point of the hash key space that their records go to. A pack carries the
 * units of lanes of one point, so that no reshard can divide it. Shards take turns, in a shard the points do, and in a
 * point the lanes do.
 */
export class ReadyPacks implements ReadyQueue {
  private readonly turns = new ShardTurns<Company>();
  private readonly companies = new Map<string, Company>();
  private readonly lingering = new Fifo<{ company: Company; dueAtMs: number }>();

  constructor(
    private readonly units: UnitFormer,
    private readonly placement: Placement,
    private readonly options: PackOptions,
  ) {}

  get hasTurns(): boolean {
    return this.turns.hasTurns;
  }

  get hasParked(): boolean {
    return this.turns.hasParked;
  }

  get nextDueAtMs(): number | undefined {
    return this.lingering.head?.dueAtMs;
  }

  push(lane: Lane): void {
    lane.becomeReady();
    const company = this.companyOf(lane);
    if (lane.queuedIn !== company) {
      lane.queuedIn = company;
      company.lanes.push(lane);
    }
    company.bytes += lane.unit?.bytes ?? lane.bytes;
    this.endIfFull(company);
  }

  grow(lane: Lane, bytes: number): void {
    // A unit that was formed is sent as it is.
    if (lane.unit !== undefined) return;
    const company = this.companyOf(lane);
    company.bytes += bytes;
    this.endIfFull(company);
  }

  takeBatch(maxRecords: number, nowMs: number): OutgoingRecord[] {
    const batch: OutgoingRecord[] = [];
    let bytes = 0;
    while (batch.length < maxRecords) {
      const queue = this.turns.current;
      if (queue === undefined) break;
      const company = queue.items.head!;
      const first = firstReady(company);
      if (first === undefined) {
        queue.items.shift();
        this.companies.delete(company.point.name);
        this.turns.next();
        continue;
      }
      const leastBytes = this.units.maxBytesOfFirst(first);
      const { maxAggregateBytes } = this.options;
      if (batch.length > 0 && bytes + Math.max(leastBytes, maxAggregateBytes) > MAX_REQUEST_BYTES) break;
      if (queue.limiter?.allows(leastBytes, nowMs) === false) {
        this.turns.park();
        continue;
      }
      queue.items.shift();
      const bytesLeft = queue.limiter?.bytesLeft ?? maxAggregateBytes;
      const record = this.pack(company, queue, Math.min(maxAggregateBytes, Math.max(leastBytes, bytesLeft)));
      bytes += record.bytes;
      batch.push(record);
      if (firstReady(company) === undefined) this.companies.delete(company.point.name);
      else queue.items.push(company);
      this.turns.next();
    }
    return batch;
  }

  unpark(): void {
    this.turns.unpark();
  }

  remap(map: ShardMap, nowMs: number): void {
    for (const company of this.turns.remap(map, nowMs)) this.enqueue(company);
  }

  private companyOf({ head }: Lane): Company {
    const point = this.placement.meetingPointOf(head.record);
    let company = this.companies.get(point.name);
    if (company === undefined) {
      company = { point, lanes: new Fifo(), bytes: 0, isLingering: false };
      this.companies.set(point.name, company);
      this.linger(company);
    }
    return company;
  }

  private linger(company: Company): void {
    const { lingerMs, clock } = this.options;
    if (lingerMs === 0) {
      this.enqueue(company);
      return;
    }
    company.isLingering = true;
    this.lingering.push({ company, dueAtMs: clock.now() + lingerMs });
  }

  endLingering(nowMs: number): void {
    for (let next = this.lingering.head; next !== undefined && next.dueAtMs <= nowMs; next = this.lingering.head) {
      this.lingering.shift();
      if (next.company.isLingering) this.enqueue(next.company);
    }
  }

  /** A company that fills a pack waits for no more. */
  private endIfFull(company: Company): void {
    if (company.isLingering && company.bytes >= this.options.maxAggregateBytes) this.enqueue(company);
  }

  private enqueue(company: Company): void {
    company.isLingering = false;
    this.turns.enqueue(this.turns.queueAt(company.point.hashKey), company);
  }

  /** A pack of the first lanes that fit. What is too large for company, or must go alone, does. */
  private pack(company: Company, shard: ShardQueue<Company>, maxBytes: number): OutgoingRecord {
    const { point } = company;
    let pack = this.units.startPack(point, maxBytes);
    const lanes = this.fill(pack, company);
    if (lanes.length === 0) {
      const lane = company.lanes.head!;
      pack = this.units.startPack(point, this.units.maxBytesOfFirst(lane));
      lane.depart(this.units.addTo(pack, point, lane, 1)!);
      lanes.push(lane);
    }
    const bytes = pack.byteLength;
    const entry = entryOf(pack.build());
    this.turns.spend(shard, bytes, entry);
    return { entry, bytes, lanes, shard };
  }

  private fill(pack: AggregateBuilder, company: Company): Lane[] {
    const packed: Lane[] = [];
    for (let lane = firstReady(company); lane !== undefined; lane = firstReady(company)) {
      if (lane.unit?.mustGoAlone) break;
      const unit = this.units.addTo(pack, company.point, lane);
      if (unit === undefined) break;
      lane.depart(unit);
      packed.push(lane);
    }
    return packed;
  }
}

/** The company's first lane, without those that have gone, or whose first record ended while it waited. */
function firstReady(company: Company): Lane | undefined {
  const { lanes } = company;
  while (lanes.head?.isReadyIn(company) === false) lanes.shift()!.leave(company);
  return lanes.head;
}
