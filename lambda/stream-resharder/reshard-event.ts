import { isText } from '../../lib/core/kernel/checks';
import type { ReshardTarget } from '../../lib/core/resharding/reshard-stream';
import { InvalidEventError } from '../invalid-event-error';

/** The event of the provider framework: CloudFormation's request, and the fields of the first response to it. */
export interface ReshardEvent {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  readonly StackId: string;
  readonly PhysicalResourceId?: string;
  readonly ResourceProperties: {
    readonly StreamName: string;
    readonly ShardCount: string;
    /**
     * The shard count that the stream had before the custom resource. A roll-back that deletes the custom resource
     * restores this count.
     */
    readonly DeployedShardCount?: string;
  };
  /** The time of the first invocation for the request, in milliseconds since 1970. */
  readonly StartedAt?: number;
}

/** The stream and its shard count. CloudFormation sends every property as text. */
export function reshardTarget(event: ReshardEvent): ReshardTarget {
  const { StreamName, ShardCount }: Partial<ReshardEvent['ResourceProperties']> = Object(event?.ResourceProperties);
  if (!isText(StreamName)) {
    throw new InvalidEventError('ResourceProperties.StreamName', StreamName, 'the name of a stream');
  }
  if (typeof ShardCount !== 'string') throw new InvalidEventError('ResourceProperties.ShardCount', ShardCount, 'text');
  return { streamName: StreamName, shardCount: Number(ShardCount) };
}

/** The target if a roll-back deletes the custom resource. Undefined without a `DeployedShardCount`. */
export function previousTarget(event: ReshardEvent): ReshardTarget | undefined {
  const { DeployedShardCount } = Object(event.ResourceProperties) as ReshardEvent['ResourceProperties'];
  if (DeployedShardCount === undefined) return undefined;
  return reshardTarget({
    ...event,
    ResourceProperties: { ...event.ResourceProperties, ShardCount: DeployedShardCount },
  });
}
