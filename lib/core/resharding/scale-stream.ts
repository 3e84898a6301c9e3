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

/** The result of one look at a stream. */
export interface Scaling {
  readonly openShardCount: number;
  /** How many shards the stream should have now. */
  readonly desiredShardCount: number;
  /**
   * How many shards the stream has or, if an update was requested, will have. It is one step towards the desired count.
   */
  readonly shardCount: number;
  /** How many further updates of its shard count Kinesis allows in the current 24 hours. */
  readonly updatesLeft: number;
}

/**
 * Looks at a stream once, and requests the next step to the shard count that its load needs. Returns `undefined` while
 * Kinesis is changing the stream.
 *
 * Call it every minute. It remembers nothing: the history of updates is in a tag of the stream.
 *
 * @throws StreamNotReshardableError if the stream is in on-demand mode, where Kinesis scales it, or is being deleted
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
