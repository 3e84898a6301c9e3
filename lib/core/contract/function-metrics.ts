/**
 * CloudWatch metrics of the bundled functions. The handlers write these metrics, and the constructs use the metrics in
 * dashboards and alarms.
 */

export const METRICS_NAMESPACE = 'EvenShards';

/**
 * Dimension of the metrics of the producer, the query fan-out and the outbox relay: the name of the function that wrote the
 * metrics.
 */
export const FUNCTION_NAME_DIMENSION = 'FunctionName';

/**
 * Metrics of the producer, with the names that the Kinesis Producer Library uses. A caller puts user records. A stream stores
 * Kinesis records: each Kinesis record is one user record, or one aggregate of several user records.
 */
export const PRODUCER_METRICS = {
  userRecordsReceived: 'UserRecordsReceived',
  userRecordsPut: 'UserRecordsPut',
  userRecordsDataPut: 'UserRecordsDataPut',
  /** Records that failed for any reason, including unreadable messages of a queue or a table's stream. */
  userRecordsFailed: 'UserRecordsFailed',
  /** Records that failed, by reason: see `REASON_DIMENSION`. */
  failuresByReason: 'UserRecordsFailedByReason',
  kinesisRecordsPut: 'KinesisRecordsPut',
  kinesisRecordsDataPut: 'KinesisRecordsDataPut',
  allErrors: 'AllErrors',
  retriesPerRecord: 'RetriesPerRecord',
  requestTime: 'RequestTime',
  userRecordsPerKinesisRecord: 'UserRecordsPerKinesisRecord',
  kinesisRecordsPerPutRecordsRequest: 'KinesisRecordsPerPutRecordsRequest',
} as const;

/** The second dimension of failed records, after the function's name: the code of the error, such as `RECORD_REJECTED`. */
export const REASON_DIMENSION = 'Reason';

export const QUERY_METRICS = {
  pages: 'Pages',
  requests: 'Requests',
  waves: 'Waves',
  itemsReturned: 'ItemsReturned',
  itemsRead: 'ItemsRead',
  /** Items that the query read and that its filter excluded. */
  itemsHidden: 'ItemsHidden',
  consumedReadUnits: 'ConsumedReadUnits',
  /**
   * The number of items read, divided by the number of items returned: 1 if the query returned every item that it read. For an
   * empty page, the metric is the number of items read, because the filter has excluded all these items. A page that read no
   * items does not write this metric.
   */
  overRead: 'OverRead',
  throttledRequests: 'ThrottledRequests',
  /** Requests that the function sent a second time because the first response was late. */
  hedgedRequests: 'HedgedRequests',
  /** Pages and counts that came from the cache in memory. */
  cacheHits: 'CacheHits',
  /** Shards that are missing from a partial page. */
  missingShards: 'MissingShards',
} as const;

/** Dimension of the metrics of a stream: the stream's name. Every function that writes these metrics uses the same name. */
export const STREAM_NAME_DIMENSION = 'StreamName';

/** Metrics of a stream's shards. The functions that reconcile and scale the stream write these metrics. */
export const STREAM_SHARD_METRICS = {
  /**
   * The number of open shards of the stream. While a request to scale the stream is in progress, this is the shard count after
   * that request.
   */
  openShards: 'OpenShards',
  /** The number of hash keys of the widest shard, divided by the mean number of hash keys of a shard. */
  skew: 'Skew',
  /** How many splits, merges and updates the stream needs to reach its target. 0 means that the stream has not drifted. */
  drift: 'Drift',
  /** How many updates of the shard count Kinesis still allows in the current 24 hours. */
  updatesLeft: 'ShardCountUpdatesLeft',
  /** 1 while the load is high and the stream has its maximum number of shards, otherwise 0. */
  highLoadAtMaximum: 'HighLoadAtMaximum',
} as const;

export const OUTBOX_METRICS = {
  /** Rows that wait, including parked rows. */
  waitingRows: 'WaitingRows',
  /** The age of the oldest row that waits, in seconds. */
  waitingSeconds: 'WaitingSeconds',
  parkedRows: 'ParkedRows',
  /** Rows that Kinesis has acknowledged. */
  relayedRows: 'RelayedRows',
  /** How often a row was rejected. */
  rejections: 'Rejections',
  /** Rows that the relay moved to the table of rejected rows. */
  givenUpRows: 'GivenUpRows',
  /** Rows before a saved position that are not acknowledged, parked or rejected. */
  missingRows: 'MissingRows',
  /** Invocations that ended because the relay refused to run: the next invocation would end with the same error. */
  refusals: 'Refusals',
} as const;

/** Dimensions of the metrics of a sharded index: the table and the index. */
export const TABLE_NAME_DIMENSION = 'TableName';
export const INDEX_NAME_DIMENSION = 'IndexName';

/** Metrics of the strays of an index. The function that moves or counts the strays writes these metrics. */
export const RESHARDING_METRICS = {
  itemsScanned: 'ItemsScanned',
  strays: 'Strays',
  /** Strays that the queries for their values do not find. */
  hiddenStrays: 'HiddenStrays',
  movedItems: 'MovedItems',
  /** Strays that were not moved, because DynamoDB rejected the item, or because its value cannot be part of a key. */
  rejectedItems: 'RejectedItems',
} as const;

/** Metrics of the adaptive counts of an index. The controller writes these metrics only while writes are throttled. */
export const SHARD_COUNT_METRICS = {
  /** Values with throttled writes. */
  throttledValues: 'ThrottledValues',
  /** Counts that the controller has increased. */
  increases: 'ShardCountIncreases',
  /** Values that need more shards than the maximum of the index. */
  valuesAtMaximum: 'ValuesAtMaximum',
  /** The largest shard count among the throttled values, after the increases. */
  mostShards: 'MostShards',
} as const;

/** Dimension of the metrics of an ordered consumer: its name. */
export const CONSUMER_NAME_DIMENSION = 'ConsumerName';

/**
 * Metrics of an ordered consumer. Each replay of parked keys writes the first three metrics. Each batch that takes 100 ms or more
 * writes the other metrics.
 */
export const CONSUMER_METRICS = {
  /** Parked keys, including dead keys. */
  parkedKeys: 'ParkedKeys',
  /** Dead keys: the consumer does not replay these keys until a person resumes them. */
  deadKeys: 'DeadKeys',
  /** How long the first record of the oldest parked key has blocked the key, in seconds. */
  parkedSeconds: 'ParkedSeconds',
  /** The part of `concurrency` that a batch used, in percent. */
  busyHandlers: 'BusyHandlers',
  /** The part of a batch's time that its slowest key took, in percent. */
  longestKey: 'LongestKey',
} as const;

/** Metrics of an index keeper. */
export const KEEPER_METRICS = {
  /** Items whose shard attributes the keeper has corrected. */
  correctedItems: 'CorrectedItems',
  /** Items with a wrong shard attribute that the keeper only counts. */
  wrongItems: 'WrongItems',
  /** Items whose value or sort key cannot be part of an index key. */
  notKeptItems: 'ItemsNotKept',
  /** Items whose corrections another program undoes. */
  contestedItems: 'ContestedItems',
  /** Items whose corrections DynamoDB rejects. */
  rejectedItems: 'RejectedCorrections',
  /** The time between a change and its check. */
  delay: 'CorrectionDelay',
  /** 1 if the whole table must be checked, and no person has started the sweep. */
  sweepDue: 'SweepDue',
} as const;
