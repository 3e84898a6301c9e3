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
  /** Returns the load of the stream, which the states of its alarms show. */
  readLoad(): Promise<Load>;
  /** The time, in milliseconds since 1970. */
  readonly now: number;
}

interface Scaling {
  /** How many shards the stream has. After a requested update: how many shards the stream will have. */
  readonly shardCount: number;
  /** How many more updates of the shard count Kinesis allows in the current 24 hours. */
  readonly updatesLeft: number;
  /** Absent while Kinesis changes the stream, and after a failure. */
  readonly load?: Load;
  /** How many shards the stream should have now. Absent if `load` is absent. */
  readonly desiredShardCount?: number;
  readonly failure?: unknown;
}

/** If a stream is busy within this time after its last update, the function assumes that the update is still in progress. */
const LONGEST_UPDATE_MS = 60 * 60_000;

/**
 * Reads a stream once, and requests the next update towards the shard count that the load needs. Call this function every
 * minute. The function stores its only state, the history of updates, in a tag of the stream.
 *
 * If the function can read the stream but cannot scale it, the function returns the failure instead of throwing. So the caller
 * can still report the shards and the remaining updates.
 *
 * @throws StreamNotReshardableError if the stream is in on-demand mode, in which Kinesis scales the stream, or is being deleted
 */
export async function scaleStream(
  client: UpdateClient & Pick<ReshardClient, 'describeStreamSummary'>,
  { streamName, minShards, maxShards, readLoad, now }: ScaleRequest,
): Promise<Scaling> {
  const { active, openShardCount } = await describeStream(client, streamName);
  const tags = await readTags(client, streamName);
  const history = parseUpdateHistory(tags.get(UPDATE_HISTORY_TAG), now);
  const remaining = updatesLeft(history);
  if (!active) {
    const update = updatesMade(history).at(-1);
    const isUpdating = update !== undefined && update.time > now - LONGEST_UPDATE_MS;
    return { shardCount: isUpdating ? update.shardCount : openShardCount, updatesLeft: remaining };
  }
  const found = { shardCount: openShardCount, updatesLeft: remaining };
  try {
    const load = await readLoad();
    const desired = desiredShardCount({ openShardCount, minShards, maxShards, load, history, now });
    const decided = { ...found, load, desiredShardCount: desired };
    const steps = shardCountSteps(openShardCount, desired);
    const [next] = steps;
    if (next === undefined || remaining === 0) return decided;
    const request = { streamName, shardCount: next, updates: steps.length, history, now };
    return (await updateShardCount(client, request))
      ? { ...decided, shardCount: next, updatesLeft: remaining - 1 }
      : decided;
  } catch (failure) {
    // Kinesis rejected the update, because other programs have used up the updates of the day. The history now contains this
    // rejection, so no process requests an update for an hour.
    return failure instanceof DailyUpdateLimitError ? { ...found, updatesLeft: 0 } : { ...found, failure };
  }
}
