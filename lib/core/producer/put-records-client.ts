/** How a request names the stream. */
export type StreamIdentity = { StreamName: string } | { StreamARN: string };

/** One record of a PutRecords request. */
export interface PutRecordsRequestEntry {
  Data: Uint8Array;
  PartitionKey: string;
  ExplicitHashKey?: string;
}

/** A request to write records, as the SDK takes it. */
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

/** The part of Kinesis' answer to `PutRecords` that the producer reads. */
export interface PutRecordsOutput {
  FailedRecordCount?: number;
  Records?: PutRecordsResultEntry[];
}

export interface PutRecordInput extends PutRecordsRequestEntry {
  StreamName?: string;
  StreamARN?: string;
  SequenceNumberForOrdering?: string;
}

/** The part of Kinesis' answer to `PutRecord` that the producer reads. */
export interface PutRecordOutput {
  SequenceNumber?: string;
  ShardId?: string;
}

/** A request for the shards of a stream, as the SDK takes it. */
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

/** The part of Kinesis' answer to `ListShards` that the producer reads. */
export interface ListShardsOutput {
  Shards?: ShardDescription[];
  NextToken?: string;
}

/** The part of Kinesis' answer to `DescribeStreamSummary` that the producer reads. */
export interface DescribeStreamSummaryOutput {
  StreamDescriptionSummary?: { MaxRecordSizeInKiB?: number; RecordDistributionStrategy?: string };
}

/** How a request is sent. */
export interface RequestOptions {
  /** Aborted when the request has had its time: the producer then has given it up, and sends its records again. */
  abortSignal: AbortSignal;
}

/**
 * What the ordered producer needs of Kinesis. The AWS SDK's client satisfies it as it is:
 *
 *     new Kinesis({ maxAttempts: 1, requestHandler: new NodeHttpHandler() })
 *
 * Give it no retries of its own, so that the producer sees every attempt, and the HTTP/1.1 handler of
 * `@smithy/node-http-handler`, which keeps its connections: the default handler of the SDK's Kinesis client speaks HTTP/2
 * and opens a TLS session for each request.
 */
export interface PutRecordsClient {
  putRecords(input: PutRecordsInput, options?: RequestOptions): Promise<PutRecordsOutput>;
  /**
   * Lets the producer keep to the limits of each shard, so that a hot shard does not slow the others. Asked when a
   * second request is due, and again when a record lands in a shard that was not there before. If it fails, as without
   * the permission `kinesis:ListShards`, the producer goes on without.
   */
  listShards?(input: ListShardsInput, options?: RequestOptions): Promise<ListShardsOutput>;
  /**
   * Returns the stream's record size limit. The producer calls it before it sends a record above 1 MiB, the default limit, if
   * the option `maxRecordBytes` is absent.
   */
  describeStreamSummary?(
    input: { StreamName?: string; StreamARN?: string },
    options?: RequestOptions,
  ): Promise<DescribeStreamSummaryOutput>;
  /** Needed for sequential puts only. */
  putRecord?(input: PutRecordInput, options?: RequestOptions): Promise<PutRecordOutput>;
}
