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

/**
 * What the ordered producer needs of Kinesis. The AWS SDK's `new Kinesis({ maxAttempts: 1 })` satisfies it as it is:
 * give it no retries of its own, so that the producer sees every attempt.
 */
export interface PutRecordsClient {
  putRecords(input: PutRecordsInput): Promise<PutRecordsOutput>;
}
