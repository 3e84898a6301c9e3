import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import type { Kinesis } from '@aws-sdk/client-kinesis';
import { DynamoDbParkingStore } from '../../lib/core/consumer/dynamodb-parking-store';
import { METRICS_NAMESPACE, SHARD_COUNT_METRICS } from '../../lib/core/foundation/function-metrics';
import { listOpenShards } from '../../lib/core/resharding/open-shards';
import { findStrays } from '../../lib/core/sharded-index/strays/find-strays';
import { listOf, type Properties } from '../../lib/deployed/template';
import { streamState, tableState } from '../deployed-stack/resource-state';
import { shardingOfNow } from '../deployed-stack/sharding-of-now';
import type {
  DeployedResource,
  DeployedSharding,
  DeployedStream,
  StackResources,
} from '../deployed-stack/stack-resources';
import { type MetricReader, type MinuteMetric, peakPerSecond, total } from './metrics';
import type {
  ConsumerObservation,
  IndexObservation,
  Observations,
  ShardLoad,
  StreamObservation,
  TableObservation,
} from './observations';

/** The clients that the doctor asks. It changes nothing. */
interface DoctorClients {
  readonly kinesis: Kinesis;
  readonly dynamodb: DynamoDB;
}

/** The traffic, as far as it was measured. */
export interface Measured {
  /** Whether streams are emulated. An emulator does not encrypt, so the template counts. */
  readonly isEmulated: boolean;
  stream(stream: DeployedStream, shardIds: readonly string[]): Promise<MeasuredStream>;
  index(sharding: DeployedSharding): Promise<MeasuredIndex>;
}

type MeasuredStream = Pick<StreamObservation, 'peak' | 'throttled' | 'shardLoads' | 'iteratorAgeHours'>;
type MeasuredIndex = Pick<IndexObservation, 'throttled' | 'peakWriteUnits' | 'entries' | 'valuesAtMaximum'>;

interface DoctorOptions {
  /** Whether to read every item of the tables, too, to find those that no query finds. */
  readonly scan: boolean;
  /** The endpoint of the tables, if they are not in the account. */
  readonly endpoint: string | undefined;
  onProgress(line: string): void;
}

/** Looks at everything of a stack. */
export async function observe(
  { streams, tables, shardings, consumers }: StackResources,
  clients: DoctorClients,
  measured: Measured,
  { scan, endpoint, onProgress }: DoctorOptions,
): Promise<Observations> {
  const seen: { -readonly [K in keyof Observations]: Observations[K][number][] } = {
    streams: [],
    indexes: [],
    tables: [],
    consumers: [],
  };
  for (const stream of streams) {
    onProgress(`looking at ${stream.path}`);
    seen.streams.push(await streamOf(stream, clients, measured));
  }
  for (const sharding of shardings) {
    onProgress(`looking at ${sharding.path}`);
    seen.indexes.push(await indexOf(sharding, clients, measured, scan));
  }
  seen.tables.push(...tables.map(tableOf));
  for (const { path, tableName, consumer } of consumers) {
    const counts = await consumerOf(clients.dynamodb, { path, tableName, consumer });
    seen.consumers.push({ ...counts, ...(endpoint !== undefined && { endpoint }) });
  }
  return seen;
}

async function streamOf(
  stream: DeployedStream,
  clients: DoctorClients,
  measured: Measured,
): Promise<StreamObservation> {
  const { path, name, properties } = stream;
  const openShards = await listOpenShards(clients.kinesis, name);
  const { stream: state } = await streamState(clients, name);
  return {
    path,
    openShards,
    ...(typeof properties.ShardCount === 'number' && { declaredShardCount: properties.ShardCount }),
    isProvisioned: state?.StreamModeDetails?.StreamMode !== 'ON_DEMAND',
    isEncrypted: measured.isEmulated ? 'StreamEncryption' in properties : state?.EncryptionType === 'KMS',
    retentionHours: state?.RetentionPeriodHours ?? 24,
    ...(await measured.stream(
      stream,
      openShards.map(({ shardId }) => shardId),
    )),
  };
}

async function indexOf(
  sharding: DeployedSharding,
  { dynamodb }: DoctorClients,
  measured: Measured,
  scan: boolean,
): Promise<IndexObservation> {
  const { path, config } = sharding;
  const { table } = await tableState({ dynamodb }, config.tableName);
  const index = table?.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === config.indexName);
  return {
    path,
    config,
    ...(index?.IndexStatus !== undefined && { status: index.IndexStatus }),
    ...(scan && { hiddenItems: await hiddenItems(dynamodb, sharding) }),
    ...(await measured.index(sharding)),
  };
}

/** Reads the whole table, as slowly as it answers. */
async function hiddenItems(dynamodb: DynamoDB, { config }: DeployedSharding): Promise<number> {
  const index = await shardingOfNow(dynamodb, config);
  const { hidden } = await findStrays(dynamodb, await index.forWriting());
  return hidden;
}

function tableOf({ path, properties }: DeployedResource): TableObservation {
  const own = [properties, ...listOf<Properties>(properties.Replicas)].map(
    ({ PointInTimeRecoverySpecification }) => PointInTimeRecoverySpecification as Properties | undefined,
  );
  return { path, hasRecovery: own.some((recovery) => recovery?.PointInTimeRecoveryEnabled === true) };
}

async function consumerOf(
  dynamodb: DynamoDB,
  { path, tableName, consumer }: StackResources['consumers'][number],
): Promise<ConsumerObservation> {
  let [parkedKeys, deadKeys] = [0, 0];
  for await (const { dead } of new DynamoDbParkingStore(dynamodb, { tableName, consumer }).parked()) {
    parkedKeys += 1;
    if (dead) deadKeys += 1;
  }
  return { path, tableName, consumer, parkedKeys, deadKeys };
}

/** What CloudWatch has measured. */
export function measuredByCloudWatch(metrics: MetricReader): Measured {
  return {
    isEmulated: false,
    stream: (stream, shardIds) => streamMeasured(metrics, stream, shardIds),
    index: (sharding) => indexMeasured(metrics, sharding),
  };
}

async function streamMeasured(
  metrics: MetricReader,
  { name, properties }: DeployedStream,
  shardIds: readonly string[],
): Promise<MeasuredStream> {
  const ofStream = (metric: string, statistic: MinuteMetric['statistic'] = 'Sum', shard = {}): MinuteMetric => ({
    namespace: 'AWS/Kinesis',
    name: metric,
    dimensions: { StreamName: name, ...shard },
    statistic,
  });
  const [records = [], bytes = [], refused = [], ages = []] = await metrics.read([
    ofStream('IncomingRecords'),
    ofStream('IncomingBytes'),
    ofStream('WriteProvisionedThroughputExceeded'),
    ofStream('GetRecords.IteratorAgeMilliseconds', 'Maximum'),
  ]);
  const level = listOf<string>(properties.DesiredShardLevelMetrics);
  const isMeasured = (metric: string) => level.includes(metric) || level.includes('ALL');
  const shards = isMeasured('IncomingRecords')
    ? await metrics.read(
        shardIds.flatMap((ShardId) => [
          ofStream('IncomingRecords', 'Sum', { ShardId }),
          ofStream('WriteProvisionedThroughputExceeded', 'Sum', { ShardId }),
        ]),
      )
    : undefined;
  return {
    peak: { recordsPerSecond: peakPerSecond(records), bytesPerSecond: peakPerSecond(bytes) },
    throttled: total(refused),
    iteratorAgeHours: Math.max(0, ...ages) / 3_600_000,
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
  const ofIndex = (name: string): MinuteMetric => ({
    namespace: 'AWS/DynamoDB',
    name,
    dimensions: { TableName: tableName, ...(indexName !== undefined && { GlobalSecondaryIndexName: indexName }) },
    statistic: 'Sum',
  });
  const atMaximum: MinuteMetric = {
    namespace: METRICS_NAMESPACE,
    name: SHARD_COUNT_METRICS.valuesAtMaximum,
    dimensions: { TableName: tableName, IndexName: indexName ?? '' },
    statistic: 'Maximum',
  };
  const [refused = [], units = [], values = []] = await metrics.read([
    ofIndex('WriteThrottleEvents'),
    ofIndex('ConsumedWriteCapacityUnits'),
    ...(indexName === undefined ? [] : [atMaximum]),
  ]);
  return {
    throttled: total(refused),
    peakWriteUnits: peakPerSecond(units),
    valuesAtMaximum: Math.max(0, ...values),
  };
}
