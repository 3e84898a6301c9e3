import { App, Duration, Lazy, Size, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { AttributeType, StreamViewType } from 'aws-cdk-lib/aws-dynamodb';
import { Stream } from 'aws-cdk-lib/aws-kinesis';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import {
  FanOutQueryFunction,
  HashKeyRegistry,
  OrderedProducerFunction,
  ShardCounts,
  ShardedTable,
  ShardMonitoring,
  StreamAutoScaling,
  StreamReconciliation,
  StreamResharding,
  UniformStream,
} from '../../lib';

/** Every numeric property of every construct, given as a parameter of the template. */
describe('a number that only the deployment knows', () => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
  });

  const token = () => Lazy.number({ produce: () => 3 });
  const imported = () =>
    Stream.fromStreamArn(stack, 'Imported', 'arn:aws:kinesis:eu-west-1:111111111111:stream/events');
  const stream = () => new UniformStream(stack, 'Events', { shardCount: 4 });
  const table = () =>
    new ShardedTable(stack, 'Jobs', {
      partitionKey: { name: 'jobId', type: AttributeType.STRING },
      dynamoStream: StreamViewType.NEW_IMAGE,
    });
  const status = { name: 'status', type: AttributeType.STRING };
  const producer = () => new OrderedProducerFunction(stack, 'Producer', { stream: imported() });
  const traffic = { recordsPerSecond: 100_000, bytesPerSecond: 1 };
  const advise = (expectedTraffic: object) =>
    new UniformStream(stack, 'Busy', { shardCount: 1, expectedTraffic: { ...traffic, ...expectedTraffic } });
  const adviseOnIndex = (expectedTraffic: object) =>
    table().addShardedIndex({
      indexName: 'byStatus',
      valueAttribute: status,
      shardCounts: ShardCounts.uniform(1),
      expectedTraffic: { writesPerSecond: 100_000, ...expectedTraffic },
    });

  test.each<[string, () => unknown]>([
    ['UniformStream.shardCount', () => new UniformStream(stack, 'New', { shardCount: token() })],
    [
      'UniformStream.deployedShardCount',
      () => new UniformStream(stack, 'New', { shardCount: token(), deployedShardCount: token() }),
    ],
    ['StreamAutoScaling.minCapacity', () => stream().autoScaleShardCount({ minCapacity: token(), maxCapacity: 8 })],
    ['StreamAutoScaling.maxCapacity', () => stream().autoScaleShardCount({ minCapacity: 1, maxCapacity: token() })],
    [
      'StreamReconciliation.shardCount',
      () => new StreamReconciliation(stack, 'New', { stream: imported(), shardCount: token() }),
    ],
    [
      'StreamResharding.shardCount',
      () => new StreamResharding(stack, 'New', { stream: imported(), shardCount: token() }),
    ],
    [
      'OrderedProducerFunction.maxRecordSize',
      () => new OrderedProducerFunction(stack, 'New', { stream: imported(), maxRecordSize: Size.bytes(token()) }),
    ],
    [
      'OrderedProducerFunction.memorySize and reservedConcurrentExecutions',
      () =>
        new OrderedProducerFunction(stack, 'New', {
          stream: imported(),
          memorySize: token(),
          reservedConcurrentExecutions: token(),
          timeout: Duration.seconds(token()),
        }),
    ],
    [
      'HashKeyRegistry.memorySize',
      () => new HashKeyRegistry(stack, 'New', { stream: imported(), memorySize: token() }),
    ],
    ['addFifoQueue.maxReceiveCount', () => producer().addFifoQueue('New', { maxReceiveCount: token() })],
    [
      'addFifoQueue.visibilityTimeout',
      () => producer().addFifoQueue('New', { visibilityTimeout: Duration.seconds(token()) }),
    ],
    ['addTableStream.batchSize', () => producer().addTableStream({ table: table(), batchSize: token() })],
    [
      'ShardCounts.uniform',
      () =>
        table()
          .addShardedIndex({ indexName: 'byStatus', shardCounts: ShardCounts.uniform(token()) })
          .toConfigJson(),
    ],
    [
      'ShardCounts.byValue',
      () => {
        const shardCounts = ShardCounts.byValue({ failed: token() }, token());
        const index = table().addShardedIndex({ indexName: 'byStatus', valueAttribute: status, shardCounts });
        new FanOutQueryFunction(stack, 'New', { indexes: [index], memorySize: token() });
      },
    ],
    [
      'ShardMonitoring.maxMessages',
      () => {
        const queue = new Queue(stack, 'Queue');
        new ShardMonitoring(stack, 'New').addDeadLetterQueue(queue, { maxMessages: token() });
      },
    ],
    ...['recordsPerSecond', 'bytesPerSecond', 'headRoom', 'consumers', 'keys', 'hottestKeyShare'].map(
      (name): [string, () => unknown] => [`UniformStream.expectedTraffic.${name}`, () => advise({ [name]: token() })],
    ),
    ...['writesPerSecond', 'partitions', 'pagesPerSecond'].map((name): [string, () => unknown] => [
      `ShardedTable.expectedTraffic.${name}`,
      () => adviseOnIndex({ [name]: token() }),
    ]),
    ['ShardedTable.expectedTraffic.itemSize', () => adviseOnIndex({ itemSize: Size.bytes(token()) })],
    ['ShardedTable.expectedTraffic.shares', () => adviseOnIndex({ shares: { failed: token() } })],
  ])('works, or silences the advice, as %s', (_, construct) => {
    construct();

    // A token that became a number would be an absurd one.
    expect(JSON.stringify(Template.fromStack(stack))).not.toMatch(/e\+2\d\d/);
    Annotations.fromStack(stack).hasNoWarning('*', Match.stringLikeRegexp('too few shards|no shard count'));
  });

  test.each<[string, string, () => unknown]>([
    [
      'StreamAutoScaling.targetUtilizationPercent',
      'EvenShards/New: targetUtilizationPercent must be a percentage of the capacity, more than 0 and at most 100, known at synthesis, got a token',
      () =>
        new StreamAutoScaling(stack, 'New', {
          stream: imported(),
          minCapacity: 1,
          maxCapacity: 2,
          targetUtilizationPercent: token(),
        }),
    ],
    [
      'ShardMonitoring.maxIteratorAge',
      'EvenShards/New: maxIteratorAge must be a duration, known at synthesis, got "a token"',
      () => new ShardMonitoring(stack, 'New').addStream(imported(), { maxIteratorAge: Duration.minutes(token()) }),
    ],
  ])('is refused as %s', (_, message, construct) => {
    expect(construct).toThrow(message);
  });
});
