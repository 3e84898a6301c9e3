import { type Duration, type RemovalPolicy, type Size, Token } from 'aws-cdk-lib';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type { Construct, IConstruct } from 'constructs';
import { withDefaults, withoutUndefined } from '../construct/blueprint';
import { checkedArn, constructField, newConstructField, Props } from '../construct/props';
import { InvalidArgumentError } from '../core/kernel/errors';
import { checkHashBuckets } from '../core/stream-format/hash-buckets';
import { guardDeployment } from '../deployment-check/deployment-guard';
import { RECORD_LIMITS } from './record-size-limit';
import { StreamAutoScaling, type StreamAutoScalingOptions } from './scaling/stream-auto-scaling';
import { StreamReconciliation, type StreamReconciliationOptions } from './scaling/stream-reconciliation';
import { StreamResharding } from './scaling/stream-resharding';
import type { IStreamReshardingProvider } from './scaling/stream-resharding-provider';
import { adviseOnShards, type ExpectedStreamTraffic } from './stream-advice';
import { possibleShardCount } from './stream-checks';
import { StreamProduceGrants, StreamReshardGrants } from './stream-grants';
import { UNIFORM_STREAM } from './stream-properties';

/**
 * A stream whose shards divide the hash key space evenly, defined in this app or imported by
 * `UniformStream.fromUniformStreamAttributes`. It holds the settings that must be the same for all producers of the
 * stream.
 */
export interface IUniformStream extends kinesis.IStream {
  /** The number of hash buckets of the stream, if known. */
  readonly hashBuckets?: number;

  /** The size limit of a record, if known. */
  readonly maxRecordSize?: Size;

  /** Permissions for producers of this stream. */
  readonly produceGrants: StreamProduceGrants;

  /** Permissions to inspect, scale or reshard this stream. */
  readonly reshardGrants: StreamReshardGrants;
}

/** The attributes of an existing stream, for `UniformStream.fromUniformStreamAttributes`. */
export interface UniformStreamAttributes extends kinesis.StreamAttributes {
  /**
   * The number of hash buckets of the stream: its `hashBuckets` in the app that defines the stream. Two producers with
   * different numbers can write the records of a key to different shards.
   *
   * @default - the MD5 of a partition key decides its shard, unless you set `hashBuckets` of a producer
   */
  readonly hashBuckets?: number;

  /**
   * The size limit of a record, including its partition key: the stream's `maxRecordSize` in the app that defines the
   * stream.
   *
   * @default - producers send records of up to 1 MiB, unless you set `maxRecordSize` of a producer
   */
  readonly maxRecordSize?: Size;
}

/** Properties of a `UniformStream`. */
export interface UniformStreamProps {
  /**
   * The number of shards: an integer from 1 to 10,000.
   *
   * A shard accepts 1,000 records and 1 MB a second. Divide the peak records per second by 1,000 and the peak bytes per
   * second by 1 MB, take the larger result, and round up. Add head-room, because MD5 gives some shards more keys than
   * others, even if all shards have equally many hash keys.
   *
   * Kinesis can at most double or halve the count in one update. A larger change needs a `deployedShardCount`, or
   * several deployments.
   *
   * @see https://docs.aws.amazon.com/kinesis/latest/APIReference/API_UpdateShardCount.html
   */
  readonly shardCount: number;

  /**
   * The shard count that the template declares for the stream itself. Set it when you want to change `shardCount` to
   * more than twice or less than half the present count. Set it to the shard count that is deployed at present, and never
   * change it afterwards.
   *
   * CloudFormation then sees no change of the stream. A custom resource reshards the stream to `shardCount` in one
   * deployment and makes the shards even. A roll-back restores the previous count in the same way.
   *
   * @default - `shardCount`: CloudFormation updates the stream, and there is no custom resource
   */
  readonly deployedShardCount?: number;

  /**
   * The number of hash buckets of the stream: a power of two from 2 to 65,536. Use at least four buckets for each shard
   * that the stream will ever have. Every `OrderedProducerFunction` and `OutboxRelayFunction` of the stream then sends
   * a record without an explicit hash key to the centre of its key's bucket.
   *
   * Give the same number to all other producers of the stream (`hashBuckets`). Do not change it while keys must keep
   * their order, because another number moves keys to other shards.
   *
   * @default - the MD5 of a partition key decides its shard; a producer with `aggregationAcrossKeys` uses 256
   */
  readonly hashBuckets?: number;

  /**
   * The provider whose functions reshard the stream to its shard count. Set it to choose how these functions run. It
   * requires a `deployedShardCount`.
   *
   * @default - all streams of the stack share a provider with default settings
   */
  readonly reshardingProvider?: IStreamReshardingProvider;

  /**
   * The name of the stream: 1 to 128 characters of a-z, A-Z, 0-9, underscore, hyphen and dot.
   *
   * @default - generated by CloudFormation, so that the stream can be replaced
   */
  readonly streamName?: string;

  /**
   * How long consumers can read a record: 24 hours to 365 days.
   *
   * @default - 24 hours
   */
  readonly retentionPeriod?: Duration;

  /**
   * The size limit of a record, including its partition key: 1 MiB to 10 MiB, in whole KiB. Every
   * `OrderedProducerFunction` and `OutboxRelayFunction` of the stream uses this limit. A shard still accepts only 1 MB
   * a second on average, so send large records only occasionally.
   *
   * A Lambda event has at most 6 MiB, with the data in base64. So a function can receive every record only if the limit
   * is at most 4,603 KiB.
   *
   * @default - 1 MiB
   * @see https://docs.aws.amazon.com/kinesis/latest/APIReference/API_UpdateMaxRecordSize.html
   */
  readonly maxRecordSize?: Size;

  /**
   * The customer-managed key that encrypts records. Producers need `kms:GenerateDataKey` on the key, and consumers need
   * `kms:Decrypt`. `produceGrants` grants producers `kms:GenerateDataKey`.
   *
   * @default - Kinesis encrypts records with the AWS managed key `alias/aws/kinesis`, which needs no permission
   */
  readonly encryptionKey?: kms.IKey;

  /**
   * The metrics that Kinesis sends to CloudWatch for each shard. AWS charges for each metric of each shard. These
   * metrics show a hot shard, which the metrics of the whole stream hide.
   *
   * @default - Kinesis sends only the metrics of the whole stream
   */
  readonly shardLevelMetrics?: kinesis.ShardLevelMetrics[];

  /**
   * The removal policy of the stream and its records.
   *
   * @default - the stream is retained
   */
  readonly removalPolicy?: RemovalPolicy;

  /**
   * The traffic that you expect. If the stream has too few shards for this traffic, synthesis warns and recommends a
   * count (`cdk-even-shards:UniformStream.tooFewShards`). Synthesis also warns if no number of shards can carry this
   * traffic (`cdk-even-shards:UniformStream.notFixedByShards`). This property does not change the template.
   *
   * @default - synthesis gives no advice
   */
  readonly expectedTraffic?: ExpectedStreamTraffic;
}

/**
 * A provisioned Kinesis stream whose shards divide the hash key space evenly, encrypted by default.
 *
 * Use it with balanced explicit hash keys, or wherever the records of a key must keep their order. (An on-demand stream
 * with the record distribution strategy `AUTO` ignores partition keys and explicit hash keys.) Pass it wherever a
 * `kinesis.IStream` is accepted.
 *
 * @throws an error with the code `INVALID_SHARD_COUNT` if a shard count is not an integer from 1 to 10,000
 * @throws an error with the code `INVALID_ARGUMENT` if `hashBuckets` is not a power of two or is less than four times
 *   the shards
 * @throws an error with the code `INVALID_ARGUMENT` if `maxRecordSize` is out of bounds, or if there is a
 *   `reshardingProvider` without a `deployedShardCount`
 *
 * @stateful
 *
 * @exampleMetadata fixture=app
 * @example
 * const events = new UniformStream(stack, 'Events', { shardCount: 8 });
 * events.addReconciliation();
 * events.produceGrants.produce(application);
 */
export class UniformStream extends kinesis.Stream implements IUniformStream {
  /**
   * Imports an existing stream of another app, with the settings that must be the same for all its producers. The
   * import does not create, change or look up resources.
   *
   * @param scope the construct to add the stream to, usually `this`
   * @param id the stream's name within the scope
   * @param attributes the attributes of the stream in the app that defines it
   * @throws an error with the code `INVALID_ARGUMENT` if `hashBuckets` is not a power of two from 2 to 65,536, or if
   *   the record size limit is out of bounds
   */
  public static fromUniformStreamAttributes(
    scope: Construct,
    id: string,
    attributes: UniformStreamAttributes,
  ): IUniformStream {
    const { hashBuckets, maxRecordSize, ...ofStream } = attributes;
    checkedArn(newConstructField(scope, id, 'streamArn'), ofStream.streamArn, 'kinesis');
    const stream = kinesis.Stream.fromStreamAttributes(scope, id, ofStream);
    const props = Props.of(stream, { hashBuckets, maxRecordSize });
    possibleHashBuckets(props);
    props.kibibytes('maxRecordSize', RECORD_LIMITS);
    const produceGrants = StreamProduceGrants.fromStream(stream);
    const reshardGrants = StreamReshardGrants.fromStream(stream);
    return Object.assign(stream, { hashBuckets, maxRecordSize, produceGrants, reshardGrants, [UNIFORM_STREAM]: true });
  }

  /** The `shardCount` of the properties. */
  public readonly shardCount: number;

  /**
   * The custom resource that reshards the stream to its shard count. Its attributes are the number of open shards and
   * their skew. Undefined without a `deployedShardCount`.
   */
  public readonly resharding?: StreamResharding;

  /** The number of hash buckets of the stream, if the properties contain it. */
  public readonly hashBuckets?: number;

  /** The size limit of a record, if the properties contain it. */
  public readonly maxRecordSize?: Size;

  /** Permissions for producers of this stream. */
  public readonly produceGrants: StreamProduceGrants;

  /** Permissions to inspect, scale or reshard this stream. */
  public readonly reshardGrants: StreamReshardGrants;

  private autoScaling?: StreamAutoScaling;

  /**
   * Creates a stream in provisioned mode.
   *
   * @param scope the construct to add the stream to, usually `this`
   * @param id the stream's name within the scope
   * @param props the shard count and the settings of the stream
   */
  constructor(scope: Construct, id: string, props: UniformStreamProps) {
    super(scope, id, propsOfStream(scope, id, props));
    const { shardCount, deployedShardCount, provider, ...settings } = uniformStreamSettings(this, props);
    Object.defineProperty(this, UNIFORM_STREAM, { value: true });
    this.shardCount = shardCount;
    this.hashBuckets = settings.hashBuckets;
    this.maxRecordSize = props.maxRecordSize;
    this.produceGrants = StreamProduceGrants.fromStream(this);
    this.reshardGrants = StreamReshardGrants.fromStream(this);
    if (settings.maxRecordKibibytes !== undefined) {
      // `kinesis.Stream` has no property for the record size limit yet.
      (this.node.defaultChild as kinesis.CfnStream).maxRecordSizeInKiB = settings.maxRecordKibibytes;
    }
    guardDeployment(this);
    if (props.expectedTraffic) adviseOnShards(this, shardCount, props.expectedTraffic);
    if (deployedShardCount === undefined) return;
    this.resharding = new StreamResharding(
      this,
      'Resharding',
      withoutUndefined({ stream: this, shardCount, deployedShardCount, provider }),
    );
  }

  /**
   * Adds shards when the load of the stream grows, and removes shards after half an hour of low load.
   *
   * The shard count then differs from the template. Do not change `shardCount` after the first deployment. If you
   * change `shardCount`, CloudFormation sets the stream to the new count. Call this method before `addReconciliation`,
   * which otherwise expects exactly `shardCount` shards.
   *
   * @param options the bounds of the shard count, and the target utilization
   * @throws an error with the code `INVALID_ARGUMENT` if `shardCount` is outside the bounds, or if a
   *   `deployedShardCount`, a reconciliation or another scaling already controls the shard count. Also throws the
   *   errors of `StreamAutoScaling`
   */
  public autoScaleShardCount(options: StreamAutoScalingOptions): StreamAutoScaling {
    this.checkFirst('autoScaleShardCount', 'AutoScaling');
    this.checkBounds(options);
    this.autoScaling = new StreamAutoScaling(this, 'AutoScaling', { ...options, stream: this });
    return this.autoScaling;
  }

  /**
   * Checks on a schedule that the stream has `shardCount` even shards, and reports or repairs drift. For a stream with
   * automatic scaling, it only reports how even the shards are.
   *
   * @param options whether to repair drift, and how often to check
   * @throws an error with the code `INVALID_ARGUMENT` if `repair` is true for a stream with automatic scaling, which
   *   makes the shards even itself
   */
  public addReconciliation(options: StreamReconciliationOptions = {}): StreamReconciliation {
    this.checkFirst('addReconciliation', 'Reconciliation');
    const { repair = false } = options;
    if (repair && this.autoScaling !== undefined) {
      throw new InvalidArgumentError(
        constructField(this, 'addReconciliation.repair'),
        repair,
        'false for a stream with automatic scaling (its shard count is not fixed, and each update makes the shards even)',
      );
    }
    const shardCount = this.autoScaling === undefined ? this.shardCount : undefined;
    return new StreamReconciliation(this, 'Reconciliation', { ...options, stream: this, shardCount });
  }

  /** @throws InvalidArgumentError if the method was called before */
  private checkFirst(method: string, childId: string): void {
    if (this.node.tryFindChild(childId) === undefined) return;
    throw new InvalidArgumentError(constructField(this, method), 'a second call', 'called only once for a stream');
  }

  private checkBounds({ minCapacity, maxCapacity }: StreamAutoScalingOptions): void {
    if ([this.shardCount, minCapacity, maxCapacity].some(Token.isUnresolved) || minCapacity > maxCapacity) return;
    if (this.shardCount >= minCapacity && this.shardCount <= maxCapacity) return;
    throw new InvalidArgumentError(
      constructField(this, 'shardCount'),
      this.shardCount,
      `from minCapacity, ${minCapacity}, to maxCapacity, ${maxCapacity} (automatic scaling keeps the count between them)`,
    );
  }
}

/** The properties for `kinesis.Stream`, with defaults that a blueprint may replace. */
function propsOfStream(scope: Construct, id: string, props: UniformStreamProps): kinesis.StreamProps {
  if (props === undefined) {
    throw new InvalidArgumentError(`${scope.node.path}/${id}: props`, props, 'an object with a shardCount');
  }
  return withDefaults<kinesis.StreamProps>(
    scope,
    kinesis.Stream.PROPERTY_INJECTION_ID,
    {
      streamName: props.streamName,
      streamMode: kinesis.StreamMode.PROVISIONED,
      shardCount: props.deployedShardCount ?? props.shardCount,
      retentionPeriod: props.retentionPeriod,
      encryption: props.encryptionKey && kinesis.StreamEncryption.KMS,
      encryptionKey: props.encryptionKey,
      shardLevelMetrics: props.shardLevelMetrics && [...props.shardLevelMetrics].sort(),
      removalPolicy: props.removalPolicy,
    },
    ({ encryptionKey }) => ({
      encryption: encryptionKey ? kinesis.StreamEncryption.KMS : kinesis.StreamEncryption.MANAGED,
    }),
  );
}

/** The checked properties that this library adds to `kinesis.Stream`. The counts may be tokens. */
interface UniformStreamSettings {
  readonly shardCount: number;
  readonly deployedShardCount?: number;
  readonly provider?: IStreamReshardingProvider;
  readonly hashBuckets?: number;
  readonly maxRecordKibibytes?: number;
}

/** Source: the Kinesis API reference, CreateStream: StreamName. */
const STREAM_NAME = /^[a-zA-Z0-9_.-]{1,128}$/;

function uniformStreamSettings(stream: IConstruct, given: UniformStreamProps): UniformStreamSettings {
  const { deployedShardCount, reshardingProvider: provider } = given;
  const props = Props.of(stream, given);
  const shardCount = possibleShardCount(stream, 'shardCount', given.shardCount);
  props.text('streamName', STREAM_NAME, '1 to 128 characters of a-z, A-Z, 0-9, underscore, hyphen and dot');
  possibleShardCount(stream, 'deployedShardCount', deployedShardCount);
  if (provider !== undefined && deployedShardCount === undefined) {
    const allowed = 'absent without a deployedShardCount (only the custom resource uses a provider)';
    throw new InvalidArgumentError(constructField(stream, 'reshardingProvider'), provider.node.path, allowed);
  }
  return {
    shardCount,
    deployedShardCount,
    provider,
    hashBuckets: knownHashBuckets(props, shardCount),
    maxRecordKibibytes: props.kibibytes('maxRecordSize', RECORD_LIMITS),
  };
}

function knownHashBuckets(
  props: Props<Pick<UniformStreamProps, 'hashBuckets'>>,
  shardCount: number,
): number | undefined {
  const hashBuckets = possibleHashBuckets(props);
  if (hashBuckets === undefined || Token.isUnresolved(shardCount) || hashBuckets >= 4 * shardCount) return hashBuckets;
  throw props.refusal('hashBuckets', hashBuckets, `at least ${4 * shardCount} (four for each shard)`);
}

/**
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT` for a number that is not a power of two from 2 to
 *   65,536
 */
function possibleHashBuckets(props: Props<Pick<UniformStreamProps, 'hashBuckets'>>): number | undefined {
  const hashBuckets = props.resolved('hashBuckets', 'a power of two');
  if (hashBuckets !== undefined) checkHashBuckets(props.field('hashBuckets'), hashBuckets);
  return hashBuckets;
}
