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

type Make = (stack: Stack, settings: object) => unknown;
type Value = () => unknown;

const token = (value = 3) => Lazy.number({ produce: () => value });
const seconds = () => Duration.seconds(token());
const minutes = () => Duration.minutes(token());
const bytes = () => Size.bytes(token());

const KNOWN = 'known at synthesis, got';
const POWER_OF_TWO = `a power of two, ${KNOWN} a token`;
const WHOLE_NUMBER = `a whole number, ${KNOWN} a token`;
const TIME_TO_LIVE = `at least 1 millisecond, in whole milliseconds, ${KNOWN} "a token"`;
const AGE = `at least 1 millisecond, in whole milliseconds, ${KNOWN} "a token"`;

/**
 * A case for each property of an interface: a function that returns a value with a token, and the values that the library allows if
 * it rejects the token.
 */
function casesOf(
  declaredBy: string,
  make: Make,
  properties: Readonly<Record<string, Value | readonly [Value, allowed: string]>>,
  suffix = '',
): TokenCase[] {
  return Object.entries(properties).map(([property, given]) => {
    const [value, allowed] = typeof given === 'function' ? [given] : given;
    const name = `${declaredBy}.${property}${suffix}`;
    const give = (stack: Stack) => make(stack, { [property]: value() });
    return { name, give, ...(allowed !== undefined && { refusal: `${property} must be ${allowed}` }) };
  });
}

const keeper = (stack: Stack, settings: object) =>
  new IndexKeeper(stack, 'It', { indexes: [index(stack, ShardCounts.uniform(2))], ...settings });
const stream = (stack: Stack, settings: object) => new UniformStream(stack, 'New', { shardCount: 1, ...settings });
const scaled = (stack: Stack, settings: object) =>
  new StreamAutoScaling(stack, 'It', { stream: imported(stack), minCapacity: 1, maxCapacity: 2, ...settings });
const reconciled = (stack: Stack, settings: object) =>
  new StreamReconciliation(stack, 'It', { stream: imported(stack), ...settings });
const importedStream = (stack: Stack, settings: object) => {
  const streamArn = 'arn:aws:kinesis:eu-west-1:111111111111:stream/events';
  return producer(stack, {
    stream: UniformStream.fromUniformStreamAttributes(stack, 'New', { streamArn, ...settings }),
  });
};
const fifoQueue = (stack: Stack, settings: object) => producer(stack).addFifoQueue('New', settings);
const tableStream = (stack: Stack, settings: object) =>
  producer(stack).addTableStream({ table: table(stack), ...settings });
const tableStreamOrQueue = (stack: Stack, settings: object) =>
  tableStream(stack, { onFailure: new SqsDlq(new Queue(stack, 'Failures')), ...settings });
const autoscaled = (stack: Stack, settings: object) =>
  provisioned(stack, () => KeyspacesCapacity.autoscaled({ maxCapacity: 9, ...settings }));

/**
 * Every construct with a Lambda function: the interface of its settings, and a function that creates the construct.
 * The third element is the interface that declares the function settings, if this is another interface.
 */
const functions: [string, Make, declaredBy?: string][] = [
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
  ['StreamAutoScalingOptions', scaled],
  ['StreamReconciliationOptions', reconciled],
  ['StreamReshardingProviderProps', (stack, settings) => new StreamReshardingProvider(stack, 'It', settings)],
];

const settingsOfFunctions = functions.flatMap(([name, make, declaredBy = name]) => [
  ...casesOf(declaredBy, make, { memorySize: token, timeout: seconds }, ` of ${name}`),
  ...casesOf(
    'BundledFunctionOptions',
    make,
    {
      reservedConcurrentExecutions: token,
      maxEventAge: [seconds, `1 minute to 6 hours, ${KNOWN} "a token"`],
      retryAttempts: [token, `a whole number from 0 to 2, ${KNOWN} a token`],
    },
    ` of ${name}`,
  ),
]);

const monitor = (add: (monitoring: ShardMonitoring, stack: Stack, options: object) => void): Make => {
  return (stack, options) => add(new ShardMonitoring(stack, 'Monitor'), stack, options);
};

const monitorings = [
  ...casesOf(
    'ConsumerMonitoringOptions',
    monitor((monitoring, stack, options) => {
      const metrics = StreamConsumerMetrics.fromOrderedConsumer(consumer(stack, {}));
      monitoring.addConsumer(imported(stack, 'Consumed'), metrics, options);
    }),
    { maxParkedTime: seconds, maxIteratorAge: [minutes, AGE] },
  ),
  ...casesOf(
    'StreamMonitoringOptions',
    monitor((monitoring, stack, options) => {
      const watched = new UniformStream(stack, 'Watched', { shardCount: 4 });
      const autoScaling = watched.autoScaleShardCount({ minCapacity: 1, maxCapacity: 8 });
      const reconciliation = new StreamReconciliation(stack, 'Reconciliation', { stream: watched });
      monitoring.addStream(watched, { autoScaling, reconciliation, ...options });
    }),
    { maxIteratorAge: [minutes, AGE], maxWriteThrottles: token, maxSkew: token, minUpdatesLeft: token },
  ),
  ...casesOf(
    'IndexMonitoringOptions',
    monitor((monitoring, stack, options) => monitoring.addIndex(index(stack, ShardCounts.uniform(2)), options)),
    { maxWriteThrottles: token },
  ),
  ...casesOf(
    'TableMonitoringOptions',
    monitor((monitoring, stack, options) => monitoring.addTable(invoiceTable(stack), options)),
    { maxWriteThrottles: token, maxReadThrottles: token },
  ),
  ...casesOf(
    'DaxMonitoringOptions',
    monitor((monitoring, stack, options) => monitoring.addDaxCluster(dax(stack, {}), options)),
    { maxThrottledRequests: token, maxFaults: token, maxCpuUtilizationPercent: token },
  ),
  ...casesOf(
    'ProducerMonitoringOptions',
    monitor((monitoring, stack, options) => monitoring.addProducer(producer(stack), options)),
    { maxFailures: token },
  ),
  ...casesOf(
    'QueryMonitoringOptions',
    monitor((monitoring, stack, options) => monitoring.addQuery(query(stack), options)),
    { maxHiddenPercent: token },
  ),
  ...casesOf(
    'OutboxMonitoringOptions',
    monitor((monitoring, stack, options) => monitoring.addOutbox(relay(stack), options)),
    { maxFailures: token, maxLag: seconds },
  ),
  ...casesOf(
    'DeadLetterQueueMonitoringOptions',
    monitor((monitoring, stack, options) => monitoring.addDeadLetterQueue(new Queue(stack, 'Queue'), options)),
    { maxMessages: token },
  ),
  ...casesOf(
    'IndexKeeperMonitoringOptions',
    monitor((monitoring, stack, options) => monitoring.addIndexKeeper(keeper(stack, {}), options)),
    { maxDelay: seconds },
  ),
];

export const tokenCases: TokenCase[] = [
  ...settingsOfFunctions,
  ...casesOf(
    'ExpectedStreamTraffic',
    (stack, traffic) =>
      stream(stack, { expectedTraffic: { recordsPerSecond: 100_000, bytesPerSecond: 1, ...traffic } }),
    {
      recordsPerSecond: token,
      bytesPerSecond: token,
      headRoom: token,
      consumers: token,
      keys: token,
      hottestKeyShare: token,
    },
  ),
  ...casesOf('ExpectedIndexTraffic', (stack, traffic) => index(stack, ShardCounts.uniform(1), traffic), {
    writesPerSecond: token,
    partitions: token,
    pagesPerSecond: token,
    itemSize: bytes,
    storedSize: bytes,
    shares: () => ({ failed: token() }),
  }),
  ...casesOf('UniformStreamProps', stream, {
    shardCount: token,
    hashBuckets: [token, POWER_OF_TWO],
    retentionPeriod: () => Duration.hours(token(48)),
    maxRecordSize: () => Size.kibibytes(token(2_048)),
  }),
  ...casesOf('UniformStreamProps', (stack, settings) => stream(stack, { shardCount: token(), ...settings }), {
    deployedShardCount: token,
  }),
  ...casesOf('UniformStreamAttributes', importedStream, {
    hashBuckets: [token, POWER_OF_TWO],
    maxRecordSize: () => Size.kibibytes(token(2_048)),
  }),
  ...casesOf('StreamAutoScalingOptions', scaled, {
    minCapacity: token,
    maxCapacity: token,
    targetUtilizationPercent: [token, `a number above 0, at most 100, ${KNOWN} a token`],
  }),
  ...[resharding, tableItemMover].flatMap((make) =>
    casesOf(
      'ItemMoverOptions',
      make,
      {
        readUnitsPerSecond: token,
        writeUnitsPerSecond: token,
        segments: [token, `a whole number from 1 to 256, ${KNOWN} a token`],
      },
      ` of ${make.name}`,
    ),
  ),
  ...casesOf('AdaptiveShardCountsOptions', (stack, options) => index(stack, ShardCounts.adaptive(options)), {
    initial: token,
    maximum: token,
    initialByValue: () => ({ failed: token() }),
  }),
  ...casesOf('StreamReconciliationProps', reconciled, { shardCount: token }),
  ...casesOf(
    'StreamReshardingProps',
    (stack, settings) => new StreamResharding(stack, 'New', { stream: imported(stack), shardCount: 4, ...settings }),
    { shardCount: token, deployedShardCount: token },
  ),
  ...casesOf('FanOutQueryFunctionProps', query, { cache: [seconds, TIME_TO_LIVE] }),
  ...casesOf('DaxClusterProps', dax, {
    nodes: token,
    queryTimeToLive: [seconds, TIME_TO_LIVE],
    itemTimeToLive: [seconds, TIME_TO_LIVE],
  }),
  ...casesOf('ShardFormatOptions', invoiceTable, { firstShard: [token, WHOLE_NUMBER] }),
  ...casesOf('ShardFormatOptions', (stack, options) => index(stack, ShardCounts.uniform(2), undefined, options), {
    shardWidth: [token, WHOLE_NUMBER],
  }),
  ...casesOf('ShardedIndexOptions', (stack, options) => index(stack, ShardCounts.uniform(2), undefined, options), {
    maxReadRequestUnits: token,
    maxWriteRequestUnits: token,
  }),
  ...casesOf('OrderedProducerFunctionProps', producer, {
    maxRecordSize: bytes,
    hashBuckets: [token, POWER_OF_TWO],
    requestTimeout: () => Duration.millis(token()),
  }),
  ...casesOf(
    'OrderedProducerFunctionProps',
    (stack, props) => producer(stack, { aggregationAcrossKeys: true, ...props }),
    {
      linger: () => Duration.millis(token()),
    },
  ),
  ...casesOf(
    'OrderedProducerFunctionProps',
    producer,
    {
      maxRecordSize: [() => Size.mebibytes(token()), 'created with Size.bytes if it is a token, got "a token"'],
      requestTimeout: [seconds, 'created with Duration.millis if it is a token, got "a token"'],
    },
    ', in another unit',
  ),
  ...casesOf('ProducerFifoQueueOptions', fifoQueue, {
    maxReceiveCount: token,
    maxConcurrency: token,
    visibilityTimeout: seconds,
  }),
  ...casesOf('ProducerTableStreamOptions', tableStream, {
    batchSize: token,
    parallelizationFactor: token,
    maxBatchingWindow: seconds,
  }),
  ...casesOf('ProducerTableStreamOptions', tableStreamOrQueue, {
    maxRecordAge: [seconds, `1 minute to 1 day, ${KNOWN} "a token"`],
  }),
  ...casesOf('IndexKeeperProps', keeper, {
    batchSize: token,
    parallelizationFactor: token,
    sweepReadUnitsPerSecond: token,
  }),
  ...casesOf(
    'OrderedStreamConsumerProps',
    (stack, props) => consumer(stack, { startingPosition: lambda.StartingPosition.AT_TIMESTAMP, ...props }),
    { startingPositionTimestamp: token },
  ),
  ...casesOf('OrderedStreamConsumerProps', consumer, {
    batchSize: token,
    maxBatchingWindow: seconds,
    parallelizationFactor: token,
    retryInterval: minutes,
  }),
  ...casesOf('OutboxRelayFunctionProps', relay, {
    memorySize: token,
    timeout: seconds,
    reservedConcurrentExecutions: token,
    maxTries: token,
    hashBuckets: [token, POWER_OF_TWO],
    maxRecordSize: bytes,
  }),
  ...casesOf('ShardedKeyspacesTableProps', keyspacesTable, { defaultTimeToLive: seconds }),
  ...casesOf('ShardedKeyspacesTableOptions', keyspacesTable, { firstShard: [token, WHOLE_NUMBER] }),
  ...casesOf('KeyspacesAutoscaledCapacityOptions', autoscaled, {
    minCapacity: token,
    maxCapacity: token,
    targetUtilizationPercent: token,
  }),
  {
    name: 'KeyspacesCapacity.constant(capacityUnits)',
    give: (stack) => provisioned(stack, () => KeyspacesCapacity.constant(token())),
  },
  { name: 'ShardCounts.uniform(count)', give: (stack) => query(stack, {}, ShardCounts.uniform(token())) },
  {
    name: 'ShardCounts.byValue(counts)',
    give: (stack) => query(stack, {}, ShardCounts.byValue({ failed: token() }, 1)),
  },
  {
    name: 'ShardCounts.byValue(defaultCount)',
    give: (stack) => query(stack, {}, ShardCounts.byValue({ failed: 1 }, token())),
  },
  ...monitorings,
];
