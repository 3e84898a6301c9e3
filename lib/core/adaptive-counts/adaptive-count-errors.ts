import { describeValue, EvenShardsError } from '../kernel/errors';

/**
 * The shard counts of an adaptive index cannot be read, and the last copy of them is too old. A reader that went on with it
 * could overlook items. Try again later.
 */
export class ShardCountsUnavailableError extends EvenShardsError {
  constructor(options?: ErrorOptions) {
    super(
      'SHARD_COUNTS_UNAVAILABLE',
      'the shard counts cannot be read, and the copy of them is too old to find every item by',
      options,
    );
  }
}

/** What the table of counts holds is not what this library writes. Something else has changed it. */
export class CorruptShardCountError extends EvenShardsError {
  constructor(
    /** The part that is not as this library writes it, such as `the counts of a value`. */
    readonly part: string,
    /** The sort key of the damaged item, if it is known. */
    sortKey?: string,
  ) {
    const summary = `the stored shard counts are damaged: ${part} is not what this library writes`;
    const problem = sortKey === undefined ? summary : `${summary}, in the item ${describeValue(sortKey)}`;
    super('CORRUPT_SHARD_COUNT', problem, { summary });
  }
}

/**
 * The counts of the value are no longer those that the change began with, because somebody else has changed them. Nothing
 * was written. Read them, and decide again.
 */
export class ShardCountChangedError extends EvenShardsError {
  constructor() {
    super('SHARD_COUNT_CHANGED', 'somebody else has changed the shard counts of the value meanwhile');
  }
}
