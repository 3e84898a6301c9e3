import type {
  GetRecordsCommandInput,
  GetRecordsCommandOutput,
  GetShardIteratorCommandInput,
  GetShardIteratorCommandOutput,
  Kinesis,
  ListShardsCommandInput,
  ListShardsCommandOutput,
} from '@aws-sdk/client-kinesis';

/** The part of a Kinesis client that reads a stream. */
export interface StreamClient {
  listShards(input: ListShardsCommandInput): Promise<ListShardsCommandOutput>;
  getShardIterator(input: GetShardIteratorCommandInput): Promise<GetShardIteratorCommandOutput>;
  getRecords(input: GetRecordsCommandInput): Promise<GetRecordsCommandOutput>;
}

/** Returns a client that aborts its requests when the signal aborts. */
export function abortable(kinesis: Kinesis, abortSignal: AbortSignal): StreamClient {
  return {
    listShards: (input) => kinesis.listShards(input, { abortSignal }),
    getShardIterator: (input) => kinesis.getShardIterator(input, { abortSignal }),
    getRecords: (input) => kinesis.getRecords(input, { abortSignal }),
  };
}

/** The start of reading: new records only, records since a time, or all stored records. */
export type ReadStart = 'LATEST' | 'TRIM_HORIZON' | Date;

export type KinesisRecord = NonNullable<GetRecordsCommandOutput['Records']>[number];

/** Reads one shard in order, from a position. */
export class ShardReader {
  /** Whether all current records of the shard were read. */
  isAtTip = false;
  /** Whether the shard is closed, and was read to its end. */
  isEnded = false;
  private last?: string;

  private constructor(
    private readonly client: StreamClient,
    private readonly place: { readonly StreamName: string; readonly ShardId: string },
    private readonly from: ReadStart,
    private readonly beganAt: { readonly timeOfDayMs: number; readonly clockMs: number },
    private iterator: string | undefined,
  ) {}

  static async begin(client: StreamClient, StreamName: string, ShardId: string, from: ReadStart): Promise<ShardReader> {
    const place = { StreamName, ShardId };
    const beganAt = { timeOfDayMs: Date.now(), clockMs: performance.now() };
    const iterator = await iteratorOf(client, { ...place, ...startOf(from) });
    return new ShardReader(client, place, from, beganAt, iterator);
  }

  /** Reads the next records. The result can be empty. */
  async read(): Promise<readonly KinesisRecord[]> {
    if (this.isEnded) return [];
    const { Records = [], NextShardIterator, MillisBehindLatest = 0 } = await this.answer();
    this.last = Records.at(-1)?.SequenceNumber ?? this.last;
    this.iterator = NextShardIterator ?? undefined;
    this.isEnded = this.iterator === undefined;
    this.isAtTip = this.isEnded || (Records.length === 0 && MillisBehindLatest === 0);
    return Records;
  }

  private async answer(): Promise<Partial<GetRecordsCommandOutput>> {
    try {
      return await this.client.getRecords({ ShardIterator: this.iterator });
    } catch (error) {
      const { name } = error as Error;
      const NextShardIterator = name === 'ExpiredIteratorException' ? await this.renewed() : this.iterator;
      if (name !== 'ExpiredIteratorException' && name !== 'ProvisionedThroughputExceededException') throw error;
      return { NextShardIterator, MillisBehindLatest: 1 };
    }
  }

  /** Gets a new iterator, because an iterator expires after five minutes, for example while a computer sleeps. */
  private renewed(): Promise<string | undefined> {
    const start =
      this.last === undefined
        ? startOf(this.from === 'LATEST' ? this.latestStart() : this.from)
        : ({ ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', StartingSequenceNumber: this.last } as const);
    return iteratorOf(this.client, { ...this.place, ...start });
  }

  /**
   * When reading began. A second iterator for LATEST would skip the records that arrived between the two iterators. If
   * the time of day was ahead at the start and is right now, the earlier of two times loses no record.
   */
  private latestStart(): Date {
    const { timeOfDayMs, clockMs } = this.beganAt;
    return new Date(Math.min(timeOfDayMs, Date.now() - (performance.now() - clockMs)));
  }
}

function startOf(from: ReadStart): Pick<GetShardIteratorCommandInput, 'ShardIteratorType' | 'Timestamp'> {
  return from instanceof Date ? { ShardIteratorType: 'AT_TIMESTAMP', Timestamp: from } : { ShardIteratorType: from };
}

async function iteratorOf(client: StreamClient, input: GetShardIteratorCommandInput): Promise<string | undefined> {
  return (await client.getShardIterator(input)).ShardIterator;
}
