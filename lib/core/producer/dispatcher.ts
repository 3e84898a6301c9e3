import type { EvenShardsError } from '../kernel/errors';
import type { Lane } from './lane';
import type { OutgoingRecord, ReadyQueue } from './outgoing-record';
import { hashKeyOfEntry, type Placement } from './placement';
import { StreamDistributionError } from './producer-errors';
import type { ProducerSettings } from './producer-options';
import type { PutRecordsClient } from './put-records-client';
import { bulkPuts, type Outcome, type PutTransport, sequentialPuts } from './put-transport';
import { ReadyLanes } from './ready-lanes';
import { ReadyPacks } from './ready-packs';
import { isShardThrottle } from './retry';
import type { StatisticsCounter } from './statistics-counter';
import { StreamShards } from './stream-shards';
import type { UnitFormer } from './unit-former';

/** Hears from a dispatcher. */
export interface DispatchListener {
  /**
   * Hears that a request with the lane's unit was answered, or failed.
   *
   * @param hadCompany whether the units of other lanes shared its Kinesis record
   */
  settle(lane: Lane, outcome: Outcome, hadCompany: boolean): void;
  /** Hears that the stream cannot keep any order. */
  stop(reason: EvenShardsError): void;
}

/** How long a shard that has had its share waits at least, in milliseconds, so that its next records go together. */
const PACE_MS = 20;

/** What rounding leaves of a time must not become a timer of its own. */
const MIN_LINGER_MS = 1;

/**
 * Sends the units of ready lanes, as many in a request and as many requests side by side as the limits allow, and to no
 * shard more than it takes.
 */
export class Dispatcher {
  private readonly transport: PutTransport;
  private readonly shards: StreamShards;
  private readonly ready: ReadyQueue;
  private requestsInFlight = 0;
  private hasSent = false;
  private isSendScheduled = false;
  private isPacing = false;
  private cancelLingering?: () => void;

  constructor(
    client: PutRecordsClient,
    private readonly settings: ProducerSettings,
    units: UnitFormer,
    placement: Placement,
    private readonly statistics: StatisticsCounter,
    private readonly listener: DispatchListener,
  ) {
    const { stream, clock, requestTimeoutMs } = settings;
    const limit = { ms: requestTimeoutMs, clock };
    this.transport = (settings.sequentialPuts ? sequentialPuts : bulkPuts)(client, stream, limit);
    this.shards = new StreamShards(client, stream, limit);
    const isPacked = settings.aggregation === 'packed';
    this.ready = isPacked ? new ReadyPacks(units, placement, settings) : new ReadyLanes(units, placement);
  }

  /** Queues a lane for the next request. Requests form in a microtask, so that records put together go together. */
  push(lane: Lane): void {
    this.ready.push(lane);
    this.sendSoon();
  }

  /** Hears that a lane that is ready was given another record: it may fill a pack. */
  grow(lane: Lane, bytes: number): void {
    this.ready.grow(lane, bytes);
    this.sendSoon();
  }

  private sendSoon(): void {
    if (this.isSendScheduled) return;
    this.isSendScheduled = true;
    queueMicrotask(() => {
      this.isSendScheduled = false;
      this.sendReady();
    });
  }

  private sendReady(): void {
    while (this.ready.hasTurns && this.mayStartRequest()) {
      const batch = this.ready.takeBatch(this.settings.maxRequestRecords, this.settings.clock.now());
      if (batch.length > 0) void this.send(batch);
    }
    if (this.ready.hasParked) this.pace();
    this.awaitCompany();
  }

  /** Sees to it that what lingers goes when it is due, unless it went before. */
  private awaitCompany(): void {
    const { nextDueAtMs } = this.ready;
    if (nextDueAtMs === undefined || this.cancelLingering !== undefined) return;
    const { clock } = this.settings;
    this.cancelLingering = clock.schedule(
      () => {
        this.cancelLingering = undefined;
        this.ready.endLingering(clock.now());
        this.sendReady();
      },
      Math.max(MIN_LINGER_MS, nextDueAtMs - clock.now()),
    );
  }

  /** With the second request the shards begin to matter: until they are known, requests go one at a time. */
  private mayStartRequest(): boolean {
    const { map } = this.shards;
    if (map === undefined && this.hasSent) void this.readShards();
    const maxInFlight = map === undefined && this.shards.isLoading ? 1 : this.settings.maxRequestsInFlight;
    return this.requestsInFlight < maxInFlight;
  }

  private pace(): void {
    if (this.isPacing) return;
    this.isPacing = true;
    this.settings.clock.schedule(() => {
      this.isPacing = false;
      this.ready.unpark();
      this.sendReady();
    }, PACE_MS);
  }

  private async send(batch: OutgoingRecord[]): Promise<void> {
    const sentAtMs = this.settings.clock.now();
    this.hasSent = true;
    this.requestsInFlight += 1;
    const outcomes = await this.transport(batch.map(({ entry }) => entry));
    this.requestsInFlight -= 1;
    this.statistics.requested(batch.length, this.settings.clock.now() - sentAtMs);
    batch.forEach((record, index) => {
      const outcome = outcomes[index]!;
      this.heed(record, outcome, sentAtMs);
      for (const lane of record.lanes) this.listener.settle(lane, outcome, record.lanes.length > 1);
    });
    this.sendReady();
  }

  /** Counts an outcome, and learns from it what its shard takes, and whether the shard map is still true. */
  private heed(record: OutgoingRecord, outcome: Outcome, sentAtMs: number): void {
    const { shardId: expected, limiter } = record.shard;
    if (!outcome.ok) {
      this.statistics.failed(outcome.code);
      if (isShardThrottle(outcome.code)) limiter?.throttled(sentAtMs, this.settings.clock.now());
      return;
    }
    this.statistics.stored(record.entry);
    if (expected !== undefined && expected !== outcome.shardId) void this.checkShard(record, outcome.shardId);
  }

  /** Resolves to whether there is a new map. */
  private async readShards({ isUrgent = false } = {}): Promise<boolean> {
    const isNew = await this.shards.refresh({ isUrgent });
    if (isNew === undefined) return false;
    if (isNew) this.ready.remap(this.shards.map!, this.settings.clock.now());
    this.sendReady();
    return isNew;
  }

  /**
   * A record landed elsewhere than the shard map says: the map is old, or the stream ignores keys. Where the map
   * contradicts, a new one decides: a stream that was deleted and made again has its shard ids anew.
   */
  private async checkShard({ entry }: OutgoingRecord, shardId: string): Promise<void> {
    const hashKey = hashKeyOfEntry(entry);
    const isContradicted = (): boolean => this.shards.map!.contradicts(hashKey, shardId);
    const isUrgent = isContradicted();
    const isNew = await this.readShards({ isUrgent });
    if (isUrgent && isNew && isContradicted()) this.listener.stop(new StreamDistributionError());
  }
}
