/**
 * The counts of a producer since its start, with the names that the Kinesis Producer Library uses. The caller puts user
 * records. The stream stores Kinesis records: each is one user record, or an aggregate of several user records.
 */
export interface ProducerStatistics {
  /** Valid user records that were put. */
  userRecordsReceived: number;
  /** User records with a receipt. */
  userRecordsPut: number;
  /** The bytes of data of these user records. */
  userRecordsDataPut: number;
  /** Valid user records that were rejected, whether they were sent or not. */
  userRecordsFailed: number;
  /** Kinesis records that were acknowledged. */
  kinesisRecordsPut: number;
  /** The bytes of data of these Kinesis records. */
  kinesisRecordsDataPut: number;
  /** Failed attempts to send Kinesis records, by error code. */
  errorsByCode: Record<string, number>;
  /** The sum of `errorsByCode`. */
  allErrors: number;
  /** The attempts after the first attempt, for all user records with a receipt. */
  retries: number;
  /** Requests with a response or an error. */
  requests: number;
  /** Kinesis records in these requests. */
  requestRecords: number;
  /** The total time of these requests, in milliseconds. */
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
