/** What Kinesis means by a refusal of a request that changes shards. Its exceptions have several meanings each. */

/** The request came while the stream was busy, or too soon after another one, and will be welcome later. */
export function isNotReady(error: unknown): boolean {
  const { name, message } = error as Error;
  return name === 'ResourceInUseException' || (name === 'LimitExceededException' && /\brate\b/i.test(message));
}

/** The shards are not those that the request was made for: ListShards may be seconds old. */
export function isOutOfDate(error: unknown): boolean {
  const { name, message } = error as Error;
  return name === 'InvalidArgumentException' || (name === 'ResourceNotFoundException' && /\bshard\b/i.test(message));
}

/** The account, or the region, has no shards left. */
export function isShardQuota(error: unknown): boolean {
  const { name, message } = error as Error;
  return name === 'LimitExceededException' && /shard (limit|quota)/i.test(message);
}

/** The updates of the stream's shard count in the last 24 hours are used up. */
export function isDailyLimit(error: unknown): error is Error {
  return (error as Error).name === 'LimitExceededException' && !isNotReady(error) && !isShardQuota(error);
}
