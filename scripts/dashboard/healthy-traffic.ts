import { OrderedProducer } from '../../lib/core/producer';
import { fanOutQuery, type ShardedIndexConfig, shardAttributes } from '../../lib/core/sharded-index';
import { shardIndexOf, uniformRanges } from '../../lib/core/stream-format/hash-key-ranges';
import { hashPartitionKey } from '../../lib/core/stream-format/hash-key-space';
import {
  FakeKinesis,
  HotPartitionTable,
  type MetricIdentity,
  SERVICE_SHARD_LIMITS,
  seededRandom,
  VirtualClock,
} from '../../lib/testing';
import { FakeIndex } from '../../test/support/fakes/fake-index';
import { MINUTES } from './measured';
import { SHARD_COUNT } from './watched-app';

/** Adds a value of a metric to a minute. */
type Put = (metric: MetricIdentity, minute: number, value: number) => void;

const KEYS = 2_000;
const RECORD_BYTES = 1_100;
/** The mean number of records per minute. A stream of four shards accepts 240,000 records and 240 MB per minute. */
const MEAN_RECORDS = 105_000;
/** The simulation runs one second of each minute, and multiplies the results by 60. */
const SAMPLE = 60;

const INDEX: ShardedIndexConfig = {
  tableName: 'Table',
  indexName: 'byStatus',
  tableKey: ['orderId'],
  keyLayout: 'multi-attribute',
  valueAttribute: 'status',
  shardAttribute: 'byStatusShard',
  sortKeyAttributes: ['createdAt'],
  shards: { default: { write: 8, read: 8 } },
  strategy: 'calculated',
};

/**
 * Three hours of healthy traffic with a load that rises and falls. MD5 spreads the keys over four shards. A producer
 * puts records into a stream with the limits of Kinesis, writers write items into a new table, and queries read pages.
 */
export async function putHealthyTraffic(put: Put): Promise<void> {
  const random = seededRandom(1);
  const load = Array.from({ length: MINUTES }, (_, minute) => 1 + 0.18 * Math.sin((2 * Math.PI * minute) / MINUTES));
  putStream(put, load, random);
  await putProducer(put, load, random);
  await putIndexAndQuery(put, load, random);
  for (let minute = 0; minute < MINUTES; minute += 1) {
    for (const name of ['ApproximateNumberOfMessagesVisible', 'ApproximateAgeOfOldestMessage']) {
      put(metric('AWS/SQS', name, { QueueName: 'DeadLetters' }), minute, 0);
    }
  }
}

function putStream(put: Put, load: readonly number[], random: () => number): void {
  const ranges = uniformRanges(SHARD_COUNT);
  const weights = Array.from({ length: KEYS }, () => -Math.log(1 - random()));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const keys = weights.map((weight, key) => ({
    share: weight / total,
    shard: shardIndexOf(hashPartitionKey(`customer-${key}`), ranges),
  }));
  const ofStream = (name: string) => metric('AWS/Kinesis', name, { StreamName: 'Events' });
  const ofFunctions = (name: string) => metric('EvenShards', name, { StreamName: 'Events' });
  for (const [minute, factor] of load.entries()) {
    const records: number[] = Array(SHARD_COUNT).fill(0);
    for (const { share, shard } of keys) records[shard]! += poisson(MEAN_RECORDS * factor * share, random);
    for (const [shard, count] of records.entries()) {
      const dimensions = { StreamName: 'Events', ShardId: `shard ${shard}` };
      put(metric('AWS/Kinesis', 'IncomingRecords', dimensions), minute, count);
      put(metric('AWS/Kinesis', 'IncomingBytes', dimensions), minute, count * RECORD_BYTES);
      put(metric('AWS/Kinesis', 'WriteProvisionedThroughputExceeded', dimensions), minute, 0);
    }
    const sum = records.reduce((all, count) => all + count, 0);
    put(ofStream('IncomingRecords'), minute, sum);
    put(ofStream('IncomingBytes'), minute, sum * RECORD_BYTES);
    put(ofStream('WriteProvisionedThroughputExceeded'), minute, 0);
    put(ofStream('ReadProvisionedThroughputExceeded'), minute, 0);
    put(ofStream('GetRecords.IteratorAgeMilliseconds'), minute, 1_000 * -Math.log(1 - random()));
    put(ofFunctions('OpenShards'), minute, SHARD_COUNT);
    put(ofFunctions('ShardCountUpdatesLeft'), minute, 10);
    put(ofFunctions('HighLoadAtMaximum'), minute, 0);
    putRun(put, 'EventsAutoScaling', minute);
    if (minute % 60 !== 0) continue;
    put(ofFunctions('Skew'), minute, 1);
    putRun(put, 'EventsReconciliation', minute);
  }
}

/** For each minute, a real producer puts one second of records into a stream in memory. */
async function putProducer(put: Put, load: readonly number[], random: () => number): Promise<void> {
  const clock = new VirtualClock();
  const kinesis = new FakeKinesis({
    clock,
    shardCount: SHARD_COUNT,
    shardLimits: SERVICE_SHARD_LIMITS,
    keepRecords: false,
    roundTripMs: () => 12 - 9 * Math.log(1 - random()),
  });
  const ofWriter = (name: string) => metric('EvenShards', name, { FunctionName: 'Writer' });
  const data = Buffer.alloc(RECORD_BYTES);
  for (const [minute, factor] of load.entries()) {
    putRun(put, 'Writer', minute);
    for (let invocation = 0; invocation < 4; invocation += 1) {
      clock.nowMs = Math.max(clock.nowMs, (minute * 60 + invocation * 15) * 1_000);
      const producer = new OrderedProducer(kinesis, { streamName: 'Events', clock, random });
      const records = Array.from({ length: Math.round((MEAN_RECORDS * factor) / SAMPLE / 4) }, () => ({
        partitionKey: `customer-${Math.floor(random() * KEYS)}`,
        data,
      }));
      await clock.runUntil(Promise.all(records.map((record) => producer.put(record))));
      const statistics = producer.statistics();
      put(ofWriter('UserRecordsReceived'), minute, statistics.userRecordsReceived * SAMPLE);
      put(ofWriter('UserRecordsPut'), minute, statistics.userRecordsPut * SAMPLE);
      put(ofWriter('UserRecordsFailed'), minute, statistics.userRecordsFailed * SAMPLE);
      put(ofWriter('AllErrors'), minute, statistics.allErrors * SAMPLE);
      put(ofWriter('RetriesPerRecord'), minute, statistics.retries / statistics.userRecordsPut);
      put(ofWriter('RequestTime'), minute, statistics.requestTimeMs / statistics.requests);
      await producer.close();
    }
  }
}

/** For each minute: one second of writes, and pages of the newest orders. */
async function putIndexAndQuery(put: Put, load: readonly number[], random: () => number): Promise<void> {
  let nowMs = 0;
  const table = new HotPartitionTable({ now: () => nowMs, tablePartitions: 4, indexPartitions: 4 });
  const index = new FakeIndex(INDEX);
  const ofIndex = (name: string) =>
    metric('AWS/DynamoDB', name, { TableName: 'Table', GlobalSecondaryIndexName: 'byStatus' });
  const ofReader = (name: string) => metric('EvenShards', name, { FunctionName: 'Reader' });
  let orders = 0;
  for (const [minute, factor] of load.entries()) {
    nowMs = minute * 60_000;
    const writes = poisson(600 * factor, random);
    for (let write = 0; write < writes; write += 1) {
      nowMs += 1_000 / writes;
      const order = { orderId: `order-${orders}`, status: 'pending', createdAt: nowMs };
      const { byStatusShard } = shardAttributes(INDEX, order);
      table.putItem(order.orderId, `pending#${byStatusShard}`);
      if (write % 20 === 0) {
        index.put({
          orderId: { S: order.orderId },
          status: { S: 'pending' },
          byStatusShard: { N: String(byStatusShard) },
          createdAt: { S: String(orders).padStart(9, '0') },
        });
      }
      orders += 1;
    }
    put(ofIndex('ConsumedWriteCapacityUnits'), minute, writes * SAMPLE);
    const pages = poisson(5 * factor, random);
    for (let page = 0; page < pages; page += 1) {
      const request = { value: 'pending', order: 'descending', limit: 50 } as const;
      const { items, stats } = await fanOutQuery(index, INDEX, request);
      put(ofReader('Pages'), minute, SAMPLE);
      put(ofReader('Requests'), minute, stats.requests);
      put(ofReader('Waves'), minute, stats.waves);
      if (items.length > 0) put(ofReader('OverRead'), minute, stats.itemsRead / items.length);
      put(ofReader('ConsumedReadUnits'), minute, stats.consumedReadUnits * SAMPLE);
      put(ofIndex('ConsumedReadCapacityUnits'), minute, stats.consumedReadUnits * SAMPLE);
      const slowest = Math.max(...Array.from({ length: stats.requests }, () => 4 - 3 * Math.log(1 - random())));
      put(metric('AWS/Lambda', 'Duration', { FunctionName: 'Reader' }), minute, 5 + stats.waves * slowest);
    }
  }
}

function putRun(put: Put, functionName: string, minute: number): void {
  put(metric('AWS/Lambda', 'Invocations', { FunctionName: functionName }), minute, 1);
  put(metric('AWS/Lambda', 'Errors', { FunctionName: functionName }), minute, 0);
}

function metric(Namespace: string, MetricName: string, dimensions: Record<string, string>): MetricIdentity {
  return { Namespace, MetricName, Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })) };
}

/** Draws a count with this mean from the Poisson distribution. For a large mean, draws from the normal distribution. */
function poisson(mean: number, random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal));
}
