/** CloudWatch metrics of the bundled functions: the handlers write them, the constructs draw and alarm on them. */

export const METRICS_NAMESPACE = 'EvenShards';

/** Dimension of the metrics of the producer and the query fan-out: the name of the function that wrote them. */
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
  /** Items read per item returned: 1 is a query that read nothing in vain. Not written for an empty page. */
  overRead: 'OverRead',
  throttledRequests: 'ThrottledRequests',
  /** Requests sent a second time because the first was late. */
  hedgedRequests: 'HedgedRequests',
  /** Shards that a partial page lacks. */
  missingShards: 'MissingShards',
} as const;

/** Dimension of the metrics of a stream, whichever function wrote them: the stream's name. */
export const STREAM_NAME_DIMENSION = 'StreamName';

/** Metrics of a stream's shards, by the functions that look after them. */
export const STREAM_SHARD_METRICS = {
  /** The shards of the stream; while it is being scaled, those it is about to have. */
  openShards: 'OpenShards',
  /** How many times the mean the widest shard holds. */
  skew: 'Skew',
  /** Splits, merges and updates that it takes until the stream is as it should be: 0 is a stream without drift. */
  drift: 'Drift',
  /** How many updates of the shard count the day has left. */
  updatesLeft: 'ShardCountUpdatesLeft',
} as const;
