import type { ReshardClient } from './reshard-client';
import { DailyUpdateLimitError } from './reshard-errors';
import { desiredShardCount, type Load, type ScalingBounds } from './scaling-policy';
import { shardCountSteps } from './shard-count-steps';
import { type UpdateClient, updateShardCount } from './shard-count-update';
import { describeStream } from './stream-state';
import { readTags } from './stream-tags';
import { parseUpdateHistory, UPDATE_HISTORY_TAG, updatesLeft, updatesMade } from './update-history';

interface ScaleRequest extends ScalingBounds {
  readonly streamName: string;
  /** What the stream's alarms say of its load. */
  readLoad(): Promise<Load>;
  /** The time, in milliseconds since 1970. */
  readonly now: number;
}

/** The result of one look at a stream. */
interface Scaling {
  /** How many shards it has, or was asked for: one step of the way to the desired count. */
  readonly shardCount: number;
  /** How many further updates of its shard count Kinesis allows in the current 24 hours. */
  readonly updatesLeft: number;
  /** Unknown while the stream is being changed, and if it could not be scaled. */
  readonly load?: Load;
  /** How many shards it should have now; unknown as the load is. */
  readonly desiredShardCount?: number;
  /** Why it could not be scaled. */
  readonly failure?: unknown;
}

/** How long after its update a stream that is busy is taken to be busy with it. */
const LONGEST_UPDATE_MS = 60 * 60_000;

/**
 * Looks at a stream once and asks it for the next step to the shard count that its load calls for.
 *
 * Call it every minute. It remembers nothing but the stream's history of updates, which the stream itself keeps. What
 * keeps it from scaling a stream that it could look at is no error here but part of the answer: the stream's shards and
 * updates are worth knowing all the more.
 *
 * @throws StreamNotReshardableError if the stream is in on-demand mode, where Kinesis scales it, or is being deleted
 */
export async function scaleStream(
  client: UpdateClient & Pick<ReshardClient, 'describeStreamSummary'>,
  { streamName, minShards, maxShards, readLoad, now }: ScaleRequest,
): Promise<Scaling> {
  const { active, openShardCount } = await describeStream(client, streamName);
  const tags = await readTags(client, streamName);
  const history = parseUpdateHistory(tags.get(UPDATE_HISTORY_TAG), now);
  const left = updatesLeft(history);
  if (!active) {
    const update = updatesMade(history).at(-1);
    const isUpdating = update !== undefined && update.time > now - LONGEST_UPDATE_MS;
    return { shardCount: isUpdating ? update.shardCount : openShardCount, updatesLeft: left };
  }
  const found = { shardCount: openShardCount, updatesLeft: left };
  try {
    const load = await readLoad();
    const desired = desiredShardCount({ openShardCount, minShards, maxShards, load, history, now });
    const decided = { ...found, load, desiredShardCount: desired };
    const [next, ...rest] = shardCountSteps(openShardCount, desired);
    if (next === undefined || left === 0) return decided;
    const request = { streamName, shardCount: next, updates: 1 + rest.length, history, now };
    return (await updateShardCount(client, request))
      ? { ...decided, shardCount: next, updatesLeft: left - 1 }
      : decided;
  } catch (failure) {
    // Others have used up the updates of the day. That is in the history now, and nobody asks again for an hour.
    return failure instanceof DailyUpdateLimitError ? { ...found, updatesLeft: 0 } : { ...found, failure };
  }
}
