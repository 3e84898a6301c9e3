/**
 * What a producer has done since it was made, in the vocabulary of the Kinesis Producer Library. A user record is what
 * the caller put; a Kinesis record is what the stream stores, one user record or an aggregate of several.
 */
export interface ProducerStatistics {
  /** Valid user records that were put. */
  userRecordsReceived: number;
  /** User records with a receipt. */
  userRecordsPut: number;
  /** Bytes of their data. */
  userRecordsDataPut: number;
  /** User records that were rejected after they were received, sent or not. */
  userRecordsFailed: number;
  /** Kinesis records that were acknowledged. */
  kinesisRecordsPut: number;
  /** Bytes of their data. */
  kinesisRecordsDataPut: number;
  /** Attempts that failed, by error code, counted by Kinesis record. */
  errorsByCode: Record<string, number>;
  /** The sum of `errorsByCode`. */
  allErrors: number;
  /** How often user records with a receipt had been sent before, together. */
  retries: number;
  /** Requests that were answered or failed. */
  requests: number;
  /** Kinesis records in those requests. */
  requestRecords: number;
  /** Time those requests took, together, in milliseconds. */
  requestTimeMs: number;
}

export function noStatistics(): ProducerStatistics {
  return {
    userRecordsReceived: 0,
    userRecordsPut: 0,
    userRecordsDataPut: 0,
    userRecordsFailed: 0,
    kinesisRecordsPut: 0,
    kinesisRecordsDataPut: 0,
    errorsByCode: {},
    allErrors: 0,
    retries: 0,
    requests: 0,
    requestRecords: 0,
    requestTimeMs: 0,
  };
}
