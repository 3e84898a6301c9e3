import { isDailyLimit, isNotReady, isOutOfDate, isShardQuota } from '../../../../lib/core/resharding/refusals';

const serviceError = (name: string, message: unknown) => Object.assign(new Error(), { name, message });

/** The messages of Kinesis for requests beyond each limit. Source of the rate message: awslabs/amazon-kinesis-scaling-utils#52. */
test.each([
  [serviceError('ResourceInUseException', 'Stream is not ACTIVE'), isNotReady],
  [serviceError('LimitExceededException', 'Rate exceeded for stream'), isNotReady],
  [serviceError('InvalidArgumentException', 'not adjacent'), isOutOfDate],
  [serviceError('ResourceNotFoundException', 'Could not find shard shardId-1'), isOutOfDate],
  [serviceError('LimitExceededException', 'cannot scale up over double your current open shard count'), isOutOfDate],
  [serviceError('LimitExceededException', 'cannot scale down below half your current open shard count'), isOutOfDate],
  [serviceError('LimitExceededException', 'exceed the shard limit of the account'), isShardQuota],
  [
    serviceError('LimitExceededException', 'Target shard count or number of open shards cannot be greater than 500'),
    isShardQuota,
  ],
  [serviceError('LimitExceededException', 'at most 10 times in 24 hours'), isDailyLimit],
])('exactly one predicate for errors of Kinesis returns true for %s', (error, predicate) => {
  const all = [isNotReady, isOutOfDate, isShardQuota, isDailyLimit];
  expect(all.filter((is) => is(error))).toEqual([predicate]);
});
