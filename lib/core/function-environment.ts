/** Environment variables of the bundled functions: the constructs set them, the handlers read them. */

/** Producer: the name of the stream to write to. */
export const STREAM_NAME = 'EVEN_SHARDS_STREAM_NAME';

/** Query fan-out: a JSON object from index name to `ShardedIndexConfig`. */
export const INDEXES = 'EVEN_SHARDS_INDEXES';

/** Producer: the stream's record size limit in bytes. */
export const MAX_RECORD_BYTES = 'EVEN_SHARDS_MAX_RECORD_BYTES';
