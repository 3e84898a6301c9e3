/** How a request names the stream. */
export type StreamIdentity = { StreamName: string } | { StreamARN: string };

/** One record of a PutRecords request. */
export interface PutRecordsRequestEntry {
  Data: Uint8Array;
  PartitionKey: string;
  ExplicitHashKey?: string;
}

export interface PutRecordsInput {
  StreamName?: string;
  StreamARN?: string;
  Records: PutRecordsRequestEntry[];
}

/** One record of a PutRecords response: either an id or an error. */
export interface PutRecordsResultEntry {
  SequenceNumber?: string;
  ShardId?: string;
  ErrorCode?: string;
  ErrorMessage?: string;
}

export interface PutRecordsOutput {
  FailedRecordCount?: number;
  Records?: PutRecordsResultEntry[];
}

export interface PutRecordInput extends PutRecordsRequestEntry {
  StreamName?: string;
  StreamARN?: string;
  SequenceNumberForOrdering?: string;
}

export interface PutRecordOutput {
  SequenceNumber?: string;
  ShardId?: string;
}

export interface ListShardsInput {
  StreamName?: string;
  StreamARN?: string;
  NextToken?: string;
  ShardFilter?: { Type: 'AT_LATEST' };
}

/** A shard as ListShards describes it. */
export interface ShardDescription {
  ShardId?: string;
  HashKeyRange?: { StartingHashKey?: string; EndingHashKey?: string };
  SequenceNumberRange?: { EndingSequenceNumber?: string };
}

export interface ListShardsOutput {
  Shards?: ShardDescription[];
  NextToken?: string;
}

export interface DescribeStreamSummaryOutput {
  StreamDescriptionSummary?: { MaxRecordSizeInKiB?: number; RecordDistributionStrategy?: string };
}

/**
 * What the ordered producer needs of Kinesis. The AWS SDK's `new Kinesis({ maxAttempts: 1 })` satisfies it as it is:
 * give it no retries of its own, so that the producer sees every attempt.
 */
export interface PutRecordsClient {
  putRecords(input: PutRecordsInput): Promise<PutRecordsOutput>;
  /**
   * Lets the producer keep to the limits of each shard, so that a hot shard does not slow the others. Asked when a
   * second request is due, and again when a record lands in a shard that was not there before. If it fails, as without
   * the permission `kinesis:ListShards`, the producer goes on without.
   */
  listShards?(input: ListShardsInput): Promise<ListShardsOutput>;
  /**
   * Tells the stream's record size limit. Asked when a record is larger than every stream takes, 1 MiB, and no limit
   * was given.
   */
  describeStreamSummary?(input: { StreamName?: string; StreamARN?: string }): Promise<DescribeStreamSummaryOutput>;
  /** Needed for sequential puts only. */
  putRecord?(input: PutRecordInput): Promise<PutRecordOutput>;
}
