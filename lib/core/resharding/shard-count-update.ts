import { isDailyLimit, isNotReady, isOutOfDate, isShardQuota } from './refusals';
import type { ReshardClient } from './reshard-client';
import { DailyUpdateLimitError } from './reshard-errors';
import { type TagClient, writeTag } from './stream-tags';
import { formatUpdateHistory, type PastUpdate, REFUSED, UPDATE_HISTORY_TAG } from './update-history';

export type UpdateClient = Pick<ReshardClient, 'updateShardCount'> & TagClient;

interface UpdateRequest {
  readonly streamName: string;
  readonly shardCount: number;
  /** How many updates are still needed, including this update. */
  readonly updates: number;
  readonly history: readonly PastUpdate[];
  readonly now: number;
  /**
   * Receives the error if Kinesis rejects the tag of the history. The update then continues. Without this function, the update
   * fails.
   */
  readonly onTagFailure?: ((error: Error) => void) | undefined;
}

/**
 * Requests an update of the shard count, and adds it to the stream's history. Returns `false` if the stream is not ready.
 *
 * The function writes the history before the update, because the stream accepts no tags during the update. So the history
 * contains the update even after a lost response or a crash. If Kinesis rejects the update, the function removes the update from
 * the history. If the updates of the day are used up, the function adds a rejection to the history.
 *
 * @throws DailyUpdateLimitError if Kinesis rejects the update because the updates of the day are used up
 */
export async function updateShardCount(
  client: UpdateClient,
  { streamName, shardCount, updates, history, now, onTagFailure }: UpdateRequest,
): Promise<boolean> {
  const write = async (entries: readonly PastUpdate[]): Promise<boolean> => {
    try {
      return await writeTag(client, streamName, UPDATE_HISTORY_TAG, formatUpdateHistory(entries));
    } catch (error) {
      if (onTagFailure === undefined) throw error;
      onTagFailure(error as Error);
      return true;
    }
  };
  const before = withoutAttempt(history, shardCount);
  if (!(await write([...before, { time: now, shardCount }]))) return false;
  try {
    await client.updateShardCount({
      StreamName: streamName,
      TargetShardCount: shardCount,
      ScalingType: 'UNIFORM_SCALING',
    });
    return true;
  } catch (error) {
    if (isDailyLimit(error)) {
      const withRejection = [...before, { time: now, shardCount: REFUSED }];
      await write(withRejection);
      throw new DailyUpdateLimitError(streamName, updates, withRejection, { rejection: error.message, cause: error });
    }
    const isLater = isNotReady(error) || isOutOfDate(error);
    if (isLater || isShardQuota(error)) await write(before);
    if (!isLater) throw error;
    return false;
  }
}

/**
 * The history without a failed attempt. If the last update in the history requested the same count, Kinesis has not made that
 * update, and the new update replaces the failed attempt.
 */
function withoutAttempt(history: readonly PastUpdate[], shardCount: number): readonly PastUpdate[] {
  return history.at(-1)?.shardCount === shardCount ? history.slice(0, -1) : history;
}
