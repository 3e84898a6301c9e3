import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Duration, Stack } from 'aws-cdk-lib';
import type { MathExpression, Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import type { IConstruct } from 'constructs';
import { queryMetrics as keyspacesQueryMetrics } from '../../../lambda/keyspaces-query-fanout/query-metrics';
import { cacheHitMetrics, queryMetrics as fanOutQueryMetrics } from '../../../lambda/query-fanout/query-metrics';
import {
  AdaptiveShardCountController,
  CqlType,
  FanOutQueryFunction,
  IndexItemMover,
  IndexKeeper,
  KeyspacesFanOutQueryFunction,
  OrderedProducerFunction,
  OutboxRelayFunction,
  ShardCounts,
  ShardedIndex,
  ShardedKeyspacesTable,
  ShardedTable,
  StreamShardMetrics,
  UniformStream,
} from '../../../lib';
import type { MetricFamily } from '../../../lib/construct/metric-definition';
import {
  KEEPER_METRICS,
  OUTBOX_METRICS,
  PRODUCER_METRICS,
  RESHARDING_METRICS,
  SHARD_COUNT_METRICS,
  STREAM_SHARD_METRICS,
} from '../../../lib/core/contract/function-metrics';
import { QUERY_FUNCTION_METRICS } from '../../../lib/function/query-function';
import { SHARD_METRICS } from '../../../lib/monitoring/stream-shard-metrics';
import { OUTBOX_RELAY_METRICS } from '../../../lib/outbox/outbox-relay-metrics';
import { ORDERED_PRODUCER_METRICS } from '../../../lib/stream/producer/producer-metrics';
import { SHARDS_OF_STREAM_METRICS } from '../../../lib/stream/stream-metrics';
import {
  ADAPTIVE_COUNT_METRICS,
  FAN_OUT_QUERY_METRICS,
  INDEX_KEEPER_METRICS,
  ITEM_MOVER_METRICS,
  SHARDED_INDEX_METRICS,
} from '../../../lib/table/table-metrics';
import { RelayStack } from '../../support/stacks/relay-stack';

const LAMBDA = join(__dirname, '..', '..', '..', 'lambda');

const app = new App();
const stack = new Stack(app, 'EvenShards', { env: { account: '111111111111', region: 'eu-west-1' } });
const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
const producer = new OrderedProducerFunction(stack, 'Producer', { stream });
const other = new UniformStream(stack, 'Other', { shardCount: 4 });
const table = new ShardedTable(stack, 'Jobs', { partitionKey: { name: 'jobId', type: AttributeType.STRING } });
const index = table.addShardedIndex({ indexName: 'byTime', shardCounts: ShardCounts.uniform(2) });
const blogs = new ShardedKeyspacesTable(stack, 'Blogs', {
  keyspaceName: 'tracker',
  tableName: 'blogs',
  partitionKey: [{ name: 'day', cqlType: CqlType.DATE }],
  clusteringColumns: [{ name: 'id', cqlType: CqlType.TIMEUUID }],
  shardCounts: ShardCounts.uniform(2),
});

/** The constructs whose functions write metrics, by the folder of each function. */
const WRITERS: Record<string, { construct: IConstruct; dimensions: string[]; writes: string[]; family: MetricFamily }> =
  {
    producer: {
      construct: producer,
      dimensions: ['FunctionName'],
      writes: Object.values(PRODUCER_METRICS),
      family: ORDERED_PRODUCER_METRICS,
    },
    'query-fanout': {
      construct: new FanOutQueryFunction(stack, 'Query', { indexes: [index] }),
      dimensions: ['FunctionName'],
      writes: Object.keys({
        ...cacheHitMetrics(1),
        ...fanOutQueryMetrics({
          items: [{}],
          stats: {
            shards: 1,
            requests: 1,
            waves: 1,
            itemsRead: 1,
            itemsHidden: 0,
            consumedReadUnits: 1,
            throttled: 0,
            hedged: 0,
          },
        }),
      }),
      family: FAN_OUT_QUERY_METRICS,
    },
    'keyspaces-query-fanout': {
      construct: new KeyspacesFanOutQueryFunction(stack, 'KeyspacesQuery', { tables: [blogs] }),
      dimensions: ['FunctionName'],
      writes: Object.keys(
        keyspacesQueryMetrics({
          rows: [{}],
          stats: { shards: 1, requests: 1, waves: 1, rowsRead: 1, throttled: 0, hedged: 0 },
        }),
      ),
      family: QUERY_FUNCTION_METRICS,
    },
    'outbox-relay': {
      construct: new RelayStack(app).relay,
      dimensions: ['FunctionName'],
      writes: Object.values(OUTBOX_METRICS),
      family: OUTBOX_RELAY_METRICS,
    },
    'item-mover': {
      construct: new IndexItemMover(stack, 'Resharding', { index, readUnitsPerSecond: 100, writeUnitsPerSecond: 50 }),
      dimensions: ['TableName', 'IndexName'],
      writes: Object.values(RESHARDING_METRICS),
      family: ITEM_MOVER_METRICS,
    },
    'adaptive-shard-count-controller': {
      construct: new AdaptiveShardCountController(stack, 'Controller', {
        index: table.addShardedIndex({ indexName: 'byHour', shardCounts: ShardCounts.adaptive() }),
      }),
      dimensions: ['TableName', 'IndexName'],
      writes: Object.values(SHARD_COUNT_METRICS),
      family: ADAPTIVE_COUNT_METRICS,
    },
    'index-keeper': {
      construct: new IndexKeeper(stack, 'Keeper', { indexes: [index] }),
      dimensions: ['FunctionName'],
      writes: Object.values(KEEPER_METRICS),
      family: INDEX_KEEPER_METRICS,
    },
    'stream-scaler': {
      construct: stream.autoScaleShardCount({ minCapacity: 1, maxCapacity: 8 }),
      dimensions: ['StreamName'],
      writes: streamShardMetricsIn('stream-scaler'),
      family: SHARDS_OF_STREAM_METRICS,
    },
    'stream-reconciler': {
      construct: other.addReconciliation(),
      dimensions: ['StreamName'],
      writes: streamShardMetricsIn('stream-reconciler'),
      family: SHARDS_OF_STREAM_METRICS,
    },
  };

/** The metrics of a table and of a global secondary index. Source: the DynamoDB developer guide, "Metrics and dimensions". */
const OF_AN_INDEX = [
  'ConsumedReadCapacityUnits',
  'ConsumedWriteCapacityUnits',
  'OnlineIndexConsumedWriteCapacity',
  'OnlineIndexPercentageProgress',
  'OnlineIndexThrottleEvents',
  'ProvisionedReadCapacityUnits',
  'ProvisionedWriteCapacityUnits',
  'ReadAccountLimitThrottleEvents',
  'ReadKeyRangeThroughputThrottleEvents',
  'ReadMaxOnDemandThroughputThrottleEvents',
  'ReadProvisionedThroughputThrottleEvents',
  'ReadThrottleEvents',
  'WriteAccountLimitThrottleEvents',
  'WriteKeyRangeThroughputThrottleEvents',
  'WriteMaxOnDemandThroughputThrottleEvents',
  'WriteProvisionedThroughputThrottleEvents',
  'WriteThrottleEvents',
];

/**
 * The shard-level metrics of a stream. Source: the Kinesis developer guide, monitoring with CloudWatch, enhanced
 * shard-level metrics.
 */
const OF_A_SHARD = [
  'IncomingBytes',
  'IncomingRecords',
  'IteratorAgeMilliseconds',
  'OutgoingBytes',
  'OutgoingRecords',
  'ReadProvisionedThroughputExceeded',
  'WriteProvisionedThroughputExceeded',
];

type AnyMetrics = {
  readonly [method: string]: (...parameters: unknown[]) => Metric;
};

const methodsOf = (construct: unknown) => construct as AnyMetrics;

/**
 * The metric names of the methods `metric…` of a construct. Leaves out the names in `computed`, whose methods return an
 * expression over several metrics.
 */
function namesIn(construct: unknown, computed: readonly string[] = []): string[] {
  const names = new Set<string>();
  for (let level = Object.getPrototypeOf(construct); level !== null; level = Object.getPrototypeOf(level)) {
    for (const name of Object.getOwnPropertyNames(level)) names.add(name);
  }
  const metrics = [...names].filter((name) => /^metric[A-Z]/.test(name)).map((name) => name.slice('metric'.length));
  return metrics.filter((name) => !computed.includes(name)).sort();
}

describe.each(Object.entries(WRITERS))('the metrics of lambda/%s', (_, { construct, dimensions, writes }) => {
  test('each metric method has the name of a metric that the function emits', () => {
    expect(writes).toEqual(expect.arrayContaining(namesIn(construct, ['Utilization'])));
  });

  test.each(writes)('metric("%s") has a period of 5 minutes and the region of the construct', (metricName) => {
    const metric = methodsOf(construct).metric!(metricName);
    expect(metric).toMatchObject({ namespace: 'EvenShards', metricName, region: 'eu-west-1' });
    expect(Object.keys(metric.dimensions!)).toEqual(dimensions);
    expect(metric.period.toMinutes()).toBe(5);
  });

  test('metric() accepts another statistic and another period', () => {
    const props: MetricOptions = { statistic: 'Maximum', period: Duration.minutes(1) };
    const [metricName] = writes;
    const metric = methodsOf(construct).metric!(metricName, props);
    expect(metric).toMatchObject({ metricName, statistic: 'Maximum' });
    expect(metric.period.toMinutes()).toBe(1);
  });

  test('metric() with an unknown name returns a metric with the statistic Average', () => {
    expect(methodsOf(construct).metric!('Unknown').statistic).toBe('Average');
  });
});

describe.each(Object.entries(WRITERS))(
  'the definitions of lambda/%s',
  (_, { construct, dimensions, writes, family }) => {
    const { namespace, metrics } = family;

    test('have the namespace, the dimensions and the metrics that the function emits', () => {
      expect({ namespace, dimensions: family.dimensions }).toEqual({ namespace: 'EvenShards', dimensions });
      expect(Object.keys(metrics)).toEqual(expect.arrayContaining(writes));
    });

    test.each(Object.keys(metrics))('contain only metrics that a function emits: %s', (metricName) => {
      const writers = Object.values(WRITERS).filter((writer) => writer.family === family);
      expect(writers.flatMap((writer) => writer.writes)).toContain(metricName);
    });

    test.each(Object.entries(metrics))('contain the statistic that metric("%s") has', (metricName, { statistic }) => {
      expect(methodsOf(construct).metric!(metricName).statistic).toBe(statistic);
    });

    test.each(namesIn(construct, ['Utilization']))(
      'contain the statistic that the method metric%s has',
      (metricName) => {
        expect(methodsOf(construct)[`metric${metricName}`]!('any').statistic).toBe(metrics[metricName]!.statistic);
      },
    );
  },
);

test('metricUserRecordsFailedByReason has the dimension Reason', () => {
  const metric = producer.metricUserRecordsFailedByReason('OUT_OF_TIME');
  expect(metric.statistic).toBe('Sum');
  expect(metric.dimensions).toMatchObject({ FunctionName: expect.anything(), Reason: 'OUT_OF_TIME' });
});

test.each([
  ['producer', OrderedProducerFunction],
  ['query-fanout', FanOutQueryFunction],
  ['keyspaces-query-fanout', KeyspacesFanOutQueryFunction],
  ['outbox-relay', OutboxRelayFunction],
  ['index-keeper', IndexKeeper],
])(
  'an imported construct of lambda/%s has the same metrics as a construct of this app',
  (folder, { fromFunctionArn }) => {
    const functionArn = 'arn:aws:lambda:eu-west-1:111111111111:function:theirs';
    const imported = fromFunctionArn(new Stack(app, `Imported-${folder}`), 'It', functionArn);
    expect(namesIn(imported)).toEqual(namesIn(WRITERS[folder]!.construct));
    expect(imported.metric('Pages').dimensions).toEqual({ FunctionName: 'theirs' });
  },
);

test('no other function emits metrics', () => {
  const folders = readdirSync(LAMBDA, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const writers = folders.map(({ name }) => name).filter((name) => /embedded-metrics'/.test(sourcesOf(name)));
  expect(writers.sort()).toEqual(Object.keys(WRITERS).sort());
});

describe('the metrics of an index', () => {
  test('each metric of DynamoDB has a definition, and an imported index has the same methods', () => {
    const imported = ShardedIndex.fromShardedIndexAttributes({
      table,
      tableKey: ['jobId'],
      indexName: 'byAge',
      shardCounts: ShardCounts.uniform(1),
    });
    expect(Object.keys(SHARDED_INDEX_METRICS.metrics).sort()).toEqual(OF_AN_INDEX);
    expect(OF_AN_INDEX).toEqual(expect.arrayContaining(namesIn(index)));
    expect(namesIn(imported)).toEqual(namesIn(index));
  });

  test.each(OF_AN_INDEX)('metric("%s") has a period of 5 minutes and the dimension of the index', (metricName) => {
    const metric = index.metric(metricName);
    const dimensions = { TableName: table.tableName, GlobalSecondaryIndexName: 'byTime' };
    expect(metric).toMatchObject({ namespace: 'AWS/DynamoDB', metricName, dimensions });
    expect(metric.period.toMinutes()).toBe(5);
  });

  test.each([
    ['Sum', 'WriteThrottleEvents'],
    ['Average', 'ProvisionedWriteCapacityUnits'],
    ['Maximum', 'OnlineIndexPercentageProgress'],
    ['Average', 'Unknown'],
  ])('metric() returns the statistic %s for %s', (statistic, metricName) => {
    expect(index.metric(metricName).statistic).toBe(statistic);
  });

  test.each(namesIn(index))('the method metric%s returns the same metric as metric()', (metricName) => {
    expect(methodsOf(index)[`metric${metricName}`]!().toMetricConfig()).toEqual(
      index.metric(metricName).toMetricConfig(),
    );
  });
});

describe('the metrics of the shards of a stream', () => {
  const shards = StreamShardMetrics.fromStream(stream);

  test('each shard-level metric of Kinesis has a definition, and each method returns one of these metrics', () => {
    expect(Object.keys(SHARD_METRICS.metrics).sort()).toEqual(OF_A_SHARD);
    expect(OF_A_SHARD).toEqual(expect.arrayContaining(namesIn(shards, ['HottestToMeanBytes', 'HottestToMeanRecords'])));
  });

  test.each(OF_A_SHARD)('metric("%s") searches for this metric with a period of 5 minutes', (metricName) => {
    const statistic = metricName === 'IteratorAgeMilliseconds' ? 'Maximum' : 'Sum';
    expect(shards.metric(metricName).expression).toMatch(
      new RegExp(`MetricName="${metricName}" .*, '${statistic}', 300\\)$`),
    );
  });

  test.each(namesIn(shards, ['HottestToMeanBytes', 'HottestToMeanRecords']))(
    'the method metric%s returns the same metric as metric()',
    (metricName) => {
      const method = methodsOf(shards)[`metric${metricName}`] as unknown as () => MathExpression;
      expect(method.call(shards).expression).toBe(shards.metric(metricName).expression);
    },
  );

  test('metric() of an unknown name searches with the statistic Average', () => {
    expect(shards.metric('Unknown').expression).toMatch(/, 'Average', 300\)$/);
  });
});

function streamShardMetricsIn(folder: string): string[] {
  const used = [...sourcesOf(folder).matchAll(/\[STREAM_SHARD_METRICS\.(\w+)\]/g)];
  return used.map(([, key]) => STREAM_SHARD_METRICS[key as keyof typeof STREAM_SHARD_METRICS]);
}

function sourcesOf(folder: string): string {
  const files = readdirSync(join(LAMBDA, folder)).filter((name) => name.endsWith('.ts'));
  return files.map((name) => readFileSync(join(LAMBDA, folder, name), 'utf8')).join('\n');
}
