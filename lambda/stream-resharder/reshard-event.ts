import type { ReshardTarget } from '../../lib/core/resharding/reshard-stream';
import { InvalidEventError } from '../invalid-event-error';

/** What the provider framework hands over: CloudFormation's request, and what the first answer to it has added. */
export interface ReshardEvent {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  readonly StackId: string;
  readonly PhysicalResourceId?: string;
  readonly ResourceProperties: {
    readonly StreamName: string;
    readonly ShardCount: string;
    /** How many shards the stream has without the custom resource. */
    readonly DeployedShardCount?: string;
  };
  /** When the request was first seen, in milliseconds since 1970. */
  readonly StartedAt?: number;
}

/** CloudFormation sends every property as text. */
export function reshardTarget(event: ReshardEvent): ReshardTarget {
  const { StreamName, ShardCount }: Partial<ReshardEvent['ResourceProperties']> = Object(event?.ResourceProperties);
  if (typeof StreamName !== 'string' || StreamName === '') {
    throw new InvalidEventError('ResourceProperties.StreamName', StreamName, 'the name of a stream');
  }
  if (typeof ShardCount !== 'string') throw new InvalidEventError('ResourceProperties.ShardCount', ShardCount, 'text');
  return { streamName: StreamName, shardCount: Number(ShardCount) };
}

/** Where a stream goes back to when a roll-back deletes its custom resource; `undefined` if nothing says so. */
export function countOfBefore(event: ReshardEvent): ReshardTarget | undefined {
  const { DeployedShardCount } = Object(event.ResourceProperties) as ReshardEvent['ResourceProperties'];
  if (DeployedShardCount === undefined) return undefined;
  return reshardTarget({
    ...event,
    ResourceProperties: { ...event.ResourceProperties, ShardCount: DeployedShardCount },
  });
}
