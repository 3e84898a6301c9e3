import { describeValue, EvenShardsError } from '../kernel/errors';

/**
 * The shard counts of an adaptive index cannot be read, and the cached counts are too old. With counts this old, a reader could
 * miss items. Try again later.
 */
export class ShardCountsUnavailableError extends EvenShardsError {
  constructor(options?: ErrorOptions) {
    super(
      'SHARD_COUNTS_UNAVAILABLE',
      'the shard counts cannot be read, and the cached counts are too old to find every item',
      options,
    );
  }
}

/** An item in the table of counts is invalid, because another program has written or changed it. */
export class CorruptShardCountError extends EvenShardsError {
  constructor(
    /** The damaged part, such as `the counts of a value`. */
    readonly part: string,
    /** The sort key of the damaged item, if known. */
    sortKey?: string,
  ) {
    const summary = `the stored shard counts are damaged: invalid value in ${part}`;
    const problem = sortKey === undefined ? summary : `${summary}, in the item ${describeValue(sortKey)}`;
    super('CORRUPT_SHARD_COUNT', problem, { summary });
  }
}

/**
 * Another process has changed the counts of the value at the same time. Read the counts again, and decide whether the change is
 * still necessary.
 */
export class ShardCountChangedError extends EvenShardsError {
  constructor() {
    super('SHARD_COUNT_CHANGED', 'another process has changed the shard counts of the value');
  }
}
