import { App, Duration, Lazy, Size, Stack } from 'aws-cdk-lib';
import { AttributeType, Table, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import * as events from 'aws-cdk-lib/aws-events';
import { Runtime, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import {
  AdaptiveShardCountController,
  DaxCluster,
  HashKeyRegistry,
  IndexKeeper,
  ItemVersion,
  KeyShardedTable,
  KeyspacesCapacity,
  KeyspacesFanOutQueryFunction,
  OrderedProducerFunction,
  OrderedStreamConsumer,
  type ProducerFifoQueueOptions,
  type ProducerTableStreamOptions,
  ShardCounts,
  ShardedIndex,
  ShardedTable,
  ShardMonitoring,
  StreamAutoScaling,
  StreamReconciliation,
  StreamResharding,
  StreamReshardingProvider,
  UniformStream,
} from '../../../lib';
import { InvalidArgumentError } from '../../../lib/core/kernel/errors';
import { invoiceTable } from '../../support/fakes/invoice-table';
import {
  consumer,
  dax,
  imported,
  index,
  keyspacesTable,
  producer,
  query,
  relay,
  resharding,
  table,
  tableItemMover,
} from '../../support/minimal-constructs';

type Case = readonly [wrong: object, error: string];

const WHOLE = 'must be a whole number from';
const MAX_SHARDS = 'from 1 to 10000 (the most shards of a Kinesis stream), got 10001';
const invalidShardCounts = (field: string): Case[] => [
  [{ [field]: 0 }, `${field} ${WHOLE} 1 to 10000, got 0`],
  [{ [field]: 10_001 }, `${field} must be a whole number ${MAX_SHARDS}`],
];

const string = (name: string) => ({ name, type: AttributeType.STRING });
const shardCounts = ShardCounts.uniform(2);
const ATTRIBUTE = 'must be a name of 1 to 255 bytes, got';
const NAME = 'must be 3 to 255 characters of a-z, A-Z, 0-9, underscore, hyphen and dot, got';
/** A name of 256 bytes in 128 characters. */
const LONG = '\u00e9'.repeat(128);
const arnOf = (service: string, resource: string) => `arn:aws:${service}:eu-west-1:111111111111:${resource}`;

/** Invalid names in the properties that ShardedTable and KeyShardedTable take from TableV2. */
const tableNames: Case[] = [
  [{ partitionKey: string('') }, `EvenShards/It: partitionKey.name ${ATTRIBUTE} ""`],
  [{ partitionKey: string(LONG) }, `partitionKey.name ${ATTRIBUTE} "`],
  [{ sortKey: string('') }, `sortKey.name ${ATTRIBUTE} ""`],
  [{ sortKey: string('pk') }, 'sortKey.name must be another attribute than the partition key, got "pk"'],
  [{ tableName: '' }, `tableName ${NAME} ""`],
  [{ tableName: 'a b c' }, `tableName ${NAME} "a b c"`],
  [{ timeToLiveAttribute: '' }, `timeToLiveAttribute ${ATTRIBUTE} ""`],
  [{ globalSecondaryIndexes: [{ indexName: 'no', partitionKey: string('a') }] }, `indexName ${NAME} "no"`],
  [
    { globalSecondaryIndexes: [{ indexName: 'byA', partitionKey: string('') }] },
    `byA.partitionKey.name ${ATTRIBUTE} ""`,
  ],
  [{ localSecondaryIndexes: [{ indexName: 'byA', sortKey: string(LONG) }] }, `byA.sortKey.name ${ATTRIBUTE} "`],
  [
    { localSecondaryIndexes: [{ indexName: 'byA', sortKey: string('a'), nonKeyAttributes: ['b', ''] }] },
    `byA.nonKeyAttributes ${ATTRIBUTE} ""`,
  ],
];

/** Each function builds a construct with valid properties and the invalid properties of a case. */
const CONSTRUCTS: Record<string, readonly [build: (stack: Stack, wrong: object) => unknown, cases: readonly Case[]]> = {
  ShardedTable: [
    (stack, wrong) => new ShardedTable(stack, 'It', { partitionKey: string('pk'), sortKey: string('sk'), ...wrong }),
    tableNames,
  ],
  KeyShardedTable: [
    (stack, wrong) => {
      const keys = { partitionKey: string('pk'), sortKey: string('sk'), shardCounts };
      return new KeyShardedTable(stack, 'It', { ...keys, ...wrong });
    },
    tableNames,
  ],
  'ShardedTable.addShardedIndex': [
    (stack, wrong) => table(stack).addShardedIndex({ indexName: 'byA', shardCounts, ...wrong }),
    [
      [{ valueAttribute: string('') }, `byA.valueAttribute.name ${ATTRIBUTE} ""`],
      [{ shardAttribute: LONG }, `byA.shardAttribute ${ATTRIBUTE} "`],
      [{ nonKeyAttributes: ['a', LONG] }, `byA.nonKeyAttributes ${ATTRIBUTE} "`],
    ],
  ],
  'ShardedIndex.fromShardedIndexAttributes': [
    (stack, wrong) => {
      const jobs = TableV2.fromTableName(stack, 'Jobs', 'jobs');
      const attributes = { table: jobs, tableKey: ['jobId'], indexName: 'byA', shardCounts, ...wrong };
      return ShardedIndex.fromShardedIndexAttributes(attributes);
    },
    [[{ tableKey: [LONG] }, 'tableKey must be attribute names, each a name of 1 to 255 bytes, got']],
  ],
  'KeyShardedTable.fromKeyShardedTableAttributes': [
    (stack, wrong) => {
      const orders = TableV2.fromTableName(stack, 'Orders', 'orders');
      return KeyShardedTable.fromKeyShardedTableAttributes({
        table: orders,
        tableKey: ['pk', 'sk'],
        shardCounts,
        ...wrong,
      });
    },
    [
      [{ tableKey: ['pk', LONG] }, 'tableKey must be attribute names, each a name of 1 to 255 bytes, got'],
      [{ queryName: '' }, 'queryName must be a non-empty string, got ""'],
    ],
  ],
  'OrderedProducerFunction.fromFunctionArn': [
    (stack, wrong) => OrderedProducerFunction.fromFunctionArn(stack, 'It', (wrong as { arn: string }).arn),
    ['', 'theirs', arnOf('kinesis', 'stream/events')].map(
      (arn): Case => [
        { arn },
        `EvenShards/It: functionArn must be an ARN of lambda: arn:aws:lambda:<region>:<account>:<resource>, got "${arn}"`,
      ],
    ),
  ],
  'OrderedStreamConsumer.fromOrderedStreamConsumerAttributes': [
    (stack, wrong) =>
      OrderedStreamConsumer.fromOrderedStreamConsumerAttributes(stack, 'It', {
        consumerName: 'orders',
        functionArn: arnOf('lambda', 'function:theirs'),
        parkingTableArn: arnOf('dynamodb', 'table/parked'),
        ...wrong,
      }),
    [
      [{ consumerName: '' }, 'EvenShards/It: consumerName must be 1 to 128 characters, got ""'],
      [{ functionArn: 'theirs' }, 'EvenShards/It: functionArn must be an ARN of lambda'],
      [{ parkingTableArn: 'parked' }, 'EvenShards/It: parkingTableArn must be an ARN of dynamodb'],
    ],
  ],
  'DaxCluster.fromDaxClusterAttributes': [
    (stack, wrong) => {
      const attributes = { clusterArn: arnOf('dax', 'cache/it'), endpoint: 'daxs://it', securityGroups: [], ...wrong };
      return DaxCluster.fromDaxClusterAttributes(stack, 'It', attributes);
    },
    [
      [{ clusterArn: 'it' }, 'EvenShards/It: clusterArn must be an ARN of dax'],
      [{ endpoint: 'it' }, 'EvenShards/It: endpoint must be an address that begins with dax:// or daxs://, got "it"'],
    ],
  ],
  UniformStream: [
    (stack, wrong) => new UniformStream(stack, 'It', { shardCount: 5, ...wrong }),
    [
      ...invalidShardCounts('shardCount'),
      [{ deployedShardCount: 0 }, `deployedShardCount ${WHOLE} 1 to 10000, got 0`],
      ...['a b', '', 'a'.repeat(129)].map(
        (streamName): Case => [{ streamName }, 'streamName must be 1 to 128 characters of a-z, A-Z, 0-9, underscore'],
      ),
      [{ hashBuckets: 16 }, 'hashBuckets must be at least 20 (four for each shard), got 16'],
      [{ hashBuckets: 100 }, 'hashBuckets must be a power of two from 2 to 65536, got 100'],
      [{ maxRecordSize: Size.kibibytes(1_023) }, 'maxRecordSize must be 1 MiB to 10 MiB, in whole KiB, got "1047552'],
      [{ maxRecordSize: Size.kibibytes(10_241) }, 'maxRecordSize must be 1 MiB to 10 MiB, in whole KiB, got "10486784'],
      [
        { maxRecordSize: Size.mebibytes(Lazy.number({ produce: () => 4 })) },
        'maxRecordSize must be created with Size.kibibytes if it is a token, got "a token"',
      ],
      [{ maxRecordSize: Size.bytes(1_048_577) }, 'maxRecordSize must be 1 MiB to 10 MiB, in whole KiB, got "1048577'],
      [
        { expectedTraffic: { recordsPerSecond: 1, bytesPerSecond: 1, headRoom: 1 } },
        'expectedTraffic.headRoom must be a number from 0 to 0.9, got 1',
      ],
    ],
  ],
  'UniformStream.fromUniformStreamAttributes': [
    (stack, wrong) => {
      const streamArn = 'arn:aws:kinesis:eu-west-1:111111111111:stream/events';
      return UniformStream.fromUniformStreamAttributes(stack, 'It', { streamArn, ...wrong });
    },
    [
      [{ streamArn: 'events' }, 'EvenShards/It: streamArn must be an ARN of kinesis'],
      [{ hashBuckets: 100 }, 'hashBuckets must be a power of two from 2 to 65536, got 100'],
      [{ maxRecordSize: Size.mebibytes(11) }, 'maxRecordSize must be 1 MiB to 10 MiB, in whole KiB'],
    ],
  ],
  StreamResharding: [
    (stack, wrong) => new StreamResharding(stack, 'It', { stream: imported(stack), shardCount: 4, ...wrong }),
    invalidShardCounts('shardCount'),
  ],
  StreamReconciliation: [
    (stack, wrong) => new StreamReconciliation(stack, 'It', { stream: imported(stack), ...wrong }),
    [
      ...invalidShardCounts('shardCount'),
      [{ shardCount: 4, timeout: Duration.seconds(15) }, 'timeout must be 16 seconds to 15 minutes'],
      [{ timeout: Duration.minutes(16) }, 'timeout must be 1 second to 15 minutes'],
      [{ repair: true }, 'repair must be false without a shardCount (a repair needs to know the count), got true'],
    ],
  ],
  StreamAutoScaling: [
    (stack, wrong) =>
      new StreamAutoScaling(stack, 'It', { stream: imported(stack), minCapacity: 2, maxCapacity: 4, ...wrong }),
    [
      [{ timeout: Duration.minutes(16) }, 'timeout must be 1 second to 15 minutes'],
      [{ stream: undefined }, 'stream must be a stream, got undefined'],
      [{ minCapacity: 0 }, `minCapacity ${WHOLE} 1 to 10000, got 0`],
      [{ maxCapacity: 10_001 }, `maxCapacity must be a whole number ${MAX_SHARDS}`],
      [{ minCapacity: 8 }, 'minCapacity must be at most maxCapacity, 4, got 8'],
      ...[0, 101].map(
        (percent): Case => [
          { targetUtilizationPercent: percent },
          `targetUtilizationPercent must be a number above 0, at most 100, got ${percent}`,
        ],
      ),
    ],
  ],
  OrderedProducerFunction: [
    producer,
    [
      ...[1_047_552, 1_048_576.5, 10_486_784].map(
        (bytes): Case => [
          { maxRecordSize: Size.bytes(bytes) },
          `maxRecordSize must be 1 MiB to 10 MiB, in whole bytes, got "${bytes} bytes"`,
        ],
      ),
      [{ hashBuckets: 100 }, 'hashBuckets must be a power of two from 2 to 65536, got 100'],
      [{ timeout: Duration.seconds(1) }, 'timeout must be 2 seconds to 15 minutes'],
      [{ functionName: '' }, 'functionName must be 1 to 64 characters of a-z, A-Z, 0-9, underscore and hyphen, got ""'],
      [{ environment: { 'a-b': '' } }, 'environment must be at least two characters: a letter, then letters'],
      [{ stream: undefined }, 'stream must be a stream, got undefined'],
      [{ allocateHashKeys: false }, 'allocateHashKeys must be absent without a hashKeyRegistry, got false'],
      [{ requestTimeout: Duration.seconds(0) }, 'requestTimeout must be 1 millisecond to 15 minutes'],
      [{ requestTimeout: Duration.minutes(16) }, 'requestTimeout must be 1 millisecond to 15 minutes'],
      [{ linger: Duration.millis(5) }, 'linger must be absent without aggregationAcrossKeys, got "Duration.millis(5)"'],
      [
        { aggregationAcrossKeys: true, linger: Duration.seconds(59) },
        'linger must be less than 59000 ms, which is timeout less 1000 ms, got "59000 ms"',
      ],
      [
        { aggregationAcrossKeys: true, linger: Duration.millis(2_000), timeout: Duration.seconds(3) },
        'linger must be less than 2000 ms, which is timeout less 1000 ms, got "2000 ms"',
      ],
    ],
  ],
  'OrderedProducerFunction.addFifoQueue': [
    (stack, wrong) => producer(stack).addFifoQueue('Queue', wrong as ProducerFifoQueueOptions),
    [
      ...['.fifo', 'a b.fifo', 'commands', `${'a'.repeat(76)}.fifo`].map(
        (queueName): Case => [{ queueName }, 'queueName must be at most 80 characters of a-z, A-Z, 0-9, underscore'],
      ),
      ...[0, 1_001].map((n): Case => [{ maxReceiveCount: n }, `maxReceiveCount ${WHOLE} 1 to 1000, got ${n}`]),
      ...[1, 1_001].map((n): Case => [{ maxConcurrency: n }, `maxConcurrency ${WHOLE} 2 to 1000, got ${n}`]),
      ...['59 seconds', '13 hours'].map(
        (text): Case => [
          { visibilityTimeout: text === '59 seconds' ? Duration.seconds(59) : Duration.hours(13) },
          `visibilityTimeout must be 1 minute to 12 hours (the minimum is the function's timeout), got "${text}"`,
        ],
      ),
    ],
  ],
  'OrderedProducerFunction.addTableStream': [
    (stack, wrong) => {
      const partitionKey = { name: 'jobId', type: AttributeType.STRING };
      const table = Table.fromTableAttributes(stack, 'Jobs', {
        tableArn: 'arn:aws:dynamodb:eu-west-1:111111111111:table/jobs',
        tableStreamArn: 'arn:aws:dynamodb:eu-west-1:111111111111:table/jobs/stream/1',
      });
      const onFailure = new SqsDlq(new Queue(stack, 'Failures'));
      return producer(stack).addTableStream({ table, partitionKey, onFailure, ...wrong } as ProducerTableStreamOptions);
    },
    [
      ...[0, 10_001].map((n): Case => [{ batchSize: n }, `batchSize ${WHOLE} 1 to 10000, got ${n}`]),
      ...[0, 11].map((n): Case => [{ parallelizationFactor: n }, `parallelizationFactor ${WHOLE} 1 to 10, got ${n}`]),
      [{ maxBatchingWindow: Duration.minutes(6) }, 'maxBatchingWindow must be at most 5 minutes, got "6 minutes"'],
      [{ maxRecordAge: Duration.seconds(59) }, 'maxRecordAge must be 1 minute to 1 day, got "59 seconds"'],
      [{ maxRecordAge: Duration.hours(25) }, 'maxRecordAge must be 1 minute to 1 day, got "1 day 1 hour"'],
      [
        { maxRecordAge: Duration.hours(1), onFailure: undefined },
        'maxRecordAge must be absent without an onFailure, got "Duration.hours(1)"',
      ],
    ],
  ],
  OrderedStreamConsumer: [
    consumer,
    [
      [{ stream: undefined }, 'stream must be a Kinesis stream, or absent with a table, got undefined'],
      [{ startingPosition: undefined }, 'startingPosition must be'],
      [{ retryInterval: Duration.seconds(30) }, 'retryInterval must be'],
      [{ retryInterval: Duration.minutes(16) }, 'retryInterval must be'],
      [{ batchSize: 0 }, 'batchSize must be'],
      [{ batchSize: 10_001 }, 'batchSize must be'],
      [{ parallelizationFactor: 11 }, 'parallelizationFactor must be'],
      [{ consumerName: '' }, 'consumerName must be'],
      [
        { startingPosition: StartingPosition.AT_TIMESTAMP, startingPositionTimestamp: 1_700_000_000_000 },
        'startingPositionTimestamp must be a number from 0 to 99999999999, got 1700000000000',
      ],
    ],
  ],
  OutboxRelayFunction: [
    relay,
    [
      [{ timeout: Duration.seconds(59) }, 'timeout must be'],
      [{ timeout: Duration.minutes(16) }, 'timeout must be'],
      [{ maxTries: 0 }, 'maxTries must be'],
      [{ reservedConcurrentExecutions: 0 }, 'reservedConcurrentExecutions must be'],
      [{ maxRecordSize: Size.mebibytes(11) }, 'maxRecordSize must be'],
      [{ cloudEvents: { source: '' } }, 'cloudEvents.source must be'],
      [{ cloudEvents: { source: '/', defaultType: '' } }, 'cloudEvents.defaultType must be'],
      ...['My-schema', '1st', 'a'.repeat(41), 'pg_outbox', 'user'].map(
        (schema): Case => [{ schema }, 'schema must be'],
      ),
      ...[
        events.Schedule.rate(Duration.minutes(61)),
        events.Schedule.cron({ minute: '*/5', hour: '8-18' }),
        events.Schedule.expression('at(2026-11-20T13:00:00)'),
      ].map((schedule): Case => [{ schedule }, 'schedule must be']),
    ],
  ],
  FanOutQueryFunction: [
    query,
    [
      ...[Runtime.PYTHON_3_12, Runtime.NODEJS_16_X].map(
        (runtime): Case => [{ runtime }, `runtime must be Node.js 20 or later, got "${runtime.name}"`],
      ),
      [{ indexes: [] }, 'indexes must be at least one sharded index or table, got []'],
      [
        { timeout: Duration.seconds(1) },
        'timeout must be 2 seconds to 15 minutes (an invocation starts no work in its last 1 second), in whole seconds, got "1 second"',
      ],
      [{ timeout: Duration.seconds(901) }, 'timeout must be 2 seconds to 15 minutes'],
    ],
  ],
  KeyspacesFanOutQueryFunction: [
    (stack, wrong) => new KeyspacesFanOutQueryFunction(stack, 'It', { tables: [keyspacesTable(stack)], ...wrong }),
    [[{ timeout: Duration.seconds(1) }, 'timeout must be 2 seconds to 15 minutes']],
  ],
  HashKeyRegistry: [
    (stack, wrong) =>
      new HashKeyRegistry(stack, 'It', { stream: new UniformStream(stack, 'Events', { shardCount: 4 }), ...wrong }),
    [[{ timeout: Duration.seconds(1) }, 'timeout must be 2 seconds to 15 minutes']],
  ],
  StreamReshardingProvider: [
    (stack, wrong) => new StreamReshardingProvider(stack, 'It', wrong),
    [[{ timeout: Duration.minutes(16) }, 'timeout must be 1 second to 15 minutes']],
  ],
  AdaptiveShardCountController: [
    (stack, wrong) =>
      new AdaptiveShardCountController(stack, 'It', { index: index(stack, ShardCounts.adaptive()), ...wrong }),
    [
      [{ timeout: Duration.seconds(119) }, 'timeout must be 2 minutes to 15 minutes'],
      [{ timeout: Duration.millis(1_500) }, 'timeout must be 2 minutes to 15 minutes'],
    ],
  ],
  IndexKeeper: [
    (stack, wrong) => new IndexKeeper(stack, 'It', { indexes: [index(stack, ShardCounts.uniform(2))], ...wrong }),
    [
      [{ indexes: [] }, 'indexes must be at least one sharded index'],
      [{ batchSize: 0 }, `batchSize ${WHOLE} 1 to 10000, got 0`],
      [{ parallelizationFactor: 11 }, `parallelizationFactor ${WHOLE} 1 to 10, got 11`],
      [{ sweepReadUnitsPerSecond: 0 }, 'sweepReadUnitsPerSecond must be a number above 0'],
    ],
  ],
  IndexItemMover: [
    resharding,
    [
      [{ readUnitsPerSecond: 0 }, 'readUnitsPerSecond must be a number above 0'],
      [{ writeUnitsPerSecond: -1 }, 'writeUnitsPerSecond must be a number above 0'],
      [{ segments: 0 }, `segments ${WHOLE} 1 to 256, got 0`],
      [{ segments: 257 }, `segments ${WHOLE} 1 to 256, got 257`],
      [
        { timeout: Duration.seconds(30) },
        'timeout must be 1 minute to 15 minutes (an invocation stops 15 seconds before its timeout), in whole seconds, got "30',
      ],
    ],
  ],
  TableItemMover: [
    tableItemMover,
    [
      [{ writeUnitsPerSecond: 0 }, 'writeUnitsPerSecond must be a number above 0'],
      [{ timeout: Duration.seconds(15) }, 'timeout must be 1 minute to 15 minutes'],
    ],
  ],
  DaxCluster: [
    dax,
    [
      [{ indexes: undefined }, 'indexes must be at least one sharded index or table'],
      [{ nodes: 0 }, `nodes ${WHOLE} 1 to 11`],
      [{ nodes: 12 }, `nodes ${WHOLE} 1 to 11`],
      [{ queryTimeToLive: Duration.millis(0) }, 'queryTimeToLive must be at least 1 millisecond'],
    ],
  ],
  ShardedKeyspacesTable: [
    keyspacesTable,
    [Duration.seconds(630_720_001), Duration.millis(1_500)].map((defaultTimeToLive) => [
      { defaultTimeToLive },
      'defaultTimeToLive must be at most 7300 days, in whole seconds, got',
    ]),
  ],
  'ShardMonitoring.addStream': [
    (stack, wrong) => {
      const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
      return new ShardMonitoring(stack, 'It').addStream(stream, {
        reconciliation: stream.addReconciliation(),
        ...wrong,
      });
    },
    [
      [{ maxWriteThrottles: -1 }, 'maxWriteThrottles must be a number of at least 0, got -1'],
      [{ maxIteratorAge: Duration.seconds(0) }, 'maxIteratorAge must be at least 1 millisecond'],
      [{ maxSkew: 0.9 }, 'maxSkew must be a number of at least 1, got 0.9'],
    ],
  ],
  'ShardMonitoring.addIndex': [
    (stack, wrong) => new ShardMonitoring(stack, 'It').addIndex(index(stack, ShardCounts.uniform(2)), wrong),
    [[{ maxWriteThrottles: Number.NaN }, 'maxWriteThrottles must be a number of at least 0, got NaN']],
  ],
  'ShardMonitoring.addTable': [
    (stack, wrong) => new ShardMonitoring(stack, 'It').addTable(invoiceTable(stack), wrong),
    ['maxWriteThrottles', 'maxReadThrottles'].map((name) => [
      { [name]: -1 },
      `${name} must be a number of at least 0, got -1`,
    ]),
  ],
  'ShardMonitoring.addDaxCluster': [
    (stack, wrong) => new ShardMonitoring(stack, 'It').addDaxCluster(dax(stack, {}) as DaxCluster, wrong),
    ['maxThrottledRequests', 'maxFaults', 'maxCpuUtilizationPercent'].map((name) => [
      { [name]: -1 },
      `${name} must be a number of at least 0, got -1`,
    ]),
  ],
  'ShardMonitoring.addOutbox': [
    (stack, wrong) => new ShardMonitoring(stack, 'It').addOutbox(relay(stack), wrong),
    [[{ maxLag: Duration.seconds(0) }, 'maxLag must be at least 1 second']],
  ],
  'ShardMonitoring.addIndexKeeper': [
    (stack, wrong) => {
      const keeper = IndexKeeper.fromFunctionArn(stack, 'Keeper', 'arn:aws:lambda:eu-west-1:111111111111:function:f');
      return new ShardMonitoring(stack, 'It').addIndexKeeper(keeper, wrong);
    },
    [[{ maxDelay: Duration.seconds(0) }, 'maxDelay must be at least 1 second']],
  ],
  'ShardMonitoring.addDeadLetterQueue': [
    (stack, wrong) => new ShardMonitoring(stack, 'It').addDeadLetterQueue(new Queue(stack, 'Queue'), wrong),
    [[{ maxMessages: -1 }, 'maxMessages must be a number of at least 0, got -1']],
  ],
};

/** Functions that create values that are not constructs, such as shard counts, with the invalid properties of a case. */
const VALUES: typeof CONSTRUCTS = {
  'ItemVersion.attribute': [
    (_, { name }: { name?: string }) => ItemVersion.attribute(name!),
    [
      [{ name: '' }, 'must be'],
      [{ name: 7 }, 'must be'],
    ],
  ],
  'KeyspacesCapacity.autoscaled': [
    (_, wrong) => KeyspacesCapacity.autoscaled({ maxCapacity: 5, ...wrong }),
    [
      [{ minCapacity: 9 }, 'minCapacity must be at most maxCapacity'],
      [{ targetUtilizationPercent: 95 }, 'targetUtilizationPercent must be a number from 20 to 90, got 95'],
    ],
  ],
  'KeyspacesCapacity.constant': [
    (_, { capacityUnits }: { capacityUnits?: number }) => KeyspacesCapacity.constant(capacityUnits!),
    [[{ capacityUnits: 0 }, 'capacityUnits must be a whole number of at least 1, got 0']],
  ],
};

describe.each([...Object.entries(CONSTRUCTS), ...Object.entries(VALUES)])('%s', (name, [build, cases]) => {
  test.each(cases)('with the wrong value %p – fails with an error that names the property – %s', (wrong, error) => {
    const act = () => build(new Stack(new App(), 'EvenShards'), wrong);
    expect(act).toThrow(InvalidArgumentError);
    expect(act).toThrow(error);
    if (name in CONSTRUCTS) expect(act).toThrow(/^\[INVALID_\w+\] EvenShards\/[\w/]+: /);
  });
});
