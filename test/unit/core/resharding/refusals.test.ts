import { isDailyLimit, isNotReady, isOutOfDate, isShardQuota } from '../../../../lib/core/resharding/refusals';

const refusal = (name: string, message: unknown) => Object.assign(new Error(), { name, message });

/** Source of the words: what Kinesis answers to requests beyond each limit. Of the rate: awslabs/amazon-kinesis-scaling-utils#52. */
test.each([
  [refusal('ResourceInUseException', 'Stream is not ACTIVE'), isNotReady],
  [refusal('LimitExceededException', 'Rate exceeded for stream'), isNotReady],
  [refusal('InvalidArgumentException', 'not adjacent'), isOutOfDate],
  [refusal('ResourceNotFoundException', 'Could not find shard shardId-1'), isOutOfDate],
  [refusal('LimitExceededException', 'cannot scale up over double your current open shard count'), isOutOfDate],
  [refusal('LimitExceededException', 'cannot scale down below half your current open shard count'), isOutOfDate],
  [refusal('LimitExceededException', 'exceed the shard limit of the account'), isShardQuota],
  [
    refusal('LimitExceededException', 'Target shard count or number of open shards cannot be greater than 500'),
    isShardQuota,
  ],
  [refusal('LimitExceededException', 'at most 10 times in 24 hours'), isDailyLimit],
])('%s means one thing', (error, meaning) => {
  const all = [isNotReady, isOutOfDate, isShardQuota, isDailyLimit];
  expect(all.filter((is) => is(error))).toEqual([meaning]);
});
