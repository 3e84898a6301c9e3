import { EvenShardsError, InvalidArgumentError } from '../kernel/errors';

/** A cursor was altered, or belongs to another query. */
export class InvalidCursorError extends InvalidArgumentError {
  static override readonly code = 'INVALID_CURSOR';
}

/** A query could not read one or more shards, because all attempts failed or the deadline passed. */
export class ShardsUnavailableError extends EvenShardsError {
  constructor(
    /** The 0-based numbers of the missing shards. */
    readonly shards: readonly number[],
    options?: ErrorOptions,
  ) {
    super('SHARDS_UNAVAILABLE', `no response in time from shard(s) ${someOf(shards)}`, options);
  }
}

/**
 * A response is not in the order of the query: an item, or the key from which the next request continues, comes before an item
 * that was read earlier. A page of such responses would miss items. Another attempt would return the same order, so the query
 * does not retry.
 */
export class WrongOrderError extends EvenShardsError {
  constructor(
    /** The operation of the store, such as `Query`. */
    readonly operation: string,
    /** The number of the shard, as in `missingShards`. */
    readonly shard: number,
  ) {
    super(
      'WRONG_ORDER',
      `the response to ${operation} of shard ${shard} must be in the order of the sort key, and must continue after the previous response`,
    );
  }
}

/** The maximum number of shards that a message lists. An index can have thousands of shards. */
const MAX_NAMED_SHARDS = 20;

function someOf(shards: readonly number[]): string {
  const named = shards.slice(0, MAX_NAMED_SHARDS).join(', ');
  return shards.length > MAX_NAMED_SHARDS ? `${named} and ${shards.length - MAX_NAMED_SHARDS} more` : named;
}
