import type { EvenShardsError } from '../foundation/errors';
import { hashPartitionKey } from '../foundation/hash-key-space';
import type { Lane } from './lane';
import { StreamDistributionError } from './producer-errors';
import type { ProducerSettings } from './producer-options';
import type { PutRecordsClient } from './put-records-client';
import { bulkPuts, type Outcome, type PutTransport, sequentialPuts } from './put-transport';
import { ReadyLanes } from './ready-lanes';
import { isShardThrottle } from './retry';
import type { StatisticsCounter } from './statistics-counter';
import { StreamShards } from './stream-shards';
import type { UnitFormer } from './unit-former';

/** Hears from a dispatcher. */
export interface DispatchListener {
  /** A request with the lane's unit was answered, or failed. */
  settle(lane: Lane, outcome: Outcome): void;
  /** The stream cannot keep any order. */
  stop(reason: EvenShardsError): void;
}

/** How long a shard that has had its share waits at least, in milliseconds, so that its next records go together. */
const PACE_MS = 20;

/**
 * Sends the units of ready lanes, as many in a request and as many requests side by side as the limits allow, and to no
 * shard more than it takes.
 */
export class Dispatcher {
  private readonly transport: PutTransport;
  private readonly shards: StreamShards;
  private readonly ready: ReadyLanes;
  private requestsInFlight = 0;
  private hasSent = false;
  private isSendScheduled = false;
  private isPacing = false;

  constructor(
    client: PutRecordsClient,
    private readonly settings: ProducerSettings,
    units: UnitFormer,
    private readonly statistics: StatisticsCounter,
    private readonly listener: DispatchListener,
  ) {
    this.transport = (settings.sequentialPuts ? sequentialPuts : bulkPuts)(client, settings.stream, settings);
    this.shards = new StreamShards(client, settings.stream, settings);
    this.ready = new ReadyLanes(units);
  }

  /** Queues a lane for the next request. Requests form in a microtask, so that records put together go together. */
  push(lane: Lane): void {
    this.ready.push(lane);
    if (this.isSendScheduled) return;
    this.isSendScheduled = true;
    queueMicrotask(() => {
      this.isSendScheduled = false;
      this.sendReady();
    });
  }

  /** Forgets a lane that has ended. */
  forget(lane: Lane): void {
    this.ready.forget(lane);
  }

  private sendReady(): void {
    while (this.ready.hasTurns && this.mayStartRequest()) {
      const batch = this.ready.takeBatch(this.settings.maxRequestRecords, this.settings.clock.now());
      if (batch.length > 0) void this.send(batch);
    }
    if (this.ready.hasParked) this.pace();
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

  private async send(batch: Lane[]): Promise<void> {
    const sentAtMs = this.settings.clock.now();
    this.hasSent = true;
    this.requestsInFlight += 1;
    const outcomes = await this.transport(batch.map(({ unit }) => unit!.entry));
    this.requestsInFlight -= 1;
    this.statistics.requested(batch.length, this.settings.clock.now() - sentAtMs);
    batch.forEach((lane, index) => {
      const outcome = outcomes[index]!;
      this.heed(lane, outcome, sentAtMs);
      this.listener.settle(lane, outcome);
    });
    this.sendReady();
  }

  /** Learns from an outcome what the lane's shard takes, and whether the shard map is still true. */
  private heed(lane: Lane, outcome: Outcome, sentAtMs: number): void {
    if (!outcome.ok) {
      if (isShardThrottle(outcome.code)) this.ready.throttled(lane, sentAtMs, this.settings.clock.now());
      return;
    }
    const expected = this.ready.shardIdOf(lane);
    if (expected !== undefined && expected !== outcome.shardId) void this.checkShard(lane, outcome.shardId);
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
  private async checkShard({ head, partitionKey }: Lane, shardId: string): Promise<void> {
    const hashKey = head.record.explicitHashKey ?? hashPartitionKey(partitionKey);
    const isContradicted = (): boolean => this.shards.map!.contradicts(hashKey, shardId);
    const isUrgent = isContradicted();
    const isNew = await this.readShards({ isUrgent });
    if (isUrgent && isNew && isContradicted()) this.listener.stop(new StreamDistributionError());
  }
}
