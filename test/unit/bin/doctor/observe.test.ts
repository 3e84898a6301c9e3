import type { TableDescription } from '@aws-sdk/client-dynamodb';
import type { StackResources } from '../../../../bin/deployed-stack/stack-resources';
import { diagnose } from '../../../../bin/doctor/diagnose';
import type { Diagnosis } from '../../../../bin/doctor/diagnosis';
import { measuredByCloudWatch } from '../../../../bin/doctor/measured-by-cloudwatch';
import { metricReader } from '../../../../bin/doctor/metrics';
import { observe } from '../../../../bin/doctor/observe';
import type { ShardedTableConfig } from '../../../../lib/core';
import { FakeCloudWatch } from '../../../../lib/testing';
import { indexConfig } from '../../../support/index-config';

/** doctor reads the metrics and the description of a table and its index, and reports the causes of throttling. */

const MINUTE_MS = 60_000;
const NOW_MS = Date.UTC(2026, 10, 26);

const config = indexConfig({ tableName: 'Orders', shards: { default: { write: 4, read: 4 } } });
const OF_TABLE = { TableName: 'Orders' };
const OF_INDEX = { TableName: 'Orders', GlobalSecondaryIndexName: config.indexName! };
const TABLE = { path: 'Shop/Table', name: 'Orders', aliases: [], properties: {} };

type Dimensions = Readonly<Record<string, string>>;

function measurements(...sums: readonly (readonly [string, Dimensions, number])[]): FakeCloudWatch {
  const cloudWatch = new FakeCloudWatch();
  for (const [MetricName, dimensions, Value] of sums) {
    const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
    cloudWatch.putMetricData({
      Namespace: 'AWS/DynamoDB',
      MetricName,
      Dimensions,
      Value,
      atMs: NOW_MS - 5 * MINUTE_MS,
    });
  }
  return cloudWatch;
}

const IDLE = [
  ['ConsumedWriteCapacityUnits', OF_TABLE, 60_000],
  ['ConsumedWriteCapacityUnits', OF_INDEX, 180_000],
] as const;

async function found(
  cloudWatch: FakeCloudWatch,
  described: Partial<TableDescription> = {},
  shardings: StackResources['shardings'] = [{ path: 'Shop/Table/byStatus', config }],
  properties = {},
  /** In an account: the response to DescribeContinuousBackups. */
  recovery?: () => Promise<object>,
) {
  const Table = { GlobalSecondaryIndexes: [{ IndexName: config.indexName, IndexStatus: 'ACTIVE' }], ...described };
  const dynamodb = { describeTable: async () => ({ Table }), describeContinuousBackups: recovery } as never;
  const metrics = metricReader(cloudWatch as never, 3, NOW_MS);
  const seen = await observe(
    { streams: [], consumers: [], keepers: [], tables: [{ ...TABLE, properties }], shardings },
    { kinesis: undefined as never, dynamodb, ...(recovery && { cloudwatch: {} as never }) },
    measuredByCloudWatch(metrics),
    { scan: false, endpoint: undefined, hours: 3, onProgress: () => {} },
  );
  return diagnose(seen, { showKeys: false, language: 'typescript' });
}

/** Source: the DynamoDB developer guide, "Diagnosing throttling", the table of reasons and metrics. */
const METRICS = [
  ['ProvisionedThroughputThrottleEvents', 'provisioned'],
  ['KeyRangeThroughputThrottleEvents', 'keyRange'],
  ['MaxOnDemandThroughputThrottleEvents', 'onDemandMaximum'],
  ['AccountLimitThrottleEvents', 'accountLimit'],
] as const;

const REASONS = METRICS.flatMap(([suffix, cause]) =>
  (['Read', 'Write'] as const).flatMap((operation) => [
    [`${operation}${suffix}`, 'Shop/Table', cause, operation, OF_TABLE] as const,
    [`${operation}${suffix}`, 'Shop/Table/byStatus', cause, operation, OF_INDEX] as const,
  ]),
);

test.each(REASONS)('doctor reports, for %s of %s, the cause %s', async (name, path, cause, operation, of) => {
  const throttled = await found(measurements(...IDLE, [name, of, 9], [`${operation}ThrottleEvents`, of, 9]));
  expect(throttled).toEqual([
    expect.objectContaining({ path, throttling: { operation: operation.toLowerCase(), cause, events: 9 } }),
  ]);
});

test('doctor – an index reaches the account quota for its table – reports the cause, although only the table has the metric', async () => {
  const throttled = await found(
    measurements(
      ...IDLE,
      ['WriteThrottleEvents', OF_INDEX, 9],
      ['WriteThrottleEvents', OF_TABLE, 20],
      ['WriteAccountLimitThrottleEvents', OF_TABLE, 20],
    ),
  );
  expect(throttled.map(({ id, path, throttling }) => [id, path, throttling!.events])).toEqual([
    ['accountLimit', 'Shop/Table/byStatus', 9],
    ['accountLimit', 'Shop/Table', 20],
  ]);
});

test('doctor – an index and its table have separate limits – advises a change of each limit', async () => {
  const throttles = (name: string) => [[name, OF_TABLE, 5] as const, [name, OF_INDEX, 5] as const];
  const byStatus = { IndexName: config.indexName, IndexStatus: 'ACTIVE' } as const;
  const provisioned = await found(measurements(...IDLE, ...throttles('WriteProvisionedThroughputThrottleEvents')), {
    BillingModeSummary: { BillingMode: 'PROVISIONED' },
    ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 4_000 },
    GlobalSecondaryIndexes: [
      { ...byStatus, ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 3_500 } },
    ],
  });
  expect(provisioned.map(({ what }) => what)).toEqual([
    expect.stringContaining('capacity of the index, 3,500 units a second, is used up'),
    expect.stringContaining('capacity of the table, 4,000 units a second, is used up'),
  ]);
  const onDemand = await found(measurements(...IDLE, ...throttles('WriteMaxOnDemandThroughputThrottleEvents')), {
    BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
    ProvisionedThroughput: { ReadCapacityUnits: 0, WriteCapacityUnits: 0 },
    OnDemandThroughput: { MaxReadRequestUnits: -1, MaxWriteRequestUnits: 4_000 },
    GlobalSecondaryIndexes: [
      { ...byStatus, OnDemandThroughput: { MaxReadRequestUnits: -1, MaxWriteRequestUnits: 3_500 } },
    ],
  });
  expect(onDemand.map(({ what }) => what)).toEqual([
    expect.stringContaining('the index has reached its maxWriteRequestUnits of 3,500'),
    expect.stringContaining('the table has reached its maxWriteRequestUnits of 4,000'),
  ]);
});

test('doctor – capacities with auto scaling – advises a capacity above the maximum of the table or index', async () => {
  const scaled = (operation: 'Read' | 'Write', MaxCapacity: number) => ({
    [`${operation}ProvisionedThroughputSettings`]: { [`${operation}CapacityAutoScalingSettings`]: { MaxCapacity } },
  });
  const IndexName = config.indexName;
  const properties = {
    ...scaled('Write', 9_001),
    GlobalSecondaryIndexes: [{ IndexName, ...scaled('Write', 9_002) }],
    Replicas: [{ ...scaled('Read', 9_003), GlobalSecondaryIndexes: [{ IndexName, ...scaled('Read', 9_004) }] }],
  };
  const ProvisionedThroughput = { ReadCapacityUnits: 5, WriteCapacityUnits: 5 };
  const suffix = 'ProvisionedThroughputThrottleEvents';
  const throttled = await found(
    measurements(
      [`Write${suffix}`, OF_TABLE, 4],
      [`Write${suffix}`, OF_INDEX, 3],
      [`Read${suffix}`, OF_TABLE, 2],
      [`Read${suffix}`, OF_INDEX, 1],
    ),
    { ProvisionedThroughput, GlobalSecondaryIndexes: [{ IndexName, ProvisionedThroughput }] },
    undefined,
    properties,
  );
  const advised = throttled.map(({ change }) => Number(/maxCapacity: (\d+)/.exec(change)![1]));
  expect(advised).toEqual([9_002, 9_004, 9_001, 9_003]);
});

test('doctor – throttled writes of a table that is sharded by its own key – reports the throttling once, as too few shards', async () => {
  const { indexName: _, ...ofTable } = config;
  const cloudWatch = measurements(...IDLE, ['WriteKeyRangeThroughputThrottleEvents', OF_TABLE, 9]);
  const throttled = await found(cloudWatch, {}, [{ path: 'Shop/Table', config: ofTable as ShardedTableConfig }]);
  expect(throttled.map(({ id, path }) => [id, path])).toEqual([['tooFewShards', 'Shop/Table']]);
});

test('doctor – the table and the index have no metrics – reports both as not measured', async () => {
  expect((await found(measurements())).map(({ id, path }) => `${id} ${path}`)).toEqual([
    'notMeasured Shop/Table/byStatus',
    'notMeasured Shop/Table',
  ]);
});

const failsWith = (name: string) => () => Promise.reject(Object.assign(new Error('refused'), { name }));

describe('doctor – a stream with enhanced fan-out', () => {
  const OF_STREAM = { Name: 'StreamName', Value: 'events' };
  const StreamDescriptionSummary = { StreamARN: 'arn:of:events', RetentionPeriodHours: 24 };
  const pagesOfConsumers: Record<string, object> = {
    first: { Consumers: [{ ConsumerName: 'audit' }], NextToken: 'more' },
    more: { Consumers: [{ ConsumerName: 'search' }] },
  };
  const listStreamConsumers = async ({ StreamARN, NextToken = 'first' }: { StreamARN: string; NextToken?: string }) => {
    expect(StreamARN).toBe('arn:of:events');
    return pagesOfConsumers[NextToken];
  };

  async function ofStream(client: object): Promise<readonly Diagnosis[]> {
    const cloudWatch = new FakeCloudWatch();
    const put = (MetricName: string, Value: number, more: { Name: string; Value: string }[] = []) =>
      cloudWatch.putMetricData({
        ...{ Namespace: 'AWS/Kinesis', MetricName, Value, Dimensions: [OF_STREAM, ...more] },
        atMs: NOW_MS - 5 * MINUTE_MS,
      });
    put('IncomingRecords', 60_000);
    put('SubscribeToShardEvent.MillisBehindLatest', 1_000, [{ Name: 'ConsumerName', Value: 'audit' }]);
    put('SubscribeToShardEvent.MillisBehindLatest', 15 * 60 * MINUTE_MS, [{ Name: 'ConsumerName', Value: 'search' }]);
    const kinesis = {
      listShards: async () => ({ Shards: [] }),
      describeStreamSummary: async () => ({ StreamDescriptionSummary }),
      ...client,
    };
    const seen = await observe(
      {
        ...{ consumers: [], keepers: [], tables: [], shardings: [] },
        streams: [{ path: 'Shop/Events', name: 'events', aliases: [], properties: {} }],
      },
      { kinesis: kinesis as never, dynamodb: undefined as never, cloudwatch: {} as never },
      measuredByCloudWatch(metricReader(cloudWatch as never, 3, NOW_MS)),
      { scan: false, endpoint: undefined, hours: 3, onProgress: () => {} },
    );
    return diagnose(seen, { showKeys: false, language: 'typescript' });
  }

  test('reports a consumer that is behind, although the metrics of the stream leave it out', async () => {
    const [behind] = await ofStream({ listStreamConsumers });
    expect(behind).toMatchObject({ id: 'consumerBehind', weight: 'loss' });
    expect(behind!.what).toContain('a consumer reads records that are 15 hours old');
  });

  test.each([
    ['the permission to list them', 'AccessDeniedException', 'access denied: refused'],
    ['an endpoint that lists them', 'UnknownOperationException', 'the endpoint is an emulator without it'],
  ])('reports the consumers as not measured without %s', async (_, name, why) => {
    const seen = await ofStream({ listStreamConsumers: failsWith(name) });
    expect(seen.map(({ id, what }) => [id, what])).toContainEqual([
      'notMeasured',
      `the consumers with enhanced fan-out: ${why}`,
    ]);
  });
});

describe('doctor – an index keeper of a stack', () => {
  const keeper = { path: 'Shop/Keeper', tableName: 'Keeper', corrects: true, functionName: 'keeper' };
  const OF_KEEPER = [{ Name: 'FunctionName', Value: 'keeper' }];
  type Values = Readonly<Record<string, readonly number[]>>;

  /** Measured values of each metric, a minute apart. */
  async function ofKeeper(values: Values, client?: object): Promise<readonly Diagnosis[]> {
    const cloudWatch = new FakeCloudWatch();
    for (const [name, of] of Object.entries({ SweepDue: [0], ...values })) {
      const Namespace = name === 'IteratorAge' ? 'AWS/Lambda' : 'EvenShards';
      of.forEach((Value, n) => {
        const atMs = NOW_MS - (5 + n) * MINUTE_MS;
        cloudWatch.putMetricData({ Namespace, MetricName: name, Dimensions: OF_KEEPER, Value, atMs });
      });
    }
    const dynamodb = { getItem: async () => ({}), query: async () => ({ Items: [] }) } as never;
    const seen = await observe(
      { streams: [], consumers: [], keepers: [keeper], tables: [], shardings: [] },
      { kinesis: undefined as never, dynamodb },
      measuredByCloudWatch(metricReader((client ?? cloudWatch) as never, 3, NOW_MS)),
      { scan: false, endpoint: undefined, hours: 3, onProgress: () => {} },
    );
    return diagnose(seen, { showKeys: false, language: 'typescript' });
  }

  test.each<[string, Values, string[]]>([
    ['that has short delays', { CorrectionDelay: [59_999, 59_999, 59_999], IteratorAge: [60_000, 60_000] }, []],
    ['whose batches are late in three minutes', { CorrectionDelay: [60_000, 61_000, 90_000] }, ['keeperBehind']],
    ['whose batches fail', { CorrectionDelay: [1], IteratorAge: [60_000, 60_000, 60_000] }, ['keeperBehind']],
    ['that finds items that it cannot keep', { ItemsNotKept: [0, 2] }, ['itemsNotKept']],
    ['without a scheduled run that has succeeded', { SweepDue: [] }, ['notMeasured']],
  ])('%s – reports the findings of its metrics', async (_, values, ids) => {
    expect((await ofKeeper(values)).map(({ id }) => id)).toEqual(ids);
  });

  test('that is late – reports for how long changed items have waited', async () => {
    const [late] = await ofKeeper({ CorrectionDelay: [60_000, 61_000, 90_000], IteratorAge: [7_200_000] });
    expect(late!.what).toContain('for a minute or more in 3 minutes and at most for 7,200 seconds');
  });

  test('without the permission to read metrics – reports the keeper as not measured', async () => {
    const getMetricData = failsWith('AccessDeniedException');
    const [denied, ...more] = await ofKeeper({}, { getMetricData });
    expect(denied).toMatchObject({ id: 'notMeasured', path: 'Shop/Keeper' });
    expect(more).toEqual([]);
  });
});

const recoveryOf = (PointInTimeRecoveryStatus: string) => async () => ({
  ContinuousBackupsDescription: { PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus } },
});

test.each([
  ['with recovery', recoveryOf('ENABLED'), []],
  ['without recovery', recoveryOf('DISABLED'), ['noRecovery']],
  ['without the permission', failsWith('AccessDeniedException'), ['notMeasured']],
  ['of an emulator that has no recovery', failsWith('UnknownOperationException'), ['notMeasured']],
])('doctor reads the point-in-time recovery of a named table %s', async (_, recovery, ids) => {
  const ofTable = await found(measurements(...IDLE), {}, undefined, {}, recovery);
  expect(ofTable.map(({ id }) => id)).toEqual(ids);
});
