import type { ReshardClient } from './reshard-client';
import { DailyUpdateLimitError } from './reshard-errors';
import { formatUpdateHistory, type PastUpdate, parseUpdateHistory, UPDATE_HISTORY_TAG } from './update-history';

export type UpdateClient = Pick<ReshardClient, 'updateShardCount' | 'listTagsForStream' | 'addTagsToStream'>;

/** The updates of the stream's shard count in the last 24 hours, according to the stream's tag. */
export async function readUpdateHistory(client: UpdateClient, streamName: string, now: number): Promise<PastUpdate[]> {
  let start: string | undefined;
  do {
    const { Tags = [], HasMoreTags } = await client.listTagsForStream({
      StreamName: streamName,
      ...(start !== undefined && { ExclusiveStartTagKey: start }),
    });
    const tag = Tags.find(({ Key }) => Key === UPDATE_HISTORY_TAG);
    if (tag !== undefined) return parseUpdateHistory(tag.Value, now);
    start = HasMoreTags ? Tags.at(-1)?.Key : undefined;
  } while (start !== undefined);
  return [];
}

export interface UpdateRequest {
  readonly streamName: string;
  readonly shardCount: number;
  /** How many updates are still needed, this one included. */
  readonly updates: number;
  readonly history: readonly PastUpdate[];
  readonly now: number;
}

/**
 * Asks for an update of the shard count and adds it to the stream's history. Returns `false` if the stream is not
 * ready.
 *
 * The history is written after the update. If an entry is missing, the worst case is that Kinesis, which counts the
 * updates itself, refuses a later one. An entry too many would forbid an update that Kinesis allows.
 */
export async function updateShardCount(
  client: UpdateClient,
  { streamName, shardCount, updates, history, now }: UpdateRequest,
): Promise<boolean> {
  try {
    await client.updateShardCount({
      StreamName: streamName,
      TargetShardCount: shardCount,
      ScalingType: 'UNIFORM_SCALING',
    });
  } catch (error) {
    if (isNotReady(error)) return false;
    if (!isDailyLimit(error)) throw error;
    throw new DailyUpdateLimitError(streamName, updates, history, { refusal: error.message, cause: error });
  }
  await writeUpdateHistory(client, streamName, [...history, { time: now, shardCount }]);
  return true;
}

/**
 * According to the API reference, a busy stream may refuse tags, and the update makes this stream busy. So a refused
 * tag does not make the update fail.
 */
async function writeUpdateHistory(
  client: UpdateClient,
  streamName: string,
  history: readonly PastUpdate[],
): Promise<void> {
  try {
    await client.addTagsToStream({
      StreamName: streamName,
      Tags: { [UPDATE_HISTORY_TAG]: formatUpdateHistory(history) },
    });
  } catch (error) {
    if (!isNotReady(error)) throw error;
  }
}

/** Whether Kinesis refused a request only because the stream was busy, or because the last request was too recent. */
export function isNotReady(error: unknown): boolean {
  const { name, message } = error as Error;
  return name === 'ResourceInUseException' || (name === 'LimitExceededException' && /\brate\b/i.test(message));
}

/** The same exception has another message if the account's quota of shards is exceeded. */
function isDailyLimit(error: unknown): error is Error {
  const { name, message } = error as Error;
  return name === 'LimitExceededException' && !/shard (limit|quota)/i.test(message);
}
