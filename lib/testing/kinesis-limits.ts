import { checkScale, type ServiceLimitsOptions } from './limit-scale';
import { SERVICE_SHARD_LIMITS } from './shard-token-bucket';
import { TokenBuckets } from './token-bucket';

/** The limits of a shard for all its readers together. Source: the Kinesis API reference, GetRecords. */
const READS_PER_SECOND = 5;
const READ_BYTES_PER_SECOND = 2_000_000;

/**
 * The maximum number of calls a second of an account in a region. Source: the Kinesis developer guide, quotas and limits, API
 * limits.
 */
const CALLS_OF_AN_ACCOUNT: Readonly<Record<string, number>> = {
  AddTagsToStream: 5,
  CreateStream: 5,
  DecreaseStreamRetentionPeriod: 5,
  DeleteStream: 5,
  DescribeLimits: 1,
  DescribeStream: 10,
  DescribeStreamSummary: 20,
  IncreaseStreamRetentionPeriod: 5,
  ListStreams: 5,
  ListTagsForStream: 5,
  MergeShards: 5,
  RegisterStreamConsumer: 5,
  RemoveTagsFromStream: 5,
  SplitShard: 5,
  UpdateShardCount: 10,
};

/** The maximum number of calls a second of one stream, from the same source. */
const CALLS_OF_A_STREAM: Readonly<Record<string, number>> = { ListShards: 1_000 };

/** The maximum number of calls a second of one shard, from the same source. */
const CALLS_OF_A_SHARD: Readonly<Record<string, number>> = { GetShardIterator: 5 };

/** The names of all calls of the control plane that have a limit. */
export const LIMITED_CALLS: readonly string[] = [CALLS_OF_AN_ACCOUNT, CALLS_OF_A_STREAM, CALLS_OF_A_SHARD].flatMap(
  Object.keys,
);

/** A shard, or a stream if a call does not name a shard. */
export interface KinesisResource {
  streamName?: string;
  shardId?: string;
}

/**
 * The limits of Kinesis for any number of streams. The class only counts, and stores no records.
 *
 * - writes to a shard: 1,000 records and 1 MB a second
 * - reads from a shard: five calls and 2 MB a second
 * - calls of the control plane: the number of calls a second that Kinesis allows for each operation
 *
 * Each limit is a token bucket that holds the amount of one second and refills steadily. The class is deterministic for a given
 * clock.
 */
export class KinesisLimits {
  private readonly buckets: TokenBuckets;
  private readonly scale: number;

  /** @throws InvalidArgumentError if the scale is not above 0 */
  constructor({ now, scale = 1 }: ServiceLimitsOptions) {
    this.scale = checkScale(scale);
    this.buckets = new TokenBuckets(now);
  }

  /** The records and bytes that a shard accepts in a second. */
  get shardLimits(): { recordsPerSecond: number; bytesPerSecond: number } {
    const { recordsPerSecond, bytesPerSecond } = SERVICE_SHARD_LIMITS;
    return { recordsPerSecond: this.scale * recordsPerSecond, bytesPerSecond: this.scale * bytesPerSecond };
  }

  /** Whether the shard accepts a record now. If so, counts the record. `bytes` is the size of the record with its partition key. */
  takeRecord(shard: KinesisResource, bytes: number): boolean {
    const { recordsPerSecond, bytesPerSecond } = this.shardLimits;
    const byCount = this.bucket('records', shard, recordsPerSecond);
    const bySize = this.bucket('bytes', shard, bytesPerSecond);
    if (!byCount.has(1) || !bySize.has(bytes)) return false;
    byCount.take(1);
    bySize.take(bytes);
    return true;
  }

  /** Whether the shard accepts a GetRecords call now. If so, counts the call. Pass the bytes of the response to `noteRead`. */
  takeRead(shard: KinesisResource): boolean {
    const calls = this.bucket('reads', shard, this.scale * READS_PER_SECOND);
    if (!calls.has(1) || this.readBytes(shard).level <= 0) return false;
    calls.take(1);
    return true;
  }

  /**
   * Counts the bytes of a response. If the bytes exceed the limit of one second, the shard throttles reads until the
   * bucket has refilled.
   */
  noteRead(shard: KinesisResource, bytes: number): void {
    this.readBytes(shard).take(bytes);
  }

  /** Whether the control plane accepts a call now. If so, counts the call. */
  takeCall(operation: string, resource: KinesisResource = {}): boolean {
    const [limit, of] = limitOfCall(operation, resource);
    if (limit === undefined) return true;
    const bucket = this.bucket(operation, of, this.scale * limit);
    if (!bucket.has(1)) return false;
    bucket.take(1);
    return true;
  }

  private readBytes(shard: KinesisResource) {
    return this.bucket('read bytes', shard, this.scale * READ_BYTES_PER_SECOND);
  }

  private bucket(what: string, { streamName = '', shardId = '' }: KinesisResource, perSecond: number) {
    return this.buckets.of(`${what} ${streamName} ${shardId}`, perSecond);
  }
}

function limitOfCall(operation: string, resource: KinesisResource): [number | undefined, KinesisResource] {
  if (Object.hasOwn(CALLS_OF_A_SHARD, operation)) return [CALLS_OF_A_SHARD[operation], resource];
  if (Object.hasOwn(CALLS_OF_A_STREAM, operation)) {
    return [CALLS_OF_A_STREAM[operation], { streamName: resource.streamName }];
  }
  return [Object.hasOwn(CALLS_OF_AN_ACCOUNT, operation) ? CALLS_OF_AN_ACCOUNT[operation] : undefined, {}];
}
