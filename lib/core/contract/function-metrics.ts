/**
 * CloudWatch metrics of the bundled functions. The handlers write them; the constructs put them on dashboards and
 * alarms.
 */

export const METRICS_NAMESPACE = 'EvenShards';

/** Dimension of the metrics of the producer, the query fan-out and the outbox relay: the name of the function that wrote them. */
export const FUNCTION_NAME_DIMENSION = 'FunctionName';

/**
 * Metrics of the producer, in the vocabulary of the Kinesis Producer Library. A user record is what a caller puts. A
 * Kinesis record is what the stream stores: one user record or one aggregate of several.
 */
export const PRODUCER_METRICS = {
  userRecordsReceived: 'UserRecordsReceived',
  userRecordsPut: 'UserRecordsPut',
  userRecordsDataPut: 'UserRecordsDataPut',
  /** Records of an event that failed for whatever reason, unreadable messages of a queue or a table included. */
  userRecordsFailed: 'UserRecordsFailed',
  /** The same, by reason: see `REASON_DIMENSION`. */
  failuresByReason: 'UserRecordsFailedByReason',
  kinesisRecordsPut: 'KinesisRecordsPut',
  kinesisRecordsDataPut: 'KinesisRecordsDataPut',
  allErrors: 'AllErrors',
  retriesPerRecord: 'RetriesPerRecord',
  requestTime: 'RequestTime',
  userRecordsPerKinesisRecord: 'UserRecordsPerKinesisRecord',
  kinesisRecordsPerPutRecordsRequest: 'KinesisRecordsPerPutRecordsRequest',
} as const;

/** Dimension beside the function's name of records that failed: the code of the error, such as `RECORD_REJECTED`. */
export const REASON_DIMENSION = 'Reason';

/** Metrics of the query fan-out. */
export const QUERY_METRICS = {
  pages: 'Pages',
  requests: 'Requests',
  waves: 'Waves',
  itemsReturned: 'ItemsReturned',
  itemsRead: 'ItemsRead',
  /** Items that were read, and that a filter has hidden. */
  itemsHidden: 'ItemsHidden',
  consumedReadUnits: 'ConsumedReadUnits',
  /**
   * Items read for each item returned. It is 1 if the query used every item that it read. Of an empty page it is what was read: a
   * filter has hidden all of it. A page that has read nothing does not write it.
   */
  overRead: 'OverRead',
  throttledRequests: 'ThrottledRequests',
  /** Requests that the function sent a second time because the first answer was late. */
  hedgedRequests: 'HedgedRequests',
  /** Pages and counts that came from memory. */
  cacheHits: 'CacheHits',
  /** Shards that are missing from a partial page. */
  missingShards: 'MissingShards',
} as const;

/** Dimension of the metrics of a stream: the stream's name. It does not depend on the function that wrote them. */
export const STREAM_NAME_DIMENSION = 'StreamName';

/** Metrics of a stream's shards. The functions that reconcile and scale the stream write them. */
export const STREAM_SHARD_METRICS = {
  /** The open shards of the stream. While a request to scale the stream is in progress: the shards it will have. */
  openShards: 'OpenShards',
  /** The keys of the widest shard divided by the mean. */
  skew: 'Skew',
  /** The splits, merges and updates that would take the stream to its target. 0 means that it has not drifted. */
  drift: 'Drift',
  /** How many updates of the shard count Kinesis still allows in the current 24 hours. */
  updatesLeft: 'ShardCountUpdatesLeft',
  /** 1 while the load is high and the stream has the most shards that it may have, else 0. */
  highLoadAtMaximum: 'HighLoadAtMaximum',
} as const;

/** Metrics of the outbox relay. */
export const OUTBOX_METRICS = {
  /** Rows that wait, parked ones included. */
  waitingRows: 'WaitingRows',
  /** The age of the oldest row that waits, in seconds. */
  waitingSeconds: 'WaitingSeconds',
  /** Rows of parked keys. */
  parkedRows: 'ParkedRows',
  /** Rows that Kinesis has acknowledged. */
  relayedRows: 'RelayedRows',
  /** How often a row was rejected. */
  rejections: 'Rejections',
  /** Rows that were moved to the table of the rejected rows. */
  givenUpRows: 'GivenUpRows',
  /** Rows that were passed, though nothing says that the stream has them. */
  missingRows: 'MissingRows',
  /** Invocations that ended because the relay refused to run: the next invocation would end with the same error. */
  refusals: 'Refusals',
} as const;

/** Dimensions of the metrics of a sharded index: the table and the index. */
export const TABLE_NAME_DIMENSION = 'TableName';
export const INDEX_NAME_DIMENSION = 'IndexName';

/** Metrics of the strays of an index. The function that moves or counts them writes them. */
export const RESHARDING_METRICS = {
  itemsScanned: 'ItemsScanned',
  strays: 'Strays',
  /** Strays that no query finds. */
  hiddenStrays: 'HiddenStrays',
  movedItems: 'MovedItems',
  /** Strays that stay as they are, because DynamoDB rejected the item or its value fits no key. */
  rejectedItems: 'RejectedItems',
} as const;

/** Metrics of the adaptive counts of an index. Their controller writes them, while there is something to tell. */
export const SHARD_COUNT_METRICS = {
  /** Values of which throttled writes are known. */
  throttledValues: 'ThrottledValues',
  /** Counts that were increased. */
  increases: 'ShardCountIncreases',
  /** Values that need more shards than the index may give them. */
  valuesAtMaximum: 'ValuesAtMaximum',
  /** The most shards of a throttled value, after an increase. */
  mostShards: 'MostShards',
} as const;

/** Dimension of the metrics of an ordered consumer: its name. */
export const CONSUMER_NAME_DIMENSION = 'ConsumerName';

/** Metrics of an ordered consumer. Each retry of its parked keys writes the first three, each batch that takes a while the others. */
export const CONSUMER_METRICS = {
  /** Keys that are set aside, dead ones included. */
  parkedKeys: 'ParkedKeys',
  /** Keys that nobody tries any more. */
  deadKeys: 'DeadKeys',
  /** How long the oldest parked key is held up by its first record, in seconds. */
  parkedSeconds: 'ParkedSeconds',
  /** How much of `concurrency` was at work in a batch, in percent. */
  busyHandlers: 'BusyHandlers',
  /** How much of the time of a batch its longest key took, in percent. */
  longestKey: 'LongestKey',
} as const;
