import { deaggregate } from '../../lib/core/consumer/deaggregate';
import { ShardLineage } from '../stream-shards/shard-lineage';
import { type KinesisRecord, type ReadStart, ShardReader, type StreamClient } from '../stream-shards/shard-reader';

export const TAIL_ACTIONS = ['kinesis:GetRecords', 'kinesis:GetShardIterator', 'kinesis:ListShards'] as const;

interface TailOptions {
  readonly streamName: string;
  readonly start: ReadStart;
  /** Whether to end when every shard has been read to its end. */
  readonly once: boolean;
  readonly signal: AbortSignal;
  /** Waits between two reads of the shards. Resolves early when the signal aborts. */
  wait(ms: number): Promise<void>;
  /** Called when the reading of a shard starts. */
  onShard?(shardId: string): void;
}

/** A user record, and where it was read. */
export interface TailRecord {
  readonly shardId: string;
  readonly sequenceNumber: string;
  readonly subSequenceNumber: number;
  readonly partitionKey: string;
  readonly data: Uint8Array;
  readonly arrivedAt: Date | undefined;
}

/**
 * The wait between two reads of a shard that still has unread records. A shard allows five reads a second for all its
 * readers together. Source: the Kinesis API reference, GetRecords.
 */
const BEHIND_MS = 250;
const AT_TIP_MS = 1_000;

/** The user records of a stream. The records of a shard are in order, and come before the records of its child shards. */
export async function* tailStream(client: StreamClient, options: TailOptions): AsyncGenerator<TailRecord> {
  const { streamName, start, once, signal } = options;
  const lineage = new ShardLineage(client, streamName, start);
  const reading = new Map<string, ShardReader>();
  await lineage.look();
  while (!signal.aborted) {
    for (const { shardId, from } of lineage.takeReady()) {
      reading.set(shardId, await ShardReader.begin(client, streamName, shardId, from));
      options.onShard?.(shardId);
    }
    const answers = await Promise.all([...reading].map(async ([id, reader]) => [id, await reader.read()] as const));
    for (const [shardId, records] of answers) for (const record of records) yield* userRecords(shardId, record);
    const isAtTip = [...reading.values()].every((reader) => reader.isAtTip);
    const ended = [...reading].filter(([, { isEnded }]) => isEnded);
    for (const [shardId] of ended) {
      reading.delete(shardId);
      lineage.end(shardId);
    }
    if (ended.length > 0) await lineage.look();
    else if (once && isAtTip) return;
    else await options.wait(isAtTip ? AT_TIP_MS : BEHIND_MS);
  }
}

function userRecords(
  shardId: string,
  { SequenceNumber = '', PartitionKey = '', Data = new Uint8Array(), ApproximateArrivalTimestamp }: KinesisRecord,
): TailRecord[] {
  return deaggregate({ partitionKey: PartitionKey, data: Data }, { onCorrupt: 'raw' }).map(
    ({ partitionKey, data, subSequenceNumber }) => ({
      shardId,
      sequenceNumber: SequenceNumber,
      subSequenceNumber,
      partitionKey,
      data,
      arrivedAt: ApproximateArrivalTimestamp,
    }),
  );
}
