import type { GetRecordsCommandOutput, GetShardIteratorCommandInput, Kinesis, Shard } from '@aws-sdk/client-kinesis';
import { deaggregate } from '../../lib/core/consumer/deaggregate';
import { OnwardPages } from '../../lib/core/foundation/onward-pages';

/** What reads a stream. */
export type TailClient = Pick<Kinesis, 'listShards' | 'getShardIterator' | 'getRecords'>;

export const TAIL_ACTIONS = ['kinesis:GetRecords', 'kinesis:GetShardIterator', 'kinesis:ListShards'] as const;

/** Where reading begins: with what comes from now on, with what came since a time, or with all that the stream holds. */
export type TailStart = 'LATEST' | 'TRIM_HORIZON' | Date;

export interface TailOptions {
  readonly streamName: string;
  readonly start: TailStart;
  /** Whether to end when every shard has been read to its end. */
  readonly once: boolean;
  readonly signal: AbortSignal;
  /** Waits between two looks at the shards; resolves early when the signal aborts. */
  wait(ms: number): Promise<void>;
  /** Told of a shard that is begun. */
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

/** A shard answers five reads a second, of all its readers together. Source: the Kinesis API reference, GetRecords. */
const BEHIND_MS = 250;
const AT_TIP_MS = 1_000;

interface ReadShard {
  readonly parents: readonly string[];
  /** Where it is begun: a shard that came while the stream was read, at its first record. */
  readonly from: TailStart;
  state: 'waiting' | 'reading' | 'ended';
  iterator?: string | undefined;
  last?: string;
  isAtTip: boolean;
}

/** The user records of a stream, of each shard in their order, and of a shard before those of the shards that it was divided into. */
export async function* tailStream(client: TailClient, options: TailOptions): AsyncGenerator<TailRecord> {
  const { streamName, start, once, signal } = options;
  const shards = new Map<string, ReadShard>();
  await list(true);
  while (!signal.aborted) {
    await begin();
    const reading = [...shards].filter(([, { state }]) => state === 'reading');
    const answers = await Promise.all(reading.map(([id, shard]) => read(id, shard)));
    for (const [index, { Records = [] }] of answers.entries()) {
      for (const record of Records) yield* userRecords(reading[index]![0], record);
    }
    if (reading.some(([, { state }]) => state === 'ended')) await list(false);
    else if (once && reading.every(([, { isAtTip }]) => isAtTip)) return;
    else await options.wait(reading.every(([, { isAtTip }]) => isAtTip) ? AT_TIP_MS : BEHIND_MS);
  }

  /** What is closed when reading begins at the tip holds nothing that is asked for. */
  async function list(isStart: boolean): Promise<void> {
    for (const { ShardId, ParentShardId, AdjacentParentShardId, SequenceNumberRange } of await allShards()) {
      if (ShardId === undefined || shards.has(ShardId)) continue;
      const isClosed = SequenceNumberRange?.EndingSequenceNumber !== undefined;
      const parents = [ParentShardId, AdjacentParentShardId].flatMap((id) => id ?? []);
      const state = isStart && start === 'LATEST' && isClosed ? 'ended' : 'waiting';
      shards.set(ShardId, { parents, from: isStart ? start : 'TRIM_HORIZON', state, isAtTip: false });
    }
  }

  async function allShards(): Promise<Shard[]> {
    const all: Shard[] = [];
    const pages = new OnwardPages('ListShards');
    let NextToken: string | undefined;
    do {
      const page = await client.listShards(NextToken === undefined ? { StreamName: streamName } : { NextToken });
      all.push(...(page.Shards ?? []));
      NextToken = pages.next(page.NextToken);
    } while (NextToken !== undefined);
    return all;
  }

  /** A shard is begun when those that it came from have been read to their end. */
  async function begin(): Promise<void> {
    const isRead = (id: string) => (shards.get(id)?.state ?? 'ended') === 'ended';
    for (const [id, shard] of shards) {
      if (shard.state !== 'waiting' || !shard.parents.every(isRead)) continue;
      shard.iterator = await iteratorOf(id, shard.from);
      shard.state = 'reading';
      options.onShard?.(id);
    }
  }

  async function iteratorOf(ShardId: string, from: TailStart): Promise<string | undefined> {
    const input: GetShardIteratorCommandInput =
      from instanceof Date
        ? { StreamName: streamName, ShardId, ShardIteratorType: 'AT_TIMESTAMP', Timestamp: from }
        : { StreamName: streamName, ShardId, ShardIteratorType: from };
    return (await client.getShardIterator(input)).ShardIterator;
  }

  async function read(id: string, shard: ReadShard): Promise<Partial<GetRecordsCommandOutput>> {
    const answer = await recordsOf(id, shard);
    const { Records = [], NextShardIterator, MillisBehindLatest = 0 } = answer;
    shard.last = Records.at(-1)?.SequenceNumber ?? shard.last;
    shard.isAtTip = Records.length === 0 && MillisBehindLatest === 0;
    shard.iterator = NextShardIterator ?? undefined;
    if (shard.iterator === undefined) {
      shard.state = 'ended';
      shard.isAtTip = true;
    }
    return answer;
  }

  /** An iterator lives for five minutes; a computer may have slept. */
  async function recordsOf(ShardId: string, shard: ReadShard): Promise<Partial<GetRecordsCommandOutput>> {
    try {
      return await client.getRecords({ ShardIterator: shard.iterator });
    } catch (error) {
      const { name } = error as Error;
      if (name === 'ProvisionedThroughputExceededException')
        return { NextShardIterator: shard.iterator, MillisBehindLatest: 1 };
      if (name !== 'ExpiredIteratorException') throw error;
      const NextShardIterator =
        shard.last === undefined
          ? await iteratorOf(ShardId, shard.from)
          : (
              await client.getShardIterator({
                StreamName: streamName,
                ShardId,
                ShardIteratorType: 'AFTER_SEQUENCE_NUMBER',
                StartingSequenceNumber: shard.last,
              })
            ).ShardIterator;
      return { NextShardIterator, MillisBehindLatest: 1 };
    }
  }
}

type KinesisRecord = NonNullable<GetRecordsCommandOutput['Records']>[number];

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
