import type { ReshardClient } from './reshard-client';
import { desiredShardCount, type Load, type ScalingBounds } from './scaling-policy';
import { shardCountSteps } from './shard-count-steps';
import { readUpdateHistory, type UpdateClient, updateShardCount } from './shard-count-update';
import { describeStream } from './stream-state';
import { updatesLeft } from './update-history';

export interface ScaleRequest extends ScalingBounds {
  readonly streamName: string;
  readonly load: Load;
  /** The time, in milliseconds since 1970. */
  readonly now: number;
}

/** How a stream was found, and what it was asked for. */
export interface Scaling {
  readonly openShardCount: number;
  /** How many shards it should have now. */
  readonly desiredShardCount: number;
  /** How many it has, or was asked for: one step of the way to the desired count. */
  readonly shardCount: number;
  /** How many updates of its shard count the day has left. */
  readonly updatesLeft: number;
}

/**
 * Looks at a stream once and asks it for the next step to the shard count that its load calls for; `undefined` while the
 * stream is being changed.
 *
 * Call it every minute. It remembers nothing but the stream's history of updates, which the stream itself keeps.
 *
 * @throws StreamNotReshardableError for a stream in on-demand mode, which scales by itself
 */
export async function scaleStream(
  client: UpdateClient & Pick<ReshardClient, 'describeStreamSummary'>,
  { streamName, minShards, maxShards, load, now }: ScaleRequest,
): Promise<Scaling | undefined> {
  const { active, openShardCount } = await describeStream(client, streamName);
  if (!active) return undefined;
  const history = await readUpdateHistory(client, streamName, now);
  const left = updatesLeft(history);
  const desired = desiredShardCount({ openShardCount, minShards, maxShards, load, history, now });
  const [next, ...rest] = shardCountSteps(openShardCount, desired);
  const asked =
    next !== undefined &&
    left > 0 &&
    (await updateShardCount(client, { streamName, shardCount: next, updates: 1 + rest.length, history, now }));
  return {
    openShardCount,
    desiredShardCount: desired,
    shardCount: asked ? next : openShardCount,
    updatesLeft: asked ? left - 1 : left,
  };
}
