import { createHash } from 'node:crypto';
import { CustomResource, Lazy, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { Construct } from 'constructs';
import { checkOwnEnvironment } from '../../construct/props';
import { possibleShardCount, provisionedStream } from '../stream-checks';
import { StreamReshardGrants } from '../stream-grants';
import { streamProperties } from '../stream-properties';
import { ownShardCount } from './shard-count-owner';
import { type IStreamReshardingProvider, StreamReshardingProvider } from './stream-resharding-provider';

/** Properties of a `StreamResharding`. */
export interface StreamReshardingProps {
  /**
   * The stream, defined in this app or imported, in the account and region of the stack. The stream must be in
   * provisioned mode, because Kinesis chooses the shards of an on-demand stream.
   */
  readonly stream: kinesis.IStreamRef;

  /** The number of shards after the deployment: an integer from 1 to 10,000. */
  readonly shardCount: number;

  /**
   * The number of shards before you add this construct: an integer from 1 to 10,000. If CloudFormation rolls back the
   * deployment that adds this construct, the stream is resharded to this count, even in the first deployment of the
   * stack. Later roll-backs restore the `shardCount` of the previous deployment.
   *
   * @default - a roll-back of the deployment that adds this construct does not change the shards
   */
  readonly deployedShardCount?: number;

  /**
   * The provider of the custom resource, in this stack or in another stack of the same account and region.
   *
   * @default - all `StreamResharding`s of the stack share a provider with default settings
   */
  readonly provider?: IStreamReshardingProvider;
}

/**
 * Reshards a stream to any shard count in one deployment, and makes its shards even.
 *
 * Use it for a stream that is not a `UniformStream`. A `UniformStream` with a `deployedShardCount` does the same. Kinesis can
 * at most double or halve the count in one update, so a custom resource changes the count in steps. Then it reads the shards,
 * and makes uneven shards even by splits and merges. Producers and consumers can use the stream during this time.
 *
 * A roll-back restores the previous count in the same way. If the stream has used the ten updates that Kinesis allows in 24
 * hours, the roll-back still succeeds and the function logs a warning. If you delete this construct, the stream keeps its
 * shards. Only a roll-back that deletes this construct changes the shards, and only if there is a `deployedShardCount`.
 *
 * If another property of the stream changes, the custom resource checks the shards again. AWS does not document whether
 * CloudFormation then resets the stream to the count in the template.
 *
 * The deployment waits for the resharding for up to 50 minutes. After this time, the deployment fails. It also fails if the
 * account reaches its shard limit, or if the stream has used the ten updates that Kinesis allows in 24 hours. The error
 * contains the time of the next allowed update. A new deployment continues where the previous deployment stopped.
 *
 * Unless you pass a provider, all streams of a stack share one provider. Its role allows resharding only of these streams.
 *
 * @see https://docs.aws.amazon.com/kinesis/latest/APIReference/API_UpdateShardCount.html
 * @throws an error with the code `INVALID_SHARD_COUNT` if a count is not an integer from 1 to 10,000
 * @throws an error with the code `INVALID_ARGUMENT` if the stream is known to be on-demand or in another account or region
 *
 * @exampleMetadata fixture=app
 * @example const resharding = new StreamResharding(stack, 'Resharding', { stream, shardCount: 32, deployedShardCount: 4 }); new
 *   CfnOutput(stack, 'OpenShards', { value: resharding.openShardCount });
 */
export class StreamResharding extends Construct {
  /**
   * The number of open shards after the deployment, as text. It is a token. "unknown" after a roll-back in which the
   * stream does not exist or cannot be read.
   */
  public readonly openShardCount: string;

  /**
   * The number of hash keys of the widest shard, divided by the mean number of hash keys of a shard, after the
   * deployment, as text. With 1, the shards are perfectly even. Up to 1.05, they are even.
   */
  public readonly skew: string;

  /**
   * Creates a custom resource.
   *
   * @param scope the construct to add the resharding to, usually `this`
   * @param id the name of the resharding within the scope
   * @param props the stream and its shard count
   */
  constructor(scope: Construct, id: string, props: StreamReshardingProps) {
    super(scope, id);
    const stream = provisionedStream(this, props.stream);
    const shardCount = possibleShardCount(this, 'shardCount', props.shardCount);
    const deployedShardCount = possibleShardCount(this, 'deployedShardCount', props.deployedShardCount);
    ownShardCount(this, stream, shardCount);
    const provider = props.provider ?? StreamReshardingProvider._of(this);
    const grantee = this.granteeOf(provider);
    const grant = StreamReshardGrants.fromStream(stream).reshard(grantee);
    const resource = new CustomResource(this, 'Resource', {
      serviceToken: provider.serviceToken,
      resourceType: 'Custom::EvenShardsStreamShardCount',
      properties: {
        StreamName: stream.streamRef.streamName,
        ShardCount: shardCount,
        DeployedShardCount: deployedShardCount,
        // A change of the stream also changes this resource, so that the function checks the shards again.
        StreamProperties: digestOf(stream),
      },
    });
    grant.combine(this.grantDescribeStacks(grantee)).applyBefore(resource);
    this.openShardCount = resource.getAttString('OpenShardCount');
    this.skew = resource.getAttString('Skew');
  }

  /**
   * The principal that receives the permissions on the stream. If the provider is in another stack, the policy is in
   * this stack. A policy in the provider's stack would refer to the stream, and the two stacks would depend on each
   * other.
   */
  private granteeOf(provider: IStreamReshardingProvider): iam.IGrantable {
    checkOwnEnvironment(this, 'provider', 'a provider', provider);
    if (Stack.of(provider) === Stack.of(this)) return provider.role;
    return new iam.Policy(this, 'Policy', { roles: [provider.role] });
  }

  /** Allows the function to check whether this stack, or a stack that contains it, is rolling back. */
  private grantDescribeStacks(grantee: iam.IGrantable): iam.Grant {
    const resourceArns: string[] = [];
    for (let stack: Stack | undefined = Stack.of(this); stack !== undefined; stack = stack.nestedStackParent) {
      resourceArns.push(stack.stackId);
    }
    return iam.Grant.addToPrincipal({ grantee, actions: ['cloudformation:DescribeStacks'], resourceArns });
  }
}

/** A digest of the stream's properties in the template. An imported stream has no properties in the template. */
function digestOf(stream: kinesis.IStreamRef): string {
  return Lazy.string({
    produce: () =>
      createHash('sha256')
        .update(JSON.stringify(streamProperties(stream)))
        .digest('hex')
        .slice(0, 16),
  });
}
