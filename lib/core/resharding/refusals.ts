/** Finds out why Kinesis has rejected a request that changes shards. Each exception of Kinesis has several possible causes. */

/** The stream was busy, or the request came too soon after another request. A later retry can succeed. */
export function isNotReady(error: unknown): boolean {
  return isRefusal(error, 'ResourceInUseException') || isRefusal(error, 'LimitExceededException', /\brate\b/i);
}

/** The shards have changed since the request was planned: a response of ListShards may be seconds old. */
export function isOutOfDate(error: unknown): boolean {
  return (
    isRefusal(error, 'InvalidArgumentException') ||
    isRefusal(error, 'ResourceNotFoundException', /\bshard\b/i) ||
    // The target is more than double or less than half the number of open shards.
    isRefusal(error, 'LimitExceededException', /\b(double|half)\b/i)
  );
}

/** The shard quota of the account or the region is used up. */
export function isShardQuota(error: unknown): boolean {
  return isRefusal(error, 'LimitExceededException', /shard (limit|quota)|cannot be greater than/i);
}

/** The updates of the shard count that Kinesis allows for the stream in 24 hours are used up. */
export function isDailyLimit(error: unknown): error is Error {
  const isOther = isNotReady(error) || isOutOfDate(error) || isShardQuota(error);
  return isRefusal(error, 'LimitExceededException') && !isOther;
}

/** Whether an exception has this name, and a message that matches `words`. The message may be a value of any type. */
function isRefusal(error: unknown, exception: string, words = /(?:)/): boolean {
  const { name, message }: { name?: unknown; message?: unknown } = Object(error);
  return name === exception && words.test(typeof message === 'string' ? message : '');
}
