import { Duration, Lazy, Size, type Stack } from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import {
  AdaptiveShardCountController,
  HashKeyRegistry,
  IndexKeeper,
  KeyspacesCapacity,
  KeyspacesFanOutQueryFunction,
  OrderedProducerFunction,
  ShardCounts,
  ShardMonitoring,
  StreamAutoScaling,
  StreamConsumerMetrics,
  StreamReconciliation,
  StreamResharding,
  StreamReshardingProvider,
  UniformStream,
} from '../../lib';
import { invoiceTable } from './fakes/invoice-table';
import {
  consumer,
  dax,
  imported,
  index,
  keyspacesTable,
  producer,
  provisioned,
  query,
  relay,
  resharding,
  table,
  tableItemMover,
} from './minimal-constructs';

/**
 * A property or a parameter of the library whose type is a number, a duration or a size. The name is the name in
 * `.jsii`.
 */
interface TokenCase {
  readonly name: string;
  /** Creates the construct with a token for the property. */
  readonly give: (stack: Stack) => unknown;
  /**
   * The end of the error message if the library rejects the token. Undefined if the library accepts the token, even if it then
   * gives no advice about the property.
   */
  readonly refusal?: string;
}

const token = (value = 3) => Lazy.number({ produce: () => value });
const seconds = () => Duration.seconds(token());

/**
 * Every construct with a Lambda function: the interface of its settings, and a function that creates the construct.
 * The third element is the interface that declares the function settings, if this is another interface.
 */
const functions: [string, (stack: Stack, settings: object) => unknown, declaredBy?: string][] = [
  ['OrderedProducerFunctionProps', producer],
  [
    'HashKeyRegistryProps',
    (stack, settings) => new HashKeyRegistry(stack, 'It', { stream: imported(stack), ...settings }),
  ],
  ['FanOutQueryFunctionProps', query],
  ['IndexItemMoverProps', resharding, 'ItemMoverOptions'],
  ['IndexKeeperProps', keeper],
  ['TableItemMoverProps', tableItemMover, 'ItemMoverOptions'],
  [
    'AdaptiveShardCountControllerProps',
    (stack, settings) =>
      new AdaptiveShardCountController(stack, 'It', { index: index(stack, ShardCounts.adaptive()), ...settings }),
  ],
  [
    'KeyspacesFanOutQueryFunctionProps',
    (stack, settings) =>
      new KeyspacesFanOutQueryFunction(stack, 'It', { tables: [keyspacesTable(stack)], ...settings }),
  ],
  [
    'StreamAutoScalingOptions',
    (stack, settings) =>
      new StreamAutoScaling(stack, 'It', { stream: imported(stack), minCapacity: 1, maxCapacity: 2, ...settings }),
  ],
  [
    'StreamReconciliationOptions',
    (stack, settings) => new StreamReconciliation(stack, 'It', { stream: imported(stack), ...settings }),
  ],
  ['StreamReshardingProviderProps', (stack, settings) => new StreamReshardingProvider(stack, 'It', settings)],
];

function keeper(stack: Stack, settings: object): IndexKeeper {
  return new IndexKeeper(stack, 'It', { indexes: [index(stack, ShardCounts.uniform(2))], ...settings });
}

const settingsOfFunctions: TokenCase[] = functions.flatMap(([name, make, declaredBy = name]) => [
  { name: `${declaredBy}.memorySize of ${name}`, give: (stack) => make(stack, { memorySize: token() }) },
  { name: `${declaredBy}.timeout of ${name}`, give: (stack) => make(stack, { timeout: seconds() }) },
  {
    name: `BundledFunctionOptions.reservedConcurrentExecutions of ${name}`,
    give: (stack) => make(stack, { reservedConcurrentExecutions: token() }),
  },
  {
    name: `BundledFunctionOptions.maxEventAge of ${name}`,
    give: (stack) => make(stack, { maxEventAge: seconds() }),
    refusal: 'maxEventAge must be 1 minute to 6 hours, known at synthesis, got "a token"',
  },
  {
    name: `BundledFunctionOptions.retryAttempts of ${name}`,
    give: (stack) => make(stack, { retryAttempts: token() }),
    refusal: 'retryAttempts must be a whole number from 0 to 2, known at synthesis, got a token',
  },
]);

const adviceOnStreams: TokenCase[] = [
  'recordsPerSecond',
  'bytesPerSecond',
  'headRoom',
  'consumers',
  'keys',
  'hottestKeyShare',
].map((property) => ({
  name: `ExpectedStreamTraffic.${property}`,
  give: (stack) => {
    const expectedTraffic = { recordsPerSecond: 100_000, bytesPerSecond: 1, [property]: token() };
    return new UniformStream(stack, 'Busy', { shardCount: 1, expectedTraffic });
  },
}));

const adviceOnIndexes: TokenCase[] = Object.entries({
  writesPerSecond: token,
  partitions: token,
  pagesPerSecond: token,
  itemSize: () => Size.bytes(token()),
  storedSize: () => Size.bytes(token()),
  shares: () => ({ failed: token() }),
}).map(([property, value]) => ({
  name: `ExpectedIndexTraffic.${property}`,
  give: (stack) => index(stack, ShardCounts.uniform(1), { [property]: value() }),
}));

export const tokenCases: TokenCase[] = [
  ...settingsOfFunctions,
  ...adviceOnStreams,
  ...adviceOnIndexes,

  { name: 'UniformStreamProps.shardCount', give: (stack) => new UniformStream(stack, 'New', { shardCount: token() }) },
  {
    name: 'UniformStreamProps.deployedShardCount',
    give: (stack) => new UniformStream(stack, 'New', { shardCount: token(), deployedShardCount: token() }),
  },
  {
    name: 'UniformStreamAttributes.hashBuckets',
    give: (stack) => {
      const streamArn = 'arn:aws:kinesis:eu-west-1:111111111111:stream/events';
      UniformStream.fromUniformStreamAttributes(stack, 'New', { streamArn, hashBuckets: token() });
    },
    refusal: 'hashBuckets must be a power of two, known at synthesis, got a token',
  },
  {
    name: 'UniformStreamAttributes.maxRecordSize',
    give: (stack) => {
      const streamArn = 'arn:aws:kinesis:eu-west-1:111111111111:stream/events';
      const maxRecordSize = Size.kibibytes(token(2_048));
      const stream = UniformStream.fromUniformStreamAttributes(stack, 'New', { streamArn, maxRecordSize });
      new OrderedProducerFunction(stack, 'Producer', { stream });
    },
  },
  {
    name: 'UniformStreamProps.hashBuckets',
    give: (stack) => new UniformStream(stack, 'New', { shardCount: 1, hashBuckets: token() }),
    refusal: 'hashBuckets must be a power of two, known at synthesis, got a token',
  },
  {
    name: 'UniformStreamProps.retentionPeriod',
    give: (stack) => new UniformStream(stack, 'New', { shardCount: 1, retentionPeriod: Duration.hours(token(48)) }),
  },
  {
    name: 'UniformStreamProps.maxRecordSize',
    give: (stack) => new UniformStream(stack, 'New', { shardCount: 1, maxRecordSize: Size.kibibytes(token(2048)) }),
  },
  {
    name: 'StreamAutoScalingOptions.minCapacity',
    give: (stack) =>
      new UniformStream(stack, 'New', { shardCount: 4 }).autoScaleShardCount({ minCapacity: token(), maxCapacity: 8 }),
  },
  {
    name: 'StreamAutoScalingOptions.maxCapacity',
    give: (stack) =>
      new UniformStream(stack, 'New', { shardCount: 4 }).autoScaleShardCount({ minCapacity: 1, maxCapacity: token() }),
  },
  {
    name: 'StreamAutoScalingOptions.targetUtilizationPercent',
    give: (stack) =>
      new StreamAutoScaling(stack, 'New', {
        stream: imported(stack),
        minCapacity: 1,
        maxCapacity: 2,
        targetUtilizationPercent: token(),
      }),
    refusal: 'targetUtilizationPercent must be a number above 0, at most 100, known at synthesis, got a token',
  },
  ...[resharding, tableItemMover].flatMap((make) => [
    ...['readUnitsPerSecond', 'writeUnitsPerSecond'].map((property) => ({
      name: `ItemMoverOptions.${property} of ${make.name}`,
      give: (stack: Stack) => make(stack, { [property]: token() }),
    })),
    {
      name: `ItemMoverOptions.segments of ${make.name}`,
      give: (stack: Stack) => make(stack, { segments: token() }),
      refusal: 'segments must be a whole number from 1 to 256, known at synthesis, got a token',
    },
  ]),
  ...[{ initial: token }, { maximum: token }, { initialByValue: () => ({ failed: token() }) }].map((option) => {
    const [[property, value]] = Object.entries(option) as [[string, () => unknown]];
    const give = (stack: Stack) => index(stack, ShardCounts.adaptive({ [property]: value() }));
    return { name: `AdaptiveShardCountsOptions.${property}`, give };
  }),
  {
    name: 'StreamReconciliationProps.shardCount',
    give: (stack) => new StreamReconciliation(stack, 'New', { stream: imported(stack), shardCount: token() }),
  },
  {
    name: 'StreamReshardingProps.shardCount',
    give: (stack) => new StreamResharding(stack, 'New', { stream: imported(stack), shardCount: token() }),
  },
  {
    name: 'StreamReshardingProps.deployedShardCount',
    give: (stack) =>
      new StreamResharding(stack, 'New', { stream: imported(stack), shardCount: 4, deployedShardCount: token() }),
  },
  {
    name: 'FanOutQueryFunctionProps.cache',
    give: (stack) => query(stack, { cache: seconds() }),
    refusal: 'cache must be at least 1 millisecond, in whole milliseconds, known at synthesis, got "a token"',
  },
  {
    name: 'DaxClusterProps.nodes',
    give: (stack) => dax(stack, { nodes: token() }),
  },
  ...['queryTimeToLive', 'itemTimeToLive'].map((property) => ({
    name: `DaxClusterProps.${property}`,
    give: (stack: Stack) => dax(stack, { [property]: seconds() }),
    refusal: `${property} must be at least 1 millisecond, in whole milliseconds, known at synthesis, got "a token"`,
  })),
  {
    name: 'ShardFormatOptions.firstShard',
    give: (stack) => invoiceTable(stack, { firstShard: token() }),
    refusal: 'firstShard must be a whole number, known at synthesis, got a token',
  },
  {
    name: 'ShardFormatOptions.shardWidth',
    give: (stack) => index(stack, ShardCounts.uniform(2), undefined, { shardWidth: token() }),
    refusal: 'byStatus.shardWidth must be a whole number, known at synthesis, got a token',
  },
  {
    name: 'OrderedProducerFunctionProps.maxRecordSize',
    give: (stack) => producer(stack, { maxRecordSize: Size.bytes(token()) }),
  },
  {
    name: 'OrderedProducerFunctionProps.maxRecordSize, in another unit',
    give: (stack) => producer(stack, { maxRecordSize: Size.mebibytes(token()) }),
    refusal: 'maxRecordSize must be created with Size.bytes if it is a token, got "a token"',
  },
  {
    name: 'OrderedProducerFunctionProps.hashBuckets',
    give: (stack) => producer(stack, { hashBuckets: token() }),
    refusal: 'hashBuckets must be a power of two, known at synthesis, got a token',
  },
  {
    name: 'OrderedProducerFunctionProps.linger',
    give: (stack) => producer(stack, { aggregationAcrossKeys: true, linger: Duration.millis(token()) }),
  },
  {
    name: 'OrderedProducerFunctionProps.requestTimeout',
    give: (stack) => producer(stack, { requestTimeout: Duration.millis(token()) }),
  },
  {
    name: 'OrderedProducerFunctionProps.requestTimeout, in another unit',
    give: (stack) => producer(stack, { requestTimeout: seconds() }),
    refusal: 'requestTimeout must be created with Duration.millis if it is a token, got "a token"',
  },
  {
    name: 'ProducerFifoQueueOptions.maxReceiveCount',
    give: (stack) => producer(stack).addFifoQueue('New', { maxReceiveCount: token() }),
  },
  {
    name: 'ProducerFifoQueueOptions.maxConcurrency',
    give: (stack) => producer(stack).addFifoQueue('New', { maxConcurrency: token() }),
  },
  {
    name: 'ProducerFifoQueueOptions.visibilityTimeout',
    give: (stack) => producer(stack).addFifoQueue('New', { visibilityTimeout: seconds() }),
  },
  {
    name: 'ProducerTableStreamOptions.batchSize',
    give: (stack) => producer(stack).addTableStream({ table: table(stack), batchSize: token() }),
  },
  {
    name: 'ProducerTableStreamOptions.parallelizationFactor',
    give: (stack) => producer(stack).addTableStream({ table: table(stack), parallelizationFactor: token() }),
  },
  {
    name: 'ProducerTableStreamOptions.maxBatchingWindow',
    give: (stack) => producer(stack).addTableStream({ table: table(stack), maxBatchingWindow: seconds() }),
  },
  {
    name: 'ProducerTableStreamOptions.maxRecordAge',
    give: (stack) => {
      const onFailure = new SqsDlq(new Queue(stack, 'Failures'));
      return producer(stack).addTableStream({ table: table(stack), maxRecordAge: seconds(), onFailure });
    },
    refusal: 'maxRecordAge must be 1 minute to 1 day, known at synthesis, got "a token"',
  },
  {
    name: 'OrderedStreamConsumerProps.startingPositionTimestamp',
    give: (stack) =>
      consumer(stack, {
        startingPosition: lambda.StartingPosition.AT_TIMESTAMP,
        startingPositionTimestamp: token(),
      }),
  },
  ...['batchSize', 'parallelizationFactor', 'sweepReadUnitsPerSecond'].map((property) => ({
    name: `IndexKeeperProps.${property}`,
    give: (stack: Stack) => keeper(stack, { [property]: token() }),
  })),
  { name: 'OrderedStreamConsumerProps.batchSize', give: (stack) => consumer(stack, { batchSize: token() }) },
  {
    name: 'OrderedStreamConsumerProps.maxBatchingWindow',
    give: (stack) => consumer(stack, { maxBatchingWindow: seconds() }),
  },
  {
    name: 'OrderedStreamConsumerProps.parallelizationFactor',
    give: (stack) => consumer(stack, { parallelizationFactor: token() }),
  },
  {
    name: 'OrderedStreamConsumerProps.retryInterval',
    give: (stack) => consumer(stack, { retryInterval: Duration.minutes(token()) }),
  },
  { name: 'OutboxRelayFunctionProps.memorySize', give: (stack) => relay(stack, { memorySize: token() }) },
  { name: 'OutboxRelayFunctionProps.timeout', give: (stack) => relay(stack, { timeout: seconds() }) },
  {
    name: 'OutboxRelayFunctionProps.reservedConcurrentExecutions',
    give: (stack) => relay(stack, { reservedConcurrentExecutions: token() }),
  },
  { name: 'OutboxRelayFunctionProps.maxTries', give: (stack) => relay(stack, { maxTries: token() }) },
  {
    name: 'OutboxRelayFunctionProps.hashBuckets',
    give: (stack) => relay(stack, { hashBuckets: token() }),
    refusal: 'hashBuckets must be a power of two, known at synthesis, got a token',
  },
  {
    name: 'OutboxRelayFunctionProps.maxRecordSize',
    give: (stack) => relay(stack, { maxRecordSize: Size.bytes(token()) }),
  },
  {
    name: 'ShardedKeyspacesTableProps.defaultTimeToLive',
    give: (stack) => keyspacesTable(stack, { defaultTimeToLive: seconds() }),
  },
  {
    name: 'ShardedKeyspacesTableOptions.firstShard',
    give: (stack) => keyspacesTable(stack, { firstShard: token() }),
    refusal: 'firstShard must be a whole number, known at synthesis, got a token',
  },
  {
    name: 'KeyspacesCapacity.constant(capacityUnits)',
    give: (stack) => provisioned(stack, () => KeyspacesCapacity.constant(token())),
  },
  {
    name: 'KeyspacesAutoscaledCapacityOptions.minCapacity',
    give: (stack) => provisioned(stack, () => KeyspacesCapacity.autoscaled({ minCapacity: token(), maxCapacity: 9 })),
  },
  {
    name: 'KeyspacesAutoscaledCapacityOptions.maxCapacity',
    give: (stack) => provisioned(stack, () => KeyspacesCapacity.autoscaled({ maxCapacity: token() })),
  },
  {
    name: 'KeyspacesAutoscaledCapacityOptions.targetUtilizationPercent',
    give: (stack) =>
      provisioned(stack, () => KeyspacesCapacity.autoscaled({ maxCapacity: 9, targetUtilizationPercent: token() })),
  },
  {
    name: 'ShardCounts.uniform(count)',
    give: (stack) => query(stack, {}, ShardCounts.uniform(token())),
  },
  {
    name: 'ShardCounts.byValue(counts)',
    give: (stack) => query(stack, {}, ShardCounts.byValue({ failed: token() }, 1)),
  },
  {
    name: 'ShardCounts.byValue(defaultCount)',
    give: (stack) => query(stack, {}, ShardCounts.byValue({ failed: 1 }, token())),
  },
  {
    name: 'ConsumerMonitoringOptions.maxParkedTime',
    give: (stack) => {
      const metrics = StreamConsumerMetrics.fromOrderedConsumer(consumer(stack, {}));
      new ShardMonitoring(stack, 'New').addConsumer(imported(stack, 'Consumed'), metrics, { maxParkedTime: seconds() });
    },
  },
  {
    name: 'ConsumerMonitoringOptions.maxIteratorAge',
    give: (stack) => {
      const stream = imported(stack);
      const options = { maxIteratorAge: Duration.minutes(token()) };
      new ShardMonitoring(stack, 'New').addConsumer(stream, StreamConsumerMetrics.fromPolling(stream), options);
    },
    refusal: 'maxIteratorAge must be a duration, in whole milliseconds, known at synthesis, got "a token"',
  },
  {
    name: 'StreamMonitoringOptions.maxIteratorAge',
    give: (stack) => {
      const options = { maxIteratorAge: Duration.minutes(token()) };
      new ShardMonitoring(stack, 'New').addStream(imported(stack), options);
    },
    refusal: 'maxIteratorAge must be a duration, in whole milliseconds, known at synthesis, got "a token"',
  },
  ...['maxWriteThrottles', 'maxSkew', 'minUpdatesLeft'].map((property) => ({
    name: `StreamMonitoringOptions.${property}`,
    give: (stack: Stack) => {
      const watched = new UniformStream(stack, 'Watched', { shardCount: 4 });
      new ShardMonitoring(stack, 'New').addStream(watched, {
        autoScaling: watched.autoScaleShardCount({ minCapacity: 1, maxCapacity: 8 }),
        reconciliation: new StreamReconciliation(stack, 'Reconciliation', { stream: watched }),
        [property]: token(),
      });
    },
  })),
  {
    name: 'IndexMonitoringOptions.maxWriteThrottles',
    give: (stack) =>
      new ShardMonitoring(stack, 'New').addIndex(index(stack, ShardCounts.uniform(2)), { maxWriteThrottles: token() }),
  },
  ...['maxWriteThrottles', 'maxReadThrottles'].map((property) => ({
    name: `TableMonitoringOptions.${property}`,
    give: (stack: Stack) => new ShardMonitoring(stack, 'New').addTable(invoiceTable(stack), { [property]: token() }),
  })),
  ...['maxThrottledRequests', 'maxFaults', 'maxCpuUtilizationPercent'].map((property) => ({
    name: `DaxMonitoringOptions.${property}`,
    give: (stack: Stack) => new ShardMonitoring(stack, 'New').addDaxCluster(dax(stack, {}), { [property]: token() }),
  })),
  {
    name: 'ProducerMonitoringOptions.maxFailures',
    give: (stack) => new ShardMonitoring(stack, 'New').addProducer(producer(stack), { maxFailures: token() }),
  },
  {
    name: 'QueryMonitoringOptions.maxHiddenPercent',
    give: (stack) => new ShardMonitoring(stack, 'New').addQuery(query(stack), { maxHiddenPercent: token() }),
  },
  {
    name: 'OutboxMonitoringOptions.maxFailures',
    give: (stack) => new ShardMonitoring(stack, 'New').addOutbox(relay(stack), { maxFailures: token() }),
  },
  ...['maxReadRequestUnits', 'maxWriteRequestUnits'].map((property) => ({
    name: `ShardedIndexOptions.${property}`,
    give: (stack: Stack) => index(stack, ShardCounts.uniform(2), undefined, { [property]: token() }),
  })),
  {
    name: 'DeadLetterQueueMonitoringOptions.maxMessages',
    give: (stack) =>
      new ShardMonitoring(stack, 'New').addDeadLetterQueue(new Queue(stack, 'Queue'), { maxMessages: token() }),
  },
  {
    name: 'IndexKeeperMonitoringOptions.maxDelay',
    give: (stack) => new ShardMonitoring(stack, 'New').addIndexKeeper(keeper(stack, {}), { maxDelay: seconds() }),
  },
  {
    name: 'OutboxMonitoringOptions.maxLag',
    give: (stack) => new ShardMonitoring(stack, 'New').addOutbox(relay(stack), { maxLag: seconds() }),
  },
];
