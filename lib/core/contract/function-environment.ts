/**
 * Names that constructs and bundled functions share. Most names belong to environment variables, which the constructs set and
 * the handlers read.
 */

/** Producer, outbox relay, stream reconciler and stream scaler: the name of the stream. */
export const STREAM_NAME = 'EVEN_SHARDS_STREAM_NAME';

/**
 * Outbox relay with a stream for each topic, instead of `STREAM_NAME`: a JSON object with the `StreamOfTopic` of each topic.
 */
export const STREAMS = 'EVEN_SHARDS_STREAMS';

export interface StreamOfTopic {
  readonly streamName: string;
  /** The stream's record size limit in bytes. Absent: the smallest limit that a stream can have. */
  readonly maxRecordBytes?: number;
  /** How many hash buckets the stream has, if its keys go to hash buckets. */
  readonly hashBuckets?: number;
}

/** Query fan-out: how long to cache pages in memory, in milliseconds. Absent: no cache. */
export const CACHE_MS = 'EVEN_SHARDS_CACHE_MS';

/**
 * The values that requests may query, as a JSON array. For Keyspaces, each value is an object with the columns of the value. If
 * the variable is not set, requests may query any value.
 */
export const VALUES = 'EVEN_SHARDS_VALUES';

/** Query fan-out and index keeper: a JSON object with the `ShardedIndexConfig` of each index, by the name of the index. */
export const INDEXES = 'EVEN_SHARDS_INDEXES';

/** Item resharder and controller of shard counts: the `ShardedIndexConfig` of the index as JSON. */
export const INDEX = 'EVEN_SHARDS_INDEX';

/** Item resharder, for a table instead of an index: the `ShardedTableConfig` of the table as JSON. */
export const TABLE = 'EVEN_SHARDS_TABLE';

/**
 * Item resharder: the attribute that every write of an item changes. Absent: the app guarantees that each update that adds an
 * attribute also changes an existing attribute.
 */
export const VERSION_ATTRIBUTE = 'EVEN_SHARDS_VERSION_ATTRIBUTE';

/**
 * Item resharder: the maximum number of read units, or write units, to consume per second in all segments together. Index keeper:
 * the maximum number of read units of a sweep per second.
 */
export const READ_UNITS_PER_SECOND = 'EVEN_SHARDS_READ_UNITS_PER_SECOND';
export const WRITE_UNITS_PER_SECOND = 'EVEN_SHARDS_WRITE_UNITS_PER_SECOND';

/** Item resharder: how many segments to process in parallel. */
export const SEGMENTS_AT_ONCE = 'EVEN_SHARDS_SEGMENTS_AT_ONCE';

/**
 * Keyspaces query: a JSON object with the `ShardedKeyspacesConfig` of each table, by the name of the table. Query fan-out: a
 * JSON object with the `ShardedTableConfig` of each table, by the name of the table in the app.
 */
export const TABLES = 'EVEN_SHARDS_TABLES';

/**
 * Keyspaces query, in a local run: `HOST:PORT` of the Cassandra server that replaces Amazon Keyspaces. The host is on the
 * loopback interface.
 */
export const CASSANDRA = 'EVEN_SHARDS_CASSANDRA';

/** Producer and outbox relay: `true` if the producer aggregates the records of a key. Producer: `packed` if records of many keys share an aggregate. */
export const AGGREGATION = 'EVEN_SHARDS_AGGREGATION';

/** Producer: `true` if the producer sends sequenced records. */
export const SEQUENCE = 'EVEN_SHARDS_SEQUENCE';

/** Producer: how many hash buckets the stream has, if its keys go to hash buckets. */
export const HASH_BUCKETS = 'EVEN_SHARDS_HASH_BUCKETS';

/** Producer: how long a record may wait until its aggregate is full, in milliseconds. */
export const LINGER_MS = 'EVEN_SHARDS_LINGER_MS';

/** Producer: how long a request to the stream may take, in milliseconds. */
export const REQUEST_TIMEOUT_MS = 'EVEN_SHARDS_REQUEST_TIMEOUT_MS';

/** Producer and outbox relay: the stream's record size limit in bytes. */
export const MAX_RECORD_BYTES = 'EVEN_SHARDS_MAX_RECORD_BYTES';

/** Stream reconciler: how many shards the stream must have. Absent: the stream may have any number of even shards. */
export const SHARD_COUNT = 'EVEN_SHARDS_SHARD_COUNT';

/** Stream reconciler: `true` to repair drift. With any other value, the function only reports the drift. */
export const REPAIR = 'EVEN_SHARDS_REPAIR';

/** Stream scaler: the lower and the upper bound of the shard count. */
export const MIN_SHARDS = 'EVEN_SHARDS_MIN_SHARDS';
export const MAX_SHARDS = 'EVEN_SHARDS_MAX_SHARDS';

/** Stream scaler: the names of the alarms that double, increase and decrease the shard count. */
export const SURGE_ALARM = 'EVEN_SHARDS_SURGE_ALARM';
export const SCALE_OUT_ALARM = 'EVEN_SHARDS_SCALE_OUT_ALARM';
export const SCALE_IN_ALARM = 'EVEN_SHARDS_SCALE_IN_ALARM';

/** Hash key registry: the name of the table that stores the owners. */
export const REGISTRY_TABLE_NAME = 'EVEN_SHARDS_REGISTRY_TABLE_NAME';

/** Producer: the name of the function of its hash key registry, if the producer has a registry. */
export const REGISTRY_FUNCTION_NAME = 'EVEN_SHARDS_REGISTRY_FUNCTION_NAME';

/** Producer: `true` if the registry allocates keys to new owners. */
export const ALLOCATE_HASH_KEYS = 'EVEN_SHARDS_ALLOCATE_HASH_KEYS';

/** Outbox relay: the address and the name of the database. */
export const DATABASE_HOST = 'EVEN_SHARDS_DATABASE_HOST';
export const DATABASE_PORT = 'EVEN_SHARDS_DATABASE_PORT';
export const DATABASE_NAME = 'EVEN_SHARDS_DATABASE_NAME';

/** Outbox relay: the ARN of the secret with `username` and `password`. Absent: IAM authentication. */
export const DATABASE_SECRET_ARN = 'EVEN_SHARDS_DATABASE_SECRET_ARN';

/** Outbox relay, with IAM authentication: the user of the database. */
export const DATABASE_USER = 'EVEN_SHARDS_DATABASE_USER';

/** Outbox relay: the schema of the outbox. */
export const OUTBOX_SCHEMA = 'EVEN_SHARDS_OUTBOX_SCHEMA';

/**
 * Outbox relay: the attributes of its CloudEvents as JSON, a `CloudEventsEnvelope`. Absent: a record contains only the data of
 * its row.
 */
export const CLOUD_EVENTS = 'EVEN_SHARDS_CLOUD_EVENTS';

/** Outbox relay: the number of attempts after which the relay gives up a row. Absent: the relay never gives up a row. */
export const MAX_TRIES = 'EVEN_SHARDS_MAX_TRIES';

/** Function of an `OrderedStreamConsumer`: the name of the parking table. */
export const PARKING_TABLE_NAME = 'EVEN_SHARDS_PARKING_TABLE_NAME';

/** Function of an `OrderedStreamConsumer`: the name of the consumer in its parking table. */
export const CONSUMER_NAME = 'EVEN_SHARDS_CONSUMER_NAME';

/** A name in the style of environment variables: `BY_STATUS` for `byStatus`. */
export function variableName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^a-zA-Z0-9]+/g, '_')
    .toUpperCase();
}

/** Index keeper: the name of its own table. */
export const KEEPER_TABLE_NAME = 'EVEN_SHARDS_KEEPER_TABLE_NAME';

/** Index keeper: `true` if the function corrects items, `false` if it only counts and names them. */
export const CORRECTS_ITEMS = 'EVEN_SHARDS_CORRECTS_ITEMS';
