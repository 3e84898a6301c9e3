import type { ReshardTarget } from '../../lib/core/resharding/reshard-stream';
import { InvalidEventError } from '../invalid-event-error';

/** What the provider framework hands over: CloudFormation's request, and what the first answer to it has added. */
export interface ReshardEvent {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  readonly PhysicalResourceId?: string;
  readonly ResourceProperties: { readonly StreamName: string; readonly ShardCount: string };
  /** When the request was first seen, in milliseconds since 1970. */
  readonly StartedAt?: number;
}

/** CloudFormation sends every property as text. */
export function reshardTarget({ ResourceProperties }: ReshardEvent): ReshardTarget {
  const { StreamName, ShardCount } = ResourceProperties;
  if (typeof StreamName !== 'string' || StreamName === '') {
    throw new InvalidEventError('ResourceProperties.StreamName', StreamName, 'the name of a stream');
  }
  return { streamName: StreamName, shardCount: Number(ShardCount) };
}
