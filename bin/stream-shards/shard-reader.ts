import type {
  GetRecordsCommandInput,
  GetRecordsCommandOutput,
  GetShardIteratorCommandInput,
  GetShardIteratorCommandOutput,
  Kinesis,
  ListShardsCommandInput,
  ListShardsCommandOutput,
} from '@aws-sdk/client-kinesis';

/** What reads a stream: `new Kinesis({})` is one. */
export interface StreamClient {
  listShards(input: ListShardsCommandInput): Promise<ListShardsCommandOutput>;
  getShardIterator(input: GetShardIteratorCommandInput): Promise<GetShardIteratorCommandOutput>;
  getRecords(input: GetRecordsCommandInput): Promise<GetRecordsCommandOutput>;
}

/** The same client, whose calls end when the signal aborts. */
export function abortable(kinesis: Kinesis, abortSignal: AbortSignal): StreamClient {
  return {
    listShards: (input) => kinesis.listShards(input, { abortSignal }),
    getShardIterator: (input) => kinesis.getShardIterator(input, { abortSignal }),
    getRecords: (input) => kinesis.getRecords(input, { abortSignal }),
  };
}

/** Where reading begins: with what comes from now on, with what came since a time, or with all that the stream holds. */
export type ReadStart = 'LATEST' | 'TRIM_HORIZON' | Date;

export type KinesisRecord = NonNullable<GetRecordsCommandOutput['Records']>[number];

/** Reads one shard from a place on, in order. */
export class ShardReader {
  /** Whether all that the shard holds was read. */
  isAtTip = false;
  /** Whether the shard is closed, and was read to its end. */
  isEnded = false;
  private last?: string;

  private constructor(
    private readonly client: StreamClient,
    private readonly place: { readonly StreamName: string; readonly ShardId: string },
    private readonly from: Exclude<ReadStart, 'LATEST'>,
    private iterator: string | undefined,
  ) {}

  /** From now on, if it begins with what comes. */
  static async begin(client: StreamClient, StreamName: string, ShardId: string, from: ReadStart): Promise<ShardReader> {
    const place = { StreamName, ShardId };
    const now = new Date();
    const iterator = await iteratorOf(client, { ...place, ...startOf(from) });
    // LATEST, asked for again, would leave out what came meanwhile.
    return new ShardReader(client, place, from === 'LATEST' ? now : from, iterator);
  }

  /** The records that come next, if there are any. */
  async read(Limit?: number): Promise<readonly KinesisRecord[]> {
    if (this.isEnded) return [];
    const { Records = [], NextShardIterator, MillisBehindLatest = 0 } = await this.answer(Limit);
    this.last = Records.at(-1)?.SequenceNumber ?? this.last;
    this.iterator = NextShardIterator ?? undefined;
    this.isEnded = this.iterator === undefined;
    this.isAtTip = this.isEnded || (Records.length === 0 && MillisBehindLatest === 0);
    return Records;
  }

  private async answer(Limit: number | undefined): Promise<Partial<GetRecordsCommandOutput>> {
    try {
      return await this.client.getRecords({ ShardIterator: this.iterator, Limit });
    } catch (error) {
      const { name } = error as Error;
      const NextShardIterator = name === 'ExpiredIteratorException' ? await this.renewed() : this.iterator;
      if (name !== 'ExpiredIteratorException' && name !== 'ProvisionedThroughputExceededException') throw error;
      return { NextShardIterator, MillisBehindLatest: 1 };
    }
  }

  /** An iterator lives for five minutes; a computer may have slept. */
  private renewed(): Promise<string | undefined> {
    const start =
      this.last === undefined
        ? startOf(this.from)
        : ({ ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', StartingSequenceNumber: this.last } as const);
    return iteratorOf(this.client, { ...this.place, ...start });
  }
}

function startOf(from: ReadStart): Pick<GetShardIteratorCommandInput, 'ShardIteratorType' | 'Timestamp'> {
  return from instanceof Date ? { ShardIteratorType: 'AT_TIMESTAMP', Timestamp: from } : { ShardIteratorType: from };
}

async function iteratorOf(client: StreamClient, input: GetShardIteratorCommandInput): Promise<string | undefined> {
  return (await client.getShardIterator(input)).ShardIterator;
}
