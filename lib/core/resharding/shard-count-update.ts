import { isDailyLimit, isNotReady, isOutOfDate, isShardQuota } from './refusals';
import type { ReshardClient } from './reshard-client';
import { DailyUpdateLimitError } from './reshard-errors';
import { type TagClient, writeTag } from './stream-tags';
import { formatUpdateHistory, type PastUpdate, REFUSED, UPDATE_HISTORY_TAG } from './update-history';

export type UpdateClient = Pick<ReshardClient, 'updateShardCount'> & TagClient;

interface UpdateRequest {
  readonly streamName: string;
  readonly shardCount: number;
  /** How many updates are still needed, this one included. */
  readonly updates: number;
  readonly history: readonly PastUpdate[];
  readonly now: number;
  /** Receives the error with which Kinesis refuses the tag of the history, and the update goes on. @default it fails */
  readonly onTagFailure?: ((error: Error) => void) | undefined;
}

/**
 * Asks for an update of the shard count and adds it to the stream's history. Returns `false` if the stream is not ready.
 *
 * The history is written before the update, because the stream accepts no tags while it is busy with the update. So the
 * update is counted even after a lost answer or a crash. If Kinesis refuses the update, it is removed from the history
 * again. If the updates of the day are used up, the history then says so.
 *
 * @throws DailyUpdateLimitError if Kinesis refuses the update because the updates of the day are used up
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
      const refused = [...before, { time: now, shardCount: REFUSED }];
      await write(refused);
      throw new DailyUpdateLimitError(streamName, updates, refused, { refusal: error.message, cause: error });
    }
    const isLater = isNotReady(error) || isOutOfDate(error);
    if (isLater || isShardQuota(error)) await write(before);
    if (!isLater) throw error;
    return false;
  }
}

/**
 * If the last update asked for the same count, the stream does not have it. So that update was not made, and this one takes
 * its place.
 */
function withoutAttempt(history: readonly PastUpdate[], shardCount: number): readonly PastUpdate[] {
  return history.at(-1)?.shardCount === shardCount ? history.slice(0, -1) : history;
}
