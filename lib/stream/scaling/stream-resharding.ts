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
   * The stream, of this app or imported, in the stack's own account and region. It is in provisioned mode: Kinesis itself
   * chooses the shards of an on-demand stream.
   */
  readonly stream: kinesis.IStreamRef;

  /** How many shards the stream will have: a whole number from 1 to 10,000. */
  readonly shardCount: number;

  /**
   * How many shards the stream had before this was added. It gets this count again if the deployment that adds it is rolled
   * back, also if it is the first deployment of the stack: a whole number from 1 to 10,000. Later roll-backs go to the `shardCount` of the deployment before.
   *
   * @default - a roll-back of the deployment that adds this does not change the shards of the stream
   */
  readonly deployedShardCount?: number;

  /**
   * What answers CloudFormation, of this stack or another one of the same account and region.
   *
   * @default - all such resources of the stack share a provider with default settings
   */
  readonly provider?: IStreamReshardingProvider;
}

/**
 * Takes a stream to a shard count, however far, in one deployment, and sees to it that its shards are even.
 *
 * Use it for a stream that is not a `UniformStream`; that construct does the same if you give it a `deployedShardCount`. A
 * custom resource goes to the count step by step, because one update at most doubles or halves it. Then it reads the shards
 * and moves boundaries that are not even, by splits and merges. Records can be written and read meanwhile. A roll-back goes
 * back the same way; if it cannot, because the updates of the day are used up, it ends nevertheless and leaves a warning in
 * the log. If this construct is deleted, the stream keeps its shards, unless a roll-back deletes it and there is a `deployedShardCount`.
 *
 * If another property of the stream changes, the shards are looked at again, because CloudFormation might set the count
 * that the template declares. AWS does not document whether it does.
 *
 * The deployment waits for it, up to 50 minutes, and fails if the stream does not have its shards by then, if the account
 * has no shards left, or if the ten updates that Kinesis allows in 24 hours are used up: the error says when they are
 * allowed again. Deploying again goes on where it stopped.
 *
 * A stack has one provider for all its streams, which may reshard exactly these, unless you give one.
 *
 * @see https://docs.aws.amazon.com/kinesis/latest/APIReference/API_UpdateShardCount.html
 * @throws an error with the code `INVALID_SHARD_COUNT` unless the count is a whole number from 1 to 10,000, and
 *   `INVALID_ARGUMENT` if the stream is known to be on-demand, or in another account or region
 *
 * @exampleMetadata fixture=app
 * @example
 * const resharding = new StreamResharding(stack, 'Resharding', { stream, shardCount: 32, deployedShardCount: 4 });
 * new CfnOutput(stack, 'OpenShards', { value: resharding.openShardCount });
 */
export class StreamResharding extends Construct {
  /**
   * How many shards were open when the deployment was done, as text: known when the stack is deployed. "unknown" after a
   * roll-back whose stream is gone, or could not be read.
   */
  public readonly openShardCount: string;

  /**
   * How many times the mean the widest shard held when the deployment was done, as text: 1 is perfectly even, up to 1.05
   * counts as even.
   */
  public readonly skew: string;

  /**
   * A custom resource.
   *
   * @param scope the construct to add it to, usually `this`
   * @param id its name within the scope
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
        // Any change of the stream is one of this resource, too.
        StreamProperties: digestOf(stream),
      },
    });
    grant.combine(this.mayAskForRollBack(grantee)).applyBefore(resource);
    this.openShardCount = resource.getAttString('OpenShardCount');
    this.skew = resource.getAttString('Skew');
  }

  /**
   * Who is allowed to reshard. A provider of another stack gets a policy of this one: its own would name the stream, and the two stacks
   * would need each other.
   */
  private granteeOf(provider: IStreamReshardingProvider): iam.IGrantable {
    checkOwnEnvironment(this, 'provider', 'a provider', provider);
    if (Stack.of(provider) === Stack.of(this)) return provider.role;
    return new iam.Policy(this, 'Policy', { roles: [provider.role] });
  }

  /** Only the stack itself knows whether it is being rolled back, or the one that it is nested in. */
  private mayAskForRollBack(grantee: iam.IGrantable): iam.Grant {
    const resourceArns: string[] = [];
    for (let stack: Stack | undefined = Stack.of(this); stack !== undefined; stack = stack.nestedStackParent) {
      resourceArns.push(stack.stackId);
    }
    return iam.Grant.addToPrincipal({ grantee, actions: ['cloudformation:DescribeStacks'], resourceArns });
  }
}

/** What the template says of a stream, as a short text; nothing of an imported one. */
function digestOf(stream: kinesis.IStreamRef): string {
  return Lazy.string({
    produce: () =>
      createHash('sha256')
        .update(JSON.stringify(streamProperties(stream)))
        .digest('hex')
        .slice(0, 16),
  });
}
