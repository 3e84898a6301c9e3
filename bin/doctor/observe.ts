import type { DynamoDB, TableDescription } from '@aws-sdk/client-dynamodb';
import type { Kinesis } from '@aws-sdk/client-kinesis';
import { listOf, type Properties } from '../../lib/cloudformation/template';
import type { ThrottledOperation } from '../../lib/core/aws-client/throttle-causes';
import { DynamoDbParkingStore } from '../../lib/core/consumer/dynamodb-parking-store';
import { listOpenShards } from '../../lib/core/resharding/open-shards';
import { findStrays } from '../../lib/core/sharded-index/strays/find-strays';
import { streamState, tableState } from '../deployed-stack/resource-state';
import { shardingOfNow } from '../deployed-stack/sharding-of-now';
import type {
  DeployedResource,
  DeployedSharding,
  DeployedStream,
  StackResources,
} from '../deployed-stack/stack-resources';
import type {
  ConsumerObservation,
  IndexObservation,
  Measured,
  Observations,
  StreamObservation,
  TableObservation,
  Throughput,
} from './observations';

/** The clients of the doctor. The doctor only reads. */
interface DoctorClients {
  readonly kinesis: Kinesis;
  readonly dynamodb: DynamoDB;
}

interface DoctorOptions {
  /** Whether to read all items of the tables, to find items that no query returns. */
  readonly scan: boolean;
  /** The endpoint of the tables, if they are not in the account. */
  readonly endpoint: string | undefined;
  onProgress(line: string): void;
}

/** Reads the state of all resources of a stack. */
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
    const { properties } = tables.find(({ name }) => name === sharding.config.tableName)!;
    seen.indexes.push(await indexOf({ ...sharding, properties }, clients, measured, scan));
  }
  for (const table of tables) {
    onProgress(`looking at ${table.path}`);
    seen.tables.push(await tableOf(table, shardings, clients, measured));
  }
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
  sharding: DeployedSharding & Pick<DeployedResource, 'properties'>,
  { dynamodb }: DoctorClients,
  measured: Measured,
  scan: boolean,
): Promise<IndexObservation> {
  const { path, config } = sharding;
  const { table } = await tableState({ dynamodb }, config.tableName);
  const index = table?.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === config.indexName);
  const { throughput, ...traffic } = await measured.index(sharding);
  return {
    path,
    config,
    ...(index?.IndexStatus !== undefined && { status: index.IndexStatus }),
    ...(scan && (await hiddenItems(dynamodb, sharding))),
    ...traffic,
    throughput: withLimits(
      throughput,
      config.indexName === undefined ? table : index,
      scalingOf(sharding.properties, config.indexName),
    ),
  };
}

interface Scaling {
  readonly writes: number | undefined;
  readonly reads: number | undefined;
}

/** The maximum capacity of auto scaling in the template. Each replica has a separate maximum for reads. */
function scalingOf(properties: Properties, indexName?: string): Scaling {
  const own = (of: Properties): Properties[] =>
    indexName === undefined
      ? [of]
      : listOf<Properties>(of.GlobalSecondaryIndexes).filter(({ IndexName }) => IndexName === indexName);
  const most = (all: readonly Properties[], operation: ThrottledOperation) => {
    const capacities = all.map((each) => {
      const { [`${operation}CapacityAutoScalingSettings`]: settings } = Object(
        each[`${operation}ProvisionedThroughputSettings`],
      );
      return Object(settings).MaxCapacity as unknown;
    });
    const numbers = capacities.filter((capacity) => typeof capacity === 'number');
    return numbers.length === 0 ? undefined : Math.max(...numbers);
  };
  return {
    writes: most(own(properties), 'Write'),
    reads: most(listOf<Properties>(properties.Replicas).flatMap(own), 'Read'),
  };
}

/** Adds the capacity limits that the user has set. DynamoDB describes the limits of tables and indexes in the same form. */
function withLimits(
  { isMeasured, writes, reads }: Throughput,
  described: Pick<TableDescription, 'ProvisionedThroughput' | 'OnDemandThroughput'> | undefined,
  scaling: Scaling,
): Throughput {
  const { ReadCapacityUnits, WriteCapacityUnits } = described?.ProvisionedThroughput ?? {};
  const { MaxReadRequestUnits, MaxWriteRequestUnits } = described?.OnDemandThroughput ?? {};
  const limits = (provisioned = 0, maximum = 0, scalesTo: number | undefined) => ({
    // An on-demand table has no provisioned units. If the user sets no maximum, DynamoDB reports -1.
    ...(provisioned > 0 && { provisioned, ...(scalesTo !== undefined && { scalesTo }) }),
    ...(maximum > 0 && { maximum }),
  });
  return {
    isMeasured,
    writes: { ...writes, ...limits(WriteCapacityUnits, MaxWriteRequestUnits, scaling.writes) },
    reads: { ...reads, ...limits(ReadCapacityUnits, MaxReadRequestUnits, scaling.reads) },
  };
}

/** Reads the whole table, one page at a time. */
async function hiddenItems(
  dynamodb: DynamoDB,
  { config }: DeployedSharding,
): Promise<Pick<IndexObservation, 'hiddenItems' | 'unsortedItems'>> {
  const index = await shardingOfNow(dynamodb, config);
  const { hidden, strays } = await findStrays(dynamodb, await index.forWriting());
  return { hiddenItems: hidden - strays.noSortKey, unsortedItems: strays.noSortKey };
}

async function tableOf(
  { path, name, properties }: DeployedResource,
  shardings: StackResources['shardings'],
  clients: DoctorClients,
  measured: Measured,
): Promise<TableObservation> {
  const own = [properties, ...listOf<Properties>(properties.Replicas)].map(
    ({ PointInTimeRecoverySpecification }) => PointInTimeRecoverySpecification as Properties | undefined,
  );
  const ofTable = shardings.filter(({ config }) => config.tableName === name);
  const isKeySharded = ofTable.some(({ config }) => config.indexName === undefined);
  const throughput = isKeySharded ? undefined : await measured.table({ path, name });
  return {
    path,
    hasRecovery: own.some((recovery) => recovery?.PointInTimeRecoveryEnabled === true),
    hasShardedIndexes: ofTable.some(({ config }) => config.indexName !== undefined),
    ...(throughput && {
      throughput: withLimits(throughput, (await tableState(clients, name)).table, scalingOf(properties)),
    }),
  };
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
