/** `cdk-even-shards/testing`: deterministic stand-ins for Kinesis, DynamoDB and time, for your own tests. */
export { FakeControlPlane, type FakeControlPlaneOptions } from './fake-control-plane';
export { type EntryFate, FakeKinesis, type FakeKinesisOptions, type RequestFate } from './fake-kinesis';
export type { StoredRecord } from './fake-shard';
export { HotPartitionTable, type HotPartitionTableOptions } from './hot-partition-table';
export { seededRandom } from './seeded-random';
export { VirtualClock } from './virtual-clock';
