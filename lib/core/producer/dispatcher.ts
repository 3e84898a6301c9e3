import { SHORTEST_TIMER_MS } from '../kernel/clock';
import type { EvenShardsError } from '../kernel/errors';
import type { EntryFormer } from './entry-former';
import type { Lane } from './lane';
import type { OutgoingRecord } from './outgoing-record';
import { StreamDistributionError } from './producer-errors';
import type { ProducerSettings } from './producer-options';
import type { PutRecordsClient } from './put-records-client';
import type { Outcome } from './put-transport';
import { ReadyQueue } from './ready-queue';
import { hashKeyOfEntry, type RecordHashKeys } from './record-hash-keys';
import { isShardThrottle } from './retry';
import type { StatisticsCounter } from './statistics-counter';
import { StreamShards } from './stream-shards';

interface DispatchListener {
  /** Called when `takeBatch` may return a batch. */
  onTurn(): void;
  /** Called when a response shows that the stream ignores partition keys. */
  onFailure(reason: EvenShardsError): void;
}

/**
 * The shortest pause of a shard that has used its share, in milliseconds. After the pause, one request can send many records to
 * the shard.
 */
const PAUSE_MS = 20;

/**
 * Decides which ready lanes the next request contains, and when the request may start. The dispatcher owns the state of each
 * shard: its queue, its share of the limits, and its hash key range. `Lanes` owns the state of each key.
 */
export class Dispatcher {
  private readonly shards: StreamShards;
  private readonly ready: ReadyQueue;
  private requestsInFlight = 0;
  private hasSent = false;
  private isTurnScheduled = false;
  private isPausing = false;
  private isLingering = false;

  constructor(
    client: PutRecordsClient,
    private readonly settings: ProducerSettings,
    former: EntryFormer,
    hashKeys: RecordHashKeys,
    private readonly statistics: StatisticsCounter,
    private readonly listener: DispatchListener,
  ) {
    const { stream, clock, requestTimeoutMs } = settings;
    this.shards = new StreamShards(client, stream, { ms: requestTimeoutMs, clock });
    this.ready = new ReadyQueue(former, hashKeys, settings);
  }

  /**
   * Queues a lane for the next request. Requests are formed in a microtask, so that consecutive calls of `put` share a request.
   */
  enqueue(lane: Lane): void {
    this.ready.enqueue(lane);
    this.scheduleTurn();
  }

  /** Counts a record that was appended to a ready lane, because the record may complete an aggregate. */
  countAppended(lane: Lane, bytes: number): void {
    this.ready.countAppended(lane, bytes);
    this.scheduleTurn();
  }

  /**
   * Takes the records of the next request, which the caller must send. Returns undefined if no request may start now. The
   * dispatcher then calls `onTurn` later.
   */
  takeBatch(): OutgoingRecord[] | undefined {
    while (this.ready.hasTurns && this.mayStartRequest()) {
      const batch = this.ready.takeBatch(this.settings.maxRequestRecords, this.settings.clock.now());
      if (batch.length === 0) continue;
      this.hasSent = true;
      this.requestsInFlight += 1;
      return batch;
    }
    if (this.ready.hasPaused) this.scheduleResume();
    this.scheduleEndOfLingering();
    return undefined;
  }

  /** Counts the results of a request. The results show the limits of the shards, and whether the shard map is stale. */
  handleResults(batch: OutgoingRecord[], outcomes: Outcome[], sentAtMs: number): void {
    const nowMs = this.settings.clock.now();
    this.requestsInFlight -= 1;
    this.statistics.requested(batch.length, nowMs - sentAtMs);
    batch.forEach((record, index) => {
      const outcome = outcomes[index]!;
      const { shardId: expected, limiter } = record.shard;
      if (outcome.ok) {
        this.statistics.stored(record.entry);
        if (expected !== undefined && expected !== outcome.shardId) void this.checkShard(record, outcome.shardId);
      } else {
        this.statistics.failed(outcome.code);
        if (isShardThrottle(outcome.code)) limiter?.throttled(sentAtMs, nowMs);
      }
    });
  }

  private scheduleTurn(): void {
    if (this.isTurnScheduled) return;
    this.isTurnScheduled = true;
    queueMicrotask(() => {
      this.isTurnScheduled = false;
      this.listener.onTurn();
    });
  }

  /** Ends the pause of all paused shards after `PAUSE_MS`. */
  private scheduleResume(): void {
    if (this.isPausing) return;
    this.isPausing = true;
    this.settings.clock.schedule(() => {
      this.isPausing = false;
      this.ready.resume();
      this.listener.onTurn();
    }, PAUSE_MS);
  }

  /** Schedules the next turn of records that wait for `lingerMs`. */
  private scheduleEndOfLingering(): void {
    const { nextDueAtMs } = this.ready;
    if (nextDueAtMs === undefined || this.isLingering) return;
    const { clock } = this.settings;
    this.isLingering = true;
    clock.schedule(
      () => {
        this.isLingering = false;
        this.ready.endLingering(clock.now());
        this.listener.onTurn();
      },
      Math.max(SHORTEST_TIMER_MS, nextDueAtMs - clock.now()),
    );
  }

  /** The second request starts the first read of the shard map. During that read, only one request may be in flight. */
  private mayStartRequest(): boolean {
    const { map } = this.shards;
    if (map === undefined && this.hasSent) void this.readShards();
    const maxInFlight = map === undefined && this.shards.isLoading ? 1 : this.settings.maxRequestsInFlight;
    return this.requestsInFlight < maxInFlight;
  }

  /** Reads the shard map. Resolves to true if there is a new map. */
  private async readShards({ isUrgent = false } = {}): Promise<boolean> {
    const isNew = await this.shards.refresh({ isUrgent });
    if (isNew === undefined) return false;
    if (isNew) this.ready.remap(this.shards.map!, this.settings.clock.now());
    this.listener.onTurn();
    return isNew;
  }

  /**
   * Handles a record that was stored in an unexpected shard: the shard map is stale, or the stream ignores partition keys. If the
   * map contradicts the result, only a new map shows the cause, because a stream that was deleted and created again has the same
   * shard ids.
   */
  private async checkShard({ entry }: OutgoingRecord, shardId: string): Promise<void> {
    const hashKey = hashKeyOfEntry(entry);
    const isContradicted = (): boolean => this.shards.map!.contradicts(hashKey, shardId);
    const isUrgent = isContradicted();
    const isNew = await this.readShards({ isUrgent });
    if (isUrgent && isNew && isContradicted()) this.listener.onFailure(new StreamDistributionError());
  }
}
