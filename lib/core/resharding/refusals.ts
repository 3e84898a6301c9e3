/** What Kinesis means by a refusal of a request that changes shards. Its exceptions have several meanings each. */

/** The stream was busy, or the request came too soon after another one. It will be accepted later. */
export function isNotReady(error: unknown): boolean {
  return isRefusal(error, 'ResourceInUseException') || isRefusal(error, 'LimitExceededException', /\brate\b/i);
}

/** The shards are not those that the request was made for: ListShards may be seconds old. */
export function isOutOfDate(error: unknown): boolean {
  return (
    isRefusal(error, 'InvalidArgumentException') ||
    isRefusal(error, 'ResourceNotFoundException', /\bshard\b/i) ||
    // The target is more than twice the number of open shards, or less than half of it.
    isRefusal(error, 'LimitExceededException', /\b(double|half)\b/i)
  );
}

/** The account, or the region, has no shards left. */
export function isShardQuota(error: unknown): boolean {
  return isRefusal(error, 'LimitExceededException', /shard (limit|quota)|cannot be greater than/i);
}

/** The updates of the stream's shard count in the last 24 hours are used up. */
export function isDailyLimit(error: unknown): error is Error {
  const isOther = isNotReady(error) || isOutOfDate(error) || isShardQuota(error);
  return isRefusal(error, 'LimitExceededException') && !isOther;
}

/** Whether an exception has this name, and a message with these words. A service may put anything in place of a message. */
function isRefusal(error: unknown, exception: string, words = /(?:)/): boolean {
  const { name, message }: { name?: unknown; message?: unknown } = Object(error);
  return name === exception && words.test(typeof message === 'string' ? message : '');
}
