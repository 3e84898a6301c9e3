import type {
  AddTagsToStreamInput,
  DescribeLimitsOutput,
  DescribeStreamSummaryInput,
  DescribeStreamSummaryOutput,
  ListShardsInput,
  ListShardsOutput,
  ListTagsForStreamInput,
  ListTagsForStreamOutput,
  MergeShardsInput,
  RecordDistributionStrategy,
  SplitShardInput,
  StreamMode,
  UpdateMaxRecordSizeInput,
  UpdateShardCountInput,
  UpdateShardCountOutput,
} from '@aws-sdk/client-kinesis';
import { type HashKeyRange, uniformRanges } from '../core/stream-format/hash-key-ranges';
import { attempt } from './attempt';
import type { FakeShard } from './fake-shard';
import { FakeShards } from './fake-shards';
import { responseLost, serviceError } from './service-error';
import { shardPage } from './shard-pages';
import type { ShardLimits } from './shard-token-bucket';
import { quotaRefusal, scalingRefusal } from './uniform-scaling';
import type { VirtualClock } from './virtual-clock';

/**
 * The result of a call other than a put. `answer lost` applies the call and then throws an error. `silent` never
 * returns a response.
 */
export type CallFate = 'answered' | 'failed' | 'throttled' | 'answer lost' | 'silent';

/** How a request names its stream. */
interface StreamReference {
  StreamName?: string;
  StreamARN?: string;
  /** Continues an earlier request, which has named the stream. */
  NextToken?: string;
}

/** The stream that a `FakeControlPlane` starts with, and the results of its calls. */
export interface FakeControlPlaneOptions {
  clock: VirtualClock;
  /** The name of the stream. If it is set, the fake rejects requests for another stream, as Kinesis does. @default any name */
  streamName?: string;
  shardCount?: number;
  /**
   * The hash key ranges of the shards at the start, for example after splits and merges.
   * @default `shardCount` uniform shards
   */
  ranges?: readonly HashKeyRange[];
  /** How many open shards the account may have. @default 10000 */
  shardQuota?: number;
  streamMode?: StreamMode;
  /** AUTO stores a record in any shard, whatever its key. Only on-demand streams allow AUTO. @default USER_PARTITION_KEY */
  distribution?: RecordDistributionStrategy;
  maxRecordKiB?: number;
  /** @default no limits */
  shardLimits?: ShardLimits;
  /** How long each split and each merge keeps the status UPDATING, in milliseconds. @default 1000 */
  reshardStepMs?: number;
  /**
   * How long the parents of a split or a merge still accept records after ListShards returns their children, in milliseconds. In real
   * streams, this can take about a second. @default 0
   */
  parentsTakeMs?: number;
  /**
   * How long each request takes, in milliseconds. With 0, the response comes within microtasks, as from a cache. @default 20
   */
  roundTripMs?(): number;
  callFate?(operation: string): CallFate;
  /** How old the response of a ListShards may be, in milliseconds. Real responses can be seconds old. @default 0 */
  listShardsAgeMs?(): number;
}

type ListedShards = Parameters<typeof shardPage>[0];

/** Source: the Kinesis API reference, AddTagsToStream. */
const TAG_TEXT = /^[\p{L}\p{Z}\p{N}_./=+\-%@]*$/u;

/** The default quota of shards. */
const MAX_SHARDS = 10_000;

/** A fake of the Kinesis calls that describe and reshard a stream. The fake applies the rules of Kinesis to these calls. */
export class FakeControlPlane {
  /** The names of all calls except puts, in order. */
  readonly calls: string[] = [];
  /** The stream's tags. */
  readonly tags = new Map<string, string>();
  status: 'ACTIVE' | 'UPDATING' = 'ACTIVE';
  distribution: RecordDistributionStrategy;
  protected readonly clock: VirtualClock;
  protected readonly shardMap: FakeShards;
  protected maxRecordKiB: number;
  private readonly streamName: string;
  private readonly shardQuota: number;
  private readonly streamMode: StreamMode;
  private readonly updatedAtMs: number[] = [];
  /** Earlier lists of the shards, oldest first. Each list was current until its `untilMs`. */
  private readonly pastShards: { untilMs: number; shards: ListedShards }[] = [];

  constructor(private readonly controlOptions: FakeControlPlaneOptions) {
    this.clock = controlOptions.clock;
    this.streamName = controlOptions.streamName ?? 'Events';
    this.shardQuota = controlOptions.shardQuota ?? MAX_SHARDS;
    this.streamMode = controlOptions.streamMode ?? 'PROVISIONED';
    this.distribution = controlOptions.distribution ?? 'USER_PARTITION_KEY';
    this.maxRecordKiB = controlOptions.maxRecordKiB ?? 1_024;
    this.shardMap = new FakeShards(
      controlOptions.ranges ?? uniformRanges(controlOptions.shardCount ?? 1),
      controlOptions.shardLimits,
      () => this.clock.now(),
      controlOptions.parentsTakeMs,
    );
  }

  /** Every shard, including closed shards, in the order of creation. */
  get shards(): readonly FakeShard[] {
    return this.shardMap.all;
  }

  /** The open shards, in the order of their hash keys. */
  get openShards(): readonly FakeShard[] {
    return this.shardMap.open;
  }

  describeStreamSummary(input: DescribeStreamSummaryInput): Promise<DescribeStreamSummaryOutput> {
    return this.call('describeStreamSummary', input, () => ({
      StreamDescriptionSummary: {
        StreamName: this.streamName,
        StreamARN: this.streamArn,
        StreamStatus: this.status,
        StreamModeDetails: { StreamMode: this.streamMode },
        RetentionPeriodHours: 24,
        StreamCreationTimestamp: new Date(0),
        EnhancedMonitoring: [],
        OpenShardCount: this.openShards.length,
        MaxRecordSizeInKiB: this.maxRecordKiB,
        ...(this.streamMode === 'ON_DEMAND' && { RecordDistributionStrategy: this.distribution }),
      },
    }));
  }

  describeLimits(): Promise<DescribeLimitsOutput> {
    return this.call('describeLimits', undefined, () => ({
      ShardLimit: this.shardQuota,
      OpenShardCount: this.openShards.length,
      OnDemandStreamCount: this.streamMode === 'ON_DEMAND' ? 1 : 0,
      OnDemandStreamCountLimit: 50,
    }));
  }

  listShards(input: ListShardsInput): Promise<ListShardsOutput> {
    return this.call('listShards', input, () => shardPage(this.listedShards(), input, this.clock.now()));
  }

  /** Returns two tags a page, so that readers of tags must read several pages. Kinesis returns ten tags a page by default. */
  listTagsForStream(input: ListTagsForStreamInput): Promise<ListTagsForStreamOutput> {
    const { ExclusiveStartTagKey: start } = input;
    return this.call('listTagsForStream', input, () => {
      const rest = [...this.tags].sort().filter(([key]) => start === undefined || key > start);
      const Tags = rest.slice(0, 2).map(([Key, Value]) => ({ Key, Value }));
      return { Tags, HasMoreTags: rest.length > Tags.length };
    });
  }

  addTagsToStream(input: AddTagsToStreamInput): Promise<object> {
    const { Tags } = input;
    return this.call('addTagsToStream', input, () => {
      this.checkActive();
      for (const [key, value] of Object.entries(Tags!)) {
        if (!TAG_TEXT.test(key) || !TAG_TEXT.test(value))
          throw serviceError('InvalidArgumentException', `tag ${key}=${value}`);
        this.tags.set(key, value);
      }
      return {};
    });
  }

  updateMaxRecordSize(input: UpdateMaxRecordSizeInput): Promise<object> {
    const { MaxRecordSizeInKiB } = input;
    return this.call('updateMaxRecordSize', input, () => {
      this.maxRecordKiB = MaxRecordSizeInKiB!;
      return {};
    });
  }

  splitShard(input: SplitShardInput): Promise<object> {
    const { ShardToSplit, NewStartingHashKey } = input;
    return this.call('splitShard', input, () => {
      const shard = this.openShard(ShardToSplit);
      this.checkQuota();
      const newStartingHashKey = BigInt(NewStartingHashKey!);
      const { startingHashKey, endingHashKey } = shard.range;
      if (newStartingHashKey <= startingHashKey + 1n || newStartingHashKey >= endingHashKey) {
        throw serviceError(
          'InvalidArgumentException',
          `NewStartingHashKey ${newStartingHashKey} is not both greater than one plus ${startingHashKey} and less than ${endingHashKey}`,
        );
      }
      this.checkActive();
      this.reshard([() => this.shardMap.split(shard, newStartingHashKey)].values());
      return {};
    });
  }

  mergeShards(input: MergeShardsInput): Promise<object> {
    const { ShardToMerge, AdjacentShardToMerge } = input;
    return this.call('mergeShards', input, () => {
      const [shard, adjacent] = [this.openShard(ShardToMerge), this.openShard(AdjacentShardToMerge)];
      if (shard.range.endingHashKey + 1n !== adjacent.range.startingHashKey) {
        throw serviceError(
          'InvalidArgumentException',
          `Shards ${ShardToMerge} and ${AdjacentShardToMerge} are not an adjacent pair of shards eligible for merging`,
        );
      }
      this.checkActive();
      this.reshard([() => this.shardMap.merge(shard, adjacent)].values());
      return {};
    });
  }

  updateShardCount(input: UpdateShardCountInput): Promise<UpdateShardCountOutput> {
    const { TargetShardCount, ScalingType } = input;
    return this.call('updateShardCount', input, () => {
      const current = this.openShards.length;
      const target = TargetShardCount!;
      if (ScalingType !== 'UNIFORM_SCALING') throw serviceError('ValidationException', 'ScalingType');
      if (this.streamMode === 'ON_DEMAND') {
        throw serviceError('ValidationException', 'the shard count of an on-demand stream cannot be updated');
      }
      this.checkActive();
      const { shardQuota, updatedAtMs } = this;
      const refusal = scalingRefusal({ current, target, shardQuota, updatedAtMs, nowMs: this.clock.now() });
      if (refusal !== undefined) throw serviceError(...refusal);
      this.updatedAtMs.push(this.clock.now());
      this.reshard(this.shardMap.uniformSteps(target));
      return {
        StreamName: this.streamName,
        StreamARN: this.streamArn,
        CurrentShardCount: current,
        TargetShardCount: target,
      };
    });
  }

  /** Simulates the round trip of a call. The call takes effect after half of the round-trip time. */
  private async call<T>(operation: string, input: StreamReference | undefined, apply: () => T): Promise<T> {
    this.calls.push(operation);
    const fate = this.controlOptions.callFate?.(operation) ?? 'answered';
    const roundTripMs = this.roundTripMs();
    await this.delay(roundTripMs / 2);
    if (fate === 'silent') return new Promise<never>(() => {});
    if (input !== undefined) this.checkStream(input);
    const result = fate === 'answered' || fate === 'answer lost' ? attempt(apply) : undefined;
    await this.delay(roundTripMs / 2);
    if (fate === 'failed') throw serviceError('InternalFailure', 'InternalFailure', 500);
    if (fate === 'throttled') throw serviceError('LimitExceededException', 'Rate exceeded');
    if (fate === 'answer lost') throw responseLost();
    return result!();
  }

  /** Rejects a request for another stream, if the fake has a name. */
  protected checkStream({ StreamName, StreamARN, NextToken }: StreamReference): void {
    if (this.controlOptions.streamName === undefined || NextToken !== undefined) return;
    if (StreamName === undefined && StreamARN === undefined) {
      throw serviceError('ValidationException', 'Either StreamName or StreamARN must be set');
    }
    const name = StreamName ?? StreamARN!.slice(StreamARN!.indexOf('/') + 1);
    if (name === this.streamName) return;
    throw serviceError('ResourceNotFoundException', `Stream ${name} under account 123456789012 not found.`);
  }

  protected roundTripMs(): number {
    return this.controlOptions.roundTripMs?.() ?? 20;
  }

  protected delay(ms: number): Promise<void> | undefined {
    return ms > 0 ? this.clock.sleep(ms) : undefined;
  }

  private get streamArn(): string {
    return `arn:aws:kinesis:eu-west-1:123456789012:stream/${this.streamName}`;
  }

  /**
   * Runs one step after another, and waits for `reshardStepMs` before each step. The status is UPDATING until the last step has
   * run.
   */
  private reshard(steps: Iterator<unknown>): void {
    this.status = 'UPDATING';
    const stepMs = this.controlOptions.reshardStepMs ?? 1_000;
    const take = (): void => {
      if (this.controlOptions.listShardsAgeMs !== undefined) this.keepShards();
      const { done, value } = steps.next();
      if (typeof value === 'function') value();
      if (done) this.status = 'ACTIVE';
      else this.clock.schedule(take, stepMs);
    };
    this.clock.schedule(take, stepMs);
  }

  private keepShards(): void {
    const shards = this.shards.map((shard) => {
      const [isOpen, description] = [shard.isOpen, shard.describe()];
      return { shardId: shard.shardId, isOpen, describe: () => description };
    });
    this.pastShards.push({ untilMs: this.clock.now(), shards });
  }

  private listedShards(): ListedShards {
    const atMs = this.clock.now() - (this.controlOptions.listShardsAgeMs?.() ?? 0);
    return this.pastShards.find(({ untilMs }) => untilMs > atMs)?.shards ?? this.shards;
  }

  private openShard(shardId: string | undefined): FakeShard {
    const shard = this.shards.find((each) => each.shardId === shardId);
    if (shard === undefined) throw serviceError('ResourceNotFoundException', `Could not find shard ${shardId}`);
    if (!shard.isOpen) {
      throw serviceError(
        'InvalidArgumentException',
        `Shard ${shardId} in stream ${this.streamName} under account 123456789012 has already been merged or split, and thus is not eligible for merging or splitting.`,
      );
    }
    return shard;
  }

  private checkActive(): void {
    if (this.status !== 'ACTIVE') {
      throw serviceError(
        'ResourceInUseException',
        `Stream ${this.streamName} not ACTIVE, instead in state ${this.status}`,
      );
    }
  }

  private checkQuota(): void {
    if (this.openShards.length >= this.shardQuota) throw serviceError(...quotaRefusal(this.shardQuota));
  }
}
