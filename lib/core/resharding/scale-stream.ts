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
  /** Returns what the alarms of the stream say about its load. */
  readLoad(): Promise<Load>;
  /** The time, in milliseconds since 1970. */
  readonly now: number;
}

/** The result of one look at a stream. */
interface Scaling {
  /**
   * How many shards the stream has, or will have after the update that was just requested, which is one step towards the
   * desired count.
   */
  readonly shardCount: number;
  /** How many further updates of its shard count Kinesis allows in the current 24 hours. */
  readonly updatesLeft: number;
  /** Absent while the stream is being changed, and if it could not be scaled. */
  readonly load?: Load;
  /** How many shards the stream should have now. Absent if the load is. */
  readonly desiredShardCount?: number;
  /** Why the stream could not be scaled. */
  readonly failure?: unknown;
}

/** How long after its last update a busy stream counts as busy with that update. */
const LONGEST_UPDATE_MS = 60 * 60_000;

/**
 * Looks at a stream once and asks it for the next step to the shard count that its load calls for.
 *
 * Call it every minute. It remembers nothing but the history of updates, which the stream itself keeps. If it could look at
 * the stream but not scale it, it does not throw but says so in its answer, because the number of shards and updates then
 * matters all the more.
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
    const steps = shardCountSteps(openShardCount, desired);
    const [next] = steps;
    if (next === undefined || left === 0) return decided;
    const request = { streamName, shardCount: next, updates: steps.length, history, now };
    return (await updateShardCount(client, request))
      ? { ...decided, shardCount: next, updatesLeft: left - 1 }
      : decided;
  } catch (failure) {
    // Other processes have used up the updates of the day. The history says so now, and nobody asks again for an hour.
    return failure instanceof DailyUpdateLimitError ? { ...found, updatesLeft: 0 } : { ...found, failure };
  }
}
