/** CloudWatch metrics of the bundled functions: the handlers write them, the constructs draw and alarm on them. */

export const METRICS_NAMESPACE = 'EvenShards';

/** Dimension of every metric: the name of the function that wrote it. */
export const FUNCTION_NAME_DIMENSION = 'FunctionName';

/**
 * Metrics of the producer, in the vocabulary of the Kinesis Producer Library. A user record is what the caller put; a
 * Kinesis record is what the stream stores, one user record or an aggregate of several.
 */
export const PRODUCER_METRICS = {
  userRecordsReceived: 'UserRecordsReceived',
  userRecordsPut: 'UserRecordsPut',
  userRecordsDataPut: 'UserRecordsDataPut',
  userRecordsFailed: 'UserRecordsFailed',
  kinesisRecordsPut: 'KinesisRecordsPut',
  kinesisRecordsDataPut: 'KinesisRecordsDataPut',
  allErrors: 'AllErrors',
  retriesPerRecord: 'RetriesPerRecord',
  requestTime: 'RequestTime',
  userRecordsPerKinesisRecord: 'UserRecordsPerKinesisRecord',
  kinesisRecordsPerPutRecordsRequest: 'KinesisRecordsPerPutRecordsRequest',
} as const;

/** Metrics of the query fan-out. */
export const QUERY_METRICS = {
  pages: 'Pages',
  requests: 'Requests',
  waves: 'Waves',
  itemsReturned: 'ItemsReturned',
  itemsRead: 'ItemsRead',
  consumedReadUnits: 'ConsumedReadUnits',
  /** Items read per item returned: 1 is a query that read nothing in vain. */
  overRead: 'OverRead',
} as const;
