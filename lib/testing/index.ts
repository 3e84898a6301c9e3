/**
 * `cdk-even-shards/testing`: deterministic fakes of Kinesis, DynamoDB, CloudWatch and a clock, for your own tests.
 *
 * @module testing
 */

export type { AlarmStateValue } from './alarm-state';
export { DynamoDbLimits, type KeyLoad } from './dynamodb-limits';
export type { ThrottlingReason, ThrottlingReasonText } from './dynamodb-throttling';
export {
  FakeCloudWatch,
  type FakeCloudWatchOptions,
  type FakeMetricDataInput,
  type MetricDatum,
} from './fake-cloudwatch';
export { type CallFate, FakeControlPlane, type FakeControlPlaneOptions } from './fake-control-plane';
export {
  type EntryFate,
  FakeKinesis,
  type FakeKinesisOptions,
  type MalformedAnswer,
  type RequestFate,
} from './fake-kinesis';
export type { FakeShard, StoredRecord } from './fake-shard';
export { HotPartitionTable, type HotPartitionTableOptions } from './hot-partition-table';
export { KinesisLimits, type KinesisResource } from './kinesis-limits';
export type { ServiceLimitsOptions } from './limit-scale';
export type { Statistic } from './metric-samples';
export type { AlarmProperties, MetricIdentity } from './parsed-alarm';
export { seededRandom } from './seeded-random';
export { SERVICE_SHARD_LIMITS, type ShardLimits } from './shard-token-bucket';
export { VirtualClock } from './virtual-clock';
