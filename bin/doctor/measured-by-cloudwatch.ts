import { listOf } from '../../lib/cloudformation/template';
import {
  THROTTLE_CAUSES,
  type ThrottleCause,
  type ThrottledOperation,
  throttleMetric,
} from '../../lib/core/aws-client/throttle-causes';
import {
  FUNCTION_NAME_DIMENSION,
  KEEPER_METRICS,
  METRICS_NAMESPACE,
  SHARD_COUNT_METRICS,
} from '../../lib/core/contract/function-metrics';
import type { DeployedSharding, DeployedStream } from '../deployed-stack/stack-resources';
import { METRIC_ACTIONS, type MetricReader, type MinuteMetric, peakPerSecond, total } from './metrics';
import type {
  Measured,
  MeasuredIndex,
  MeasuredKeeper,
  MeasuredStream,
  ShardLoad,
  Throughput,
  Traffic,
} from './observations';
import { isMissing, type Missing, NO_METRICS, unlessDenied } from './observations';

/** The measurements of CloudWatch. */
export function measuredByCloudWatch(metrics: MetricReader): Measured {
  return {
    isEmulated: false,
    stream: (stream, shardIds, consumers) =>
      orMissing(
        () => streamMeasured(metrics, stream, shardIds, consumers),
        (missing) => ({ missing, throttled: 0 }),
      ),
    index: (sharding) =>
      orMissing(
        () => indexMeasured(metrics, sharding),
        (missing) => ({ throughput: { missing, ...CALM }, valuesAtMaximum: 0 }),
      ),
    table: ({ name }) => throughputOrMissing(metrics, name),
    unshardedIndex: (tableName, indexName) => throughputOrMissing(metrics, tableName, indexName),
    keeper: ({ functionName }) =>
      orMissing(
        () => keeperMeasured(metrics, functionName!),
        (missing) => ({ missing }),
      ),
  };
}

const CALM = { writes: { throttled: 0, byCause: {} }, reads: { throttled: 0, byCause: {} } };

/** The measurement. If the account does not allow to read metrics, a measurement without values. */
async function orMissing<T extends object>(measure: () => Promise<T>, without: (missing: Missing) => T): Promise<T> {
  const measured = await unlessDenied(METRIC_ACTIONS, measure);
  return isMissing(measured) ? without(measured) : measured;
}

function throughputOrMissing(metrics: MetricReader, tableName: string, indexName?: string): Promise<Throughput> {
  return orMissing(
    () => throughputMeasured(metrics, tableName, indexName),
    (missing) => ({ missing, ...CALM }),
  );
}

async function streamMeasured(
  metrics: MetricReader,
  { name, properties }: DeployedStream,
  shardIds: readonly string[],
  consumers: readonly string[],
): Promise<MeasuredStream> {
  const ofStream = (metric: string, statistic: MinuteMetric['statistic'] = 'Sum', part = {}): MinuteMetric => ({
    namespace: 'AWS/Kinesis',
    name: metric,
    dimensions: { StreamName: name, ...part },
    statistic,
  });
  const [records = [], bytes = [], refused = [], ...ages] = await metrics.read([
    ofStream('IncomingRecords'),
    ofStream('IncomingBytes'),
    ofStream('WriteProvisionedThroughputExceeded'),
    // This metric leaves out consumers with enhanced fan-out.
    ofStream('GetRecords.IteratorAgeMilliseconds', 'Maximum'),
    ...consumers.map((ConsumerName) =>
      ofStream('SubscribeToShardEvent.MillisBehindLatest', 'Maximum', { ConsumerName }),
    ),
  ]);
  const level = listOf<string>(properties.DesiredShardLevelMetrics);
  const isShardLevel = level.includes('IncomingRecords') || level.includes('ALL');
  const shards = isShardLevel
    ? await metrics.read(
        shardIds.flatMap((ShardId) => [
          ofStream('IncomingRecords', 'Sum', { ShardId }),
          ofStream('WriteProvisionedThroughputExceeded', 'Sum', { ShardId }),
        ]),
      )
    : undefined;
  const [recordsPerSecond = 0, bytesPerSecond = 0] = [peakPerSecond(records), peakPerSecond(bytes)];
  const isMeasured = records.length + bytes.length + refused.length > 0;
  return {
    ...(isMeasured ? { peak: { recordsPerSecond, bytesPerSecond } } : { missing: NO_METRICS }),
    throttled: total(refused),
    iteratorAgeHours: Math.max(0, ...ages.flat()) / 3_600_000,
    ...(shards && {
      shardLoads: shardIds.map(
        (shardId, n): ShardLoad => ({
          shardId,
          records: total(shards[2 * n]!),
          throttled: total(shards[2 * n + 1]!),
        }),
      ),
    }),
  };
}

async function indexMeasured(
  metrics: MetricReader,
  { config: { tableName, indexName } }: DeployedSharding,
): Promise<MeasuredIndex> {
  const throughput = await throughputMeasured(metrics, tableName, indexName);
  if (indexName === undefined) return { throughput, valuesAtMaximum: 0 };
  const atMaximum: MinuteMetric = {
    namespace: METRICS_NAMESPACE,
    name: SHARD_COUNT_METRICS.valuesAtMaximum,
    dimensions: { TableName: tableName, IndexName: indexName },
    statistic: 'Maximum',
  };
  const [values = []] = await metrics.read([atMaximum]);
  return { throughput, valuesAtMaximum: Math.max(0, ...values) };
}

/** A delay of at least this time is late, as in the alarm of `addIndexKeeper`. */
const LATE_MS = 60_000;

async function keeperMeasured(metrics: MetricReader, functionName: string): Promise<MeasuredKeeper> {
  const ofFunction = (namespace: string, name: string, statistic: MinuteMetric['statistic']): MinuteMetric => ({
    ...{ namespace, name, statistic },
    dimensions: { [FUNCTION_NAME_DIMENSION]: functionName },
  });
  const [delays = [], ages = [], notKept = [], runs = []] = await metrics.read([
    ofFunction(METRICS_NAMESPACE, KEEPER_METRICS.delay, 'Maximum'),
    // A batch that fails has no delay, and Lambda reports the age of its records.
    ofFunction('AWS/Lambda', 'IteratorAge', 'Maximum'),
    ofFunction(METRICS_NAMESPACE, KEEPER_METRICS.notKeptItems, 'Sum'),
    // Each scheduled run that succeeds reports this metric.
    ofFunction(METRICS_NAMESPACE, KEEPER_METRICS.sweepDue, 'Maximum'),
  ]);
  const lateIn = (values: readonly number[]) => values.filter((ms) => ms >= LATE_MS).length;
  return {
    ...(runs.length === 0 && { missing: NO_RUNS }),
    lateMinutes: Math.max(lateIn(delays), lateIn(ages)),
    delaySeconds: Math.max(0, ...delays, ...ages) / 1_000,
    notKept: total(notKept),
  };
}

const NO_RUNS: Missing = {
  why: 'CloudWatch has no value of SweepDue: no scheduled run has succeeded, or the metrics are missing',
  change: 'read the log of the function. If it has no recent lines, check that the schedule of the function is enabled',
};

const CAUSES = Object.keys(THROTTLE_CAUSES) as ThrottleCause[];

/** The traffic of an index, or of a table without its indexes, and the causes of throttles. */
async function throughputMeasured(metrics: MetricReader, tableName: string, indexName?: string): Promise<Throughput> {
  const ofTable = (name: string): MinuteMetric => ({
    namespace: 'AWS/DynamoDB',
    name,
    dimensions: { TableName: tableName },
    statistic: 'Sum',
  });
  const own = (name: string): MinuteMetric => {
    const metric = ofTable(name);
    if (indexName === undefined) return metric;
    return { ...metric, dimensions: { ...metric.dimensions, GlobalSecondaryIndexName: indexName } };
  };
  const measured = async (operation: ThrottledOperation) => {
    const [consumed = [], throttles = [], quota = [], ...causes] = await metrics.read([
      own(`Consumed${operation}CapacityUnits`),
      own(`${operation}ThrottleEvents`),
      // The quota applies to the table and its indexes together. For writes, AWS documents the metric of the quota only by table.
      ofTable(throttleMetric(operation, 'accountLimit')),
      ...CAUSES.map((cause) => own(throttleMetric(operation, cause))),
    ]);
    const byCause = new Map(CAUSES.map((cause, n) => [cause, total(causes[n]!)]));
    const explained = total([...byCause.values()]);
    const throttled = Math.max(total(throttles), explained);
    const ofQuota = Math.min(throttled - explained, total(quota));
    if (byCause.get('accountLimit') === 0) byCause.set('accountLimit', ofQuota);
    const peakUnits = peakPerSecond(consumed);
    const traffic: Traffic = {
      ...(peakUnits !== undefined && { peakUnits }),
      ...(throttled > 0 && {
        peakThrottled: Math.max(...[throttles, ...causes].map((each) => peakPerSecond(each) ?? 0)),
      }),
      throttled,
      byCause: Object.fromEntries([...byCause].filter(([, events]) => events > 0)),
    };
    return { traffic, isMeasured: [consumed, throttles, ...causes].some((values) => values.length > 0) };
  };
  const [writes, reads] = [await measured('Write'), await measured('Read')];
  return {
    ...(!writes.isMeasured && !reads.isMeasured && { missing: NO_METRICS }),
    writes: writes.traffic,
    reads: reads.traffic,
  };
}
