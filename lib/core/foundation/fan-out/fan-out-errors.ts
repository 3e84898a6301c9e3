import { EvenShardsError, InvalidArgumentError } from '../errors';

/** A cursor that was altered, or that belongs to another query. */
export class InvalidCursorError extends InvalidArgumentError {
  override readonly code = 'INVALID_CURSOR';
}

/** Shards that could not be read, after all attempts or by the deadline. */
export class ShardsUnavailableError extends EvenShardsError {
  constructor(
    /** The shards that are missing. */
    readonly shards: readonly number[],
    options?: ErrorOptions,
  ) {
    super('SHARDS_UNAVAILABLE', `no answer in time from shard(s) ${shards.join(', ')}`, options);
  }
}
