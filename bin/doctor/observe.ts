import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { listOf, type Properties } from '../../lib/cloudformation/template';
import { DynamoDbParkingStore } from '../../lib/core/consumer/dynamodb-parking-store';
import { pages } from '../../lib/core/kernel/pages';
import { listOpenShards } from '../../lib/core/resharding/open-shards';
import { findStrays } from '../../lib/core/sharded-index/strays/find-strays';
import { streamState } from '../deployed-stack/resource-state';
import { shardingOfNow } from '../deployed-stack/sharding-of-now';
import type {
  DeployedResource,
  DeployedSharding,
  DeployedStream,
  StackResources,
} from '../deployed-stack/stack-resources';
import { scalingOf, withLimits } from './capacity-limits';
import { keeperOf } from './keeper-state';
import type { DoctorClients, DoctorOptions, Look, Measure } from './look';
import { describeTable } from './look';
import {
  type ConsumerObservation,
  type IndexObservation,
  isMissing,
  type Measured,
  type Missing,
  type Observations,
  type StreamObservation,
  type TableObservation,
  unlessDenied,
} from './observations';
import { unshardedKeysOf } from './unsharded-keys';

/** Reads the state of all resources of a stack. */
export async function observe(
  { streams, tables, shardings, consumers, keepers }: StackResources,
  clients: DoctorClients,
  measured: Measured,
  options: DoctorOptions,
): Promise<Observations> {
  const { endpoint, onProgress } = options;
  const seen: { -readonly [K in keyof Observations]: Observations[K][number][] } = {
    streams: [],
    indexes: [],
    tables: [],
    unsharded: [],
    consumers: [],
    keepers: [],
    missing: [],
  };
  const measure: Measure = async (path, noun, actions, read) => {
    const result = await unlessDenied(actions, read);
    if (!isMissing(result)) return result;
    seen.missing.push({ path, noun, ...result });
    return undefined;
  };
  const look: Look = { clients, measured, options, measure };
  const isWithoutLibrary = shardings.length + consumers.length === 0;
  for (const stream of streams) {
    onProgress(`looking at ${stream.path}`);
    seen.streams.push(await streamOf(stream, look));
  }
  for (const sharding of shardings) {
    onProgress(`looking at ${sharding.path}`);
    const { properties } = tables.find(({ name }) => name === sharding.config.tableName)!;
    const index = await indexOf({ ...sharding, properties }, look);
    if (index !== undefined) seen.indexes.push(index);
  }
  for (const table of tables) {
    onProgress(`looking at ${table.path}`);
    const ofTable = shardings.filter(({ config }) => config.tableName === table.name);
    seen.tables.push(await tableOf(table, ofTable.length > 0, look));
    seen.unsharded.push(...(await unshardedKeysOf(table, ofTable, isWithoutLibrary, look)));
  }
  for (const consumer of consumers) {
    const counts = await measure(consumer.path, 'the parked keys', ['dynamodb:Query'], () =>
      consumerOf(clients.dynamodb, consumer),
    );
    if (counts !== undefined) seen.consumers.push({ ...counts, ...(endpoint !== undefined && { endpoint }) });
  }
  for (const keeper of keepers) {
    const state = await measure(keeper.path, 'the state of the keeper', ['dynamodb:GetItem', 'dynamodb:Query'], () =>
      keeperOf(clients.dynamodb, keeper),
    );
    const { path, corrects } = keeper;
    const ofState = state ?? { path, corrects, contested: 0, rejected: 0 };
    seen.keepers.push({ ...ofState, ...(keeper.functionName !== undefined && (await measured.keeper(keeper))) });
  }
  return seen;
}

async function streamOf(stream: DeployedStream, { clients, measured, measure }: Look): Promise<StreamObservation> {
  const { path, name, properties } = stream;
  const openShards =
    (await measure(path, 'the shards of the stream', ['kinesis:ListShards'], () =>
      listOpenShards(clients.kinesis, name),
    )) ?? [];
  const described = await measure(
    path,
    'the mode, the encryption and the retention of the stream',
    ['kinesis:DescribeStreamSummary'],
    () => streamState(clients, name),
  );
  const { StreamARN } = described?.stream ?? {};
  // A local run has no enhanced fan-out.
  const consumers =
    clients.cloudwatch === undefined || StreamARN === undefined
      ? []
      : await measure(path, 'the consumers with enhanced fan-out', CONSUMER_ACTIONS, () =>
          unlessUnknown(() => enhancedConsumers(clients.kinesis, StreamARN)),
        );
  return {
    path,
    openShards,
    ...(typeof properties.ShardCount === 'number' && { declaredShardCount: properties.ShardCount }),
    ...(described && {
      description: {
        isProvisioned: described.stream?.StreamModeDetails?.StreamMode !== 'ON_DEMAND',
        isEncrypted: measured.isEmulated
          ? 'StreamEncryption' in properties
          : described.stream?.EncryptionType === 'KMS',
        retentionHours: described.stream?.RetentionPeriodHours ?? 24,
      },
    }),
    ...(await measured.stream(
      stream,
      openShards.map(({ shardId }) => shardId),
      consumers ?? [],
    )),
  };
}

/** The IAM actions for reading the consumers with enhanced fan-out of a stream. */
export const CONSUMER_ACTIONS = ['kinesis:ListStreamConsumers'] as const;

async function enhancedConsumers(kinesis: DoctorClients['kinesis'], StreamARN: string): Promise<string[]> {
  const names: string[] = [];
  const read = (NextToken: string | undefined) => kinesis.listStreamConsumers({ StreamARN, NextToken });
  for await (const { Consumers = [] } of pages('ListStreamConsumers', read, ({ NextToken }) => NextToken)) {
    names.push(...Consumers.flatMap(({ ConsumerName }) => ConsumerName ?? []));
  }
  return names;
}

async function indexOf(
  sharding: DeployedSharding & Pick<DeployedResource, 'properties'>,
  look: Look,
): Promise<IndexObservation | undefined> {
  const { path, config, keeper } = sharding;
  const { clients, measured, options, measure } = look;
  const described = await describeTable(look, path, config.tableName);
  if (described === undefined) return undefined;
  const { table } = described;
  const index = table?.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === config.indexName);
  const { throughput, ...traffic } = await measured.index(sharding);
  return {
    path,
    config,
    ...(keeper && { keeper }),
    ...(index?.IndexStatus !== undefined && { status: index.IndexStatus }),
    ...(options.scan &&
      (await measure(path, 'the items that no query finds', ['dynamodb:Scan', 'dynamodb:Query'], () =>
        hiddenItems(clients.dynamodb, sharding),
      ))),
    ...traffic,
    throughput: withLimits(
      throughput,
      config.indexName === undefined ? table : index,
      scalingOf(sharding.properties, config.indexName),
    ),
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
  { path, name, properties, template }: DeployedResource,
  isSharded: boolean,
  { clients: { dynamodb, cloudwatch }, measure }: Look,
): Promise<TableObservation> {
  if (template === undefined) {
    // A local run has no backups.
    if (cloudwatch === undefined) return { path, isSharded };
    const recovery = await measure(path, 'point-in-time recovery', RECOVERY_ACTIONS, () => recoveryOf(dynamodb, name));
    return { path, isSharded, ...recovery };
  }
  const own = [properties, ...listOf<Properties>(properties.Replicas)].map(
    ({ PointInTimeRecoverySpecification }) => PointInTimeRecoverySpecification as Properties | undefined,
  );
  return { path, isSharded, hasRecovery: own.some((recovery) => recovery?.PointInTimeRecoveryEnabled === true) };
}

/** The IAM actions for reading whether a table has point-in-time recovery. */
export const RECOVERY_ACTIONS = ['dynamodb:DescribeContinuousBackups'] as const;

async function recoveryOf(
  dynamodb: DynamoDB,
  TableName: string,
): Promise<Pick<TableObservation, 'hasRecovery'> | Missing> {
  return unlessUnknown(async () => {
    const { ContinuousBackupsDescription } = await dynamodb.describeContinuousBackups({ TableName });
    const { PointInTimeRecoveryStatus } = ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {};
    return { hasRecovery: PointInTimeRecoveryStatus === 'ENABLED' };
  });
}

/** The result of a request. If the endpoint is an emulator without this request, the reason why there is no result. */
async function unlessUnknown<T extends object>(request: () => Promise<T>): Promise<T | Missing> {
  try {
    return await request();
  } catch (error) {
    if ((error as Error).name !== 'UnknownOperationException') throw error;
    return { why: 'the endpoint is an emulator without it', change: 'run doctor for the account' };
  }
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
