import { InvalidArgumentError } from '../kernel/errors';

/** How a request names the stream. */
export type StreamIdentity = { StreamName: string } | { StreamARN: string };

/** One record of a PutRecords request. */
export interface PutRecordsRequestEntry {
  Data: Uint8Array;
  PartitionKey: string;
  ExplicitHashKey?: string;
}

/** The input of a PutRecords request, in the AWS SDK's terms. */
export interface PutRecordsInput {
  StreamName?: string;
  StreamARN?: string;
  Records: PutRecordsRequestEntry[];
}

/** One record of a PutRecords response: either a sequence number with a shard id, or an error. */
export interface PutRecordsResultEntry {
  SequenceNumber?: string;
  ShardId?: string;
  ErrorCode?: string;
  ErrorMessage?: string;
}

/** The part of a PutRecords response that the producer reads. */
export interface PutRecordsOutput {
  FailedRecordCount?: number;
  Records?: PutRecordsResultEntry[];
}

export interface PutRecordInput extends PutRecordsRequestEntry {
  StreamName?: string;
  StreamARN?: string;
  SequenceNumberForOrdering?: string;
}

/** The part of a PutRecord response that the producer reads. */
export interface PutRecordOutput {
  SequenceNumber?: string;
  ShardId?: string;
}

/** The input of a ListShards request, in the AWS SDK's terms. */
export interface ListShardsInput {
  StreamName?: string;
  StreamARN?: string;
  NextToken?: string;
  ShardFilter?: { Type: 'AT_LATEST' };
}

/** A shard in a ListShards response. */
export interface ShardDescription {
  ShardId?: string;
  HashKeyRange?: { StartingHashKey?: string; EndingHashKey?: string };
  SequenceNumberRange?: { EndingSequenceNumber?: string };
}

/** The part of a ListShards response that the producer reads. */
export interface ListShardsOutput {
  Shards?: ShardDescription[];
  NextToken?: string;
}

/** The part of a DescribeStreamSummary response that the producer reads. */
export interface DescribeStreamSummaryOutput {
  StreamDescriptionSummary?: { MaxRecordSizeInKiB?: number; RecordDistributionStrategy?: string };
}

/** Options of one request. */
export interface RequestOptions {
  /** Aborted at the timeout of the request. The producer then sends the records again. */
  abortSignal: AbortSignal;
}

/**
 * The part of a Kinesis client that the ordered producer uses. The AWS SDK's client fits without an adapter:
 *
 *     new Kinesis({ maxAttempts: 1, requestHandler: new NodeHttpHandler() })
 *
 * Disable the retries of the client, so that the producer sees every attempt. Use the HTTP/1.1 handler of
 * `@smithy/node-http-handler`, which reuses connections. The default handler of the SDK's Kinesis client uses HTTP/2 and opens a
 * TLS session for each request.
 */
export interface PutRecordsClient {
  putRecords(input: PutRecordsInput, options?: RequestOptions): Promise<PutRecordsOutput>;
  /**
   * Returns the shards of the stream, so that the producer can respect the limits of each shard, and a hot shard does not slow
   * the other shards. The producer calls this method before the second request, and again when a record is stored in an
   * unexpected shard. If the call fails, for example without the permission `kinesis:ListShards`, the producer continues without
   * the shards.
   */
  listShards?(input: ListShardsInput, options?: RequestOptions): Promise<ListShardsOutput>;
  /**
   * Returns the stream's record size limit. The producer calls this method before it sends a record above 1 MiB, the default
   * limit, if the option `maxRecordBytes` is absent.
   */
  describeStreamSummary?(
    input: { StreamName?: string; StreamARN?: string },
    options?: RequestOptions,
  ): Promise<DescribeStreamSummaryOutput>;
  /** Required only for sequential puts. */
  putRecord?(input: PutRecordInput, options?: RequestOptions): Promise<PutRecordOutput>;
}

/** @throws InvalidArgumentError if the client has no `putRecords` */
export function checkPutClient(client: unknown): void {
  if (typeof Object(client).putRecords === 'function') return;
  throw new InvalidArgumentError('client', client, 'a client with putRecords, such as new Kinesis({})');
}
