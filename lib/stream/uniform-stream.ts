import { type Duration, type RemovalPolicy, type Size, Token } from 'aws-cdk-lib';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type { Construct, IConstruct } from 'constructs';
import { given, withDefaults } from '../construct/blueprint';
import { constructField, Props } from '../construct/props';
import { InvalidArgumentError } from '../core/kernel/errors';
import { guardDeployment } from '../deployment-check/deployment-guard';
import { StreamAutoScaling, type StreamAutoScalingOptions } from './scaling/stream-auto-scaling';
import { StreamReconciliation, type StreamReconciliationOptions } from './scaling/stream-reconciliation';
import { StreamResharding } from './scaling/stream-resharding';
import type { IStreamReshardingProvider } from './scaling/stream-resharding-provider';
import { adviseOnShards, type ExpectedStreamTraffic } from './stream-advice';
import { maxRecordKibibytes, possibleHashBuckets, possibleShardCount } from './stream-checks';
import { StreamProduceGrants, StreamReshardGrants } from './stream-grants';
import { UNIFORM_STREAM } from './stream-properties';

/**
 * A stream whose shards divide the hash key space evenly, of this app or imported by
 * `UniformStream.fromUniformStreamAttributes`. It says what all its producers must agree on.
 */
export interface IUniformStream extends kinesis.IStream {
  /** How many hash buckets the keys of the stream have. Undefined if that is not known. */
  readonly hashBuckets?: number;

  /** The size limit of a record. Undefined if that is not known. */
  readonly maxRecordSize?: Size;

  /** Permissions for whatever writes to this stream. */
  readonly produceGrants: StreamProduceGrants;

  /** Permissions for whatever looks after the shards of this stream. */
  readonly reshardGrants: StreamReshardGrants;
}

/** A stream that exists, as `UniformStream.fromUniformStreamAttributes` takes it. */
export interface UniformStreamAttributes extends kinesis.StreamAttributes {
  /**
   * How many hash buckets the keys of the stream have: the `hashBuckets` of the app that has the stream. Two producers that do
   * not agree on it put a key into two shards.
   *
   * @default - the MD5 of a partition key decides its shard, unless you give a producer a number
   */
  readonly hashBuckets?: number;

  /**
   * The size limit of a record, its partition key included: the `maxRecordSize` of the app that has the stream.
   *
   * @default - producers send records of up to 1 MiB, unless they are given a limit
   */
  readonly maxRecordSize?: Size;
}

/** Properties of a `UniformStream`. */
export interface UniformStreamProps {
  /**
   * How many shards the stream has: a whole number from 1 to 10,000.
   *
   * One shard takes 1,000 records and 1 MB a second, so a stream needs the larger of its records per second over 1,000
   * and its bytes per second over 1 MB, at peak, rounded up, with head-room: a hash spreads keys less evenly than the
   * ranges are. Kinesis at most doubles or halves the count in one update, so a larger change takes a
   * `deployedShardCount`, or several deployments.
   *
   * @see https://docs.aws.amazon.com/kinesis/latest/APIReference/API_UpdateShardCount.html
   */
  readonly shardCount: number;

  /**
   * The shard count that the template declares, which is the one the stream was first deployed with. Give it when you
   * change `shardCount` by more than double or half, as the count the stream was last deployed with, and leave it at that
   * for ever: CloudFormation then sees no change of the stream itself, and a custom resource takes it to `shardCount`,
   * however far, in one deployment, and makes sure that the shards are even. A roll-back goes back the same way.
   *
   * @default - `shardCount`: CloudFormation itself updates the stream, and there is no custom resource
   */
  readonly deployedShardCount?: number;

  /**
   * How many hash buckets the keys of the stream have: a power of two from 2 to 65,536, at least four for each shard that
   * the stream will ever have. Every `OrderedProducerFunction` and `OutboxRelayFunction` of the stream then gives a record
   * without an explicit hash key the centre of its key's bucket. Pass the number on to whatever else writes to the stream (`hashBuckets`), and do
   * not change it while keys must keep their order: another number moves keys to other shards.
   *
   * @default - the MD5 of a partition key decides its shard; a producer with `aggregationAcrossKeys` takes 256
   */
  readonly hashBuckets?: number;

  /**
   * The provider whose functions take the stream to its shard count. Give one to choose how these functions run. It needs a
   * `deployedShardCount`.
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
   * How long records stay readable: 24 hours to 365 days.
   *
   * @default - 24 hours
   */
  readonly retentionPeriod?: Duration;

  /**
   * The size limit of a record, its partition key included: 1 MiB to 10 MiB, in whole KiB. Every
   * `OrderedProducerFunction` and `OutboxRelayFunction` of the stream then has this limit. A shard still takes 1 MB a
   * second on average: larger records are for bursts.
   *
   * An event of Lambda has at most 6 MiB, with the data in base64. So a function can receive every record only if the limit is
   * at most 4,603 KiB.
   *
   * @default - 1 MiB
   * @see https://docs.aws.amazon.com/kinesis/latest/APIReference/API_UpdateMaxRecordSize.html
   */
  readonly maxRecordSize?: Size;

  /**
   * A customer-managed key to encrypt records with. Producers need `kms:GenerateDataKey` on it and consumers
   * `kms:Decrypt`; `produceGrants` gives producers theirs.
   *
   * @default - encrypted with `alias/aws/kinesis`, the key that AWS manages, which needs no permission
   */
  readonly encryptionKey?: kms.IKey;

  /**
   * The metrics that CloudWatch keeps for every single shard, at a price for each. They show a hot shard, which the
   * metrics of the whole stream hide.
   *
   * @default - CloudWatch keeps only the metrics of the whole stream
   */
  readonly shardLevelMetrics?: kinesis.ShardLevelMetrics[];

  /**
   * What becomes of the stream and its records when it leaves the stack.
   *
   * @default - they stay in the account
   */
  readonly removalPolicy?: RemovalPolicy;

  /**
   * The traffic that you expect. Synthesis warns if the stream has too few shards for it, and says which count to set. It
   * also warns of traffic that no count of shards can carry; the ids are `cdk-even-shards:UniformStream.tooFewShards` and
   * `cdk-even-shards:UniformStream.notFixedByShards`. It changes nothing that is deployed.
   *
   * @default - synthesis gives no advice
   */
  readonly expectedTraffic?: ExpectedStreamTraffic;
}

/**
 * A provisioned Kinesis stream whose shards divide the hash key space evenly, encrypted by default.
 *
 * Use it with balanced explicit hash keys, or wherever records of a key must keep their order: an on-demand stream may
 * be set to distribute records itself, and then ignores partition keys and explicit hash keys altogether. Everything
 * that takes a `kinesis.IStream` takes this one too.
 *
 * @throws an error with the code `INVALID_SHARD_COUNT` unless the shard counts are whole numbers from 1 to 10,000, and
 *   `INVALID_ARGUMENT` unless the hash buckets are a power of two, at least four times the shards, if the record size limit
 *   is out of bounds, or if there is a `reshardingProvider` without a `deployedShardCount`
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
   * Imports a stream that exists, of another app, with what its producers must agree on. Nothing is created, changed or
   * looked up.
   *
   * @param scope the construct to add the stream to, usually `this`
   * @param id the stream's name within the scope
   * @param attributes the stream, as the app that has it knows it
   * @throws an error with the code `INVALID_ARGUMENT` unless the hash buckets are a power of two, and the record size limit is
   *   one that a stream can have
   */
  public static fromUniformStreamAttributes(
    scope: Construct,
    id: string,
    attributes: UniformStreamAttributes,
  ): IUniformStream {
    const { hashBuckets, maxRecordSize, ...ofStream } = attributes;
    const stream = kinesis.Stream.fromStreamAttributes(scope, id, ofStream);
    possibleHashBuckets(Props.of(stream, { hashBuckets }));
    maxRecordKibibytes(stream, { maxRecordSize });
    const produceGrants = StreamProduceGrants.fromStream(stream);
    const reshardGrants = StreamReshardGrants.fromStream(stream);
    return Object.assign(stream, { hashBuckets, maxRecordSize, produceGrants, reshardGrants, [UNIFORM_STREAM]: true });
  }

  /** How many shards the stream was declared with. */
  public readonly shardCount: number;

  /**
   * The custom resource that takes the stream to its shard count. It says how many shards are open, and their skew.
   * Undefined without a `deployedShardCount`.
   */
  public readonly resharding?: StreamResharding;

  /** How many hash buckets the keys of the stream have. Undefined if the properties do not say it. */
  public readonly hashBuckets?: number;

  /** The size limit of a record, if that was given. */
  public readonly maxRecordSize?: Size;

  /** Permissions for whatever writes to this stream. */
  public readonly produceGrants: StreamProduceGrants;

  /** Permissions for whatever looks after the shards of this stream. */
  public readonly reshardGrants: StreamReshardGrants;

  private autoScaling?: StreamAutoScaling;

  /**
   * A stream in provisioned mode.
   *
   * @param scope the construct to add the stream to, usually `this`
   * @param id the stream's name within the scope
   * @param props how many shards, and what else the stream is to be
   */
  constructor(scope: Construct, id: string, props: UniformStreamProps) {
    super(scope, id, propsOfStream(scope, props));
    const { shardCount, deployedShardCount, provider, ...settings } = uniformStreamSettings(this, props);
    Object.defineProperty(this, UNIFORM_STREAM, { value: true });
    this.shardCount = shardCount;
    this.hashBuckets = settings.hashBuckets;
    this.maxRecordSize = props.maxRecordSize;
    this.produceGrants = StreamProduceGrants.fromStream(this);
    this.reshardGrants = StreamReshardGrants.fromStream(this);
    if (settings.maxRecordKibibytes !== undefined) {
      // The L2 of CDK has no such property yet.
      (this.node.defaultChild as kinesis.CfnStream).maxRecordSizeInKiB = settings.maxRecordKibibytes;
    }
    guardDeployment(this);
    if (props.expectedTraffic) adviseOnShards(this, shardCount, props.expectedTraffic);
    if (deployedShardCount === undefined) return;
    this.resharding = new StreamResharding(
      this,
      'Resharding',
      given({ stream: this, shardCount, deployedShardCount, provider }),
    );
  }

  /**
   * Gives the stream more shards when its load grows, and fewer when its load has been low for half an hour.
   *
   * From then on its shard count is not what the template says, so leave `shardCount` as it was first deployed: changing
   * it would set the count back. Call this before `addReconciliation`, which otherwise takes `shardCount` for what the stream
   * should have.
   *
   * @param options the bounds of the shard count, and the target
   * @throws an error with the code `INVALID_ARGUMENT` if the `shardCount` is outside the bounds, for a stream whose shard
   *   count something else decides (a `deployedShardCount`, a reconciliation, another scaling), and what
   *   `StreamAutoScaling` throws
   */
  public autoScaleShardCount(options: StreamAutoScalingOptions): StreamAutoScaling {
    this.checkBounds(options);
    this.autoScaling = new StreamAutoScaling(this, 'AutoScaling', { ...options, stream: this });
    return this.autoScaling;
  }

  /**
   * Looks at the stream's shards on a schedule, and reports or repairs it when they are not `shardCount` even shards. For a
   * stream that is scaled automatically, it only reports how even they are.
   *
   * @param options what to do about drift, and when to look
   * @throws an error with the code `INVALID_ARGUMENT` if it is to repair a stream that is scaled automatically, which evens
   *   it out by itself
   */
  public addReconciliation(options: StreamReconciliationOptions = {}): StreamReconciliation {
    const { repair = false } = options;
    if (repair && this.autoScaling !== undefined) {
      throw new InvalidArgumentError(
        constructField(this, 'addReconciliation.repair'),
        repair,
        'false for a stream that is scaled automatically: its shard count is not fixed, and each update evens it out',
      );
    }
    const shardCount = this.autoScaling === undefined ? this.shardCount : undefined;
    return new StreamReconciliation(this, 'Reconciliation', { ...options, stream: this, shardCount });
  }

  private checkBounds({ minCapacity, maxCapacity }: StreamAutoScalingOptions): void {
    if ([this.shardCount, minCapacity, maxCapacity].some(Token.isUnresolved) || minCapacity > maxCapacity) return;
    if (this.shardCount >= minCapacity && this.shardCount <= maxCapacity) return;
    throw new InvalidArgumentError(
      constructField(this, 'shardCount'),
      this.shardCount,
      `from minCapacity, ${minCapacity}, to maxCapacity, ${maxCapacity}, for a stream that is scaled between them`,
    );
  }
}

/** What `kinesis.Stream` makes of the properties, with defaults that a blueprint may replace. */
function propsOfStream(scope: Construct, props: UniformStreamProps): kinesis.StreamProps {
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

/** What this library adds to a stream is built from: the properties, none of them refused. The counts may be tokens. */
interface UniformStreamSettings {
  readonly shardCount: number;
  readonly deployedShardCount?: number;
  readonly provider?: IStreamReshardingProvider;
  readonly hashBuckets?: number;
  readonly maxRecordKibibytes?: number;
}

function uniformStreamSettings(stream: IConstruct, props: UniformStreamProps): UniformStreamSettings {
  const { deployedShardCount, reshardingProvider: provider } = props;
  const shardCount = possibleShardCount(stream, 'shardCount', props.shardCount);
  possibleShardCount(stream, 'deployedShardCount', deployedShardCount);
  if (provider !== undefined && deployedShardCount === undefined) {
    const allowed = 'absent without a deployedShardCount: nothing else uses it';
    throw new InvalidArgumentError(constructField(stream, 'reshardingProvider'), provider.node.path, allowed);
  }
  return {
    shardCount,
    deployedShardCount,
    provider,
    hashBuckets: knownHashBuckets(Props.of(stream, props), shardCount),
    maxRecordKibibytes: maxRecordKibibytes(stream, props),
  };
}

function knownHashBuckets(
  props: Props<Pick<UniformStreamProps, 'hashBuckets'>>,
  shardCount: number,
): number | undefined {
  const hashBuckets = possibleHashBuckets(props);
  if (hashBuckets === undefined || Token.isUnresolved(shardCount) || hashBuckets >= 4 * shardCount) return hashBuckets;
  throw props.refusal('hashBuckets', hashBuckets, `at least ${4 * shardCount}, four for each of the shards`);
}
