import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { AttributeType, type ITableV2, StreamViewType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as rds from 'aws-cdk-lib/aws-rds';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import {
  AdaptiveShardCountController,
  CqlType,
  DaxCluster,
  FanOutQueryFunction,
  HashKeyRegistry,
  type IAdaptiveShardCountController,
  type IDaxCluster,
  type IFanOutQueryFunction,
  type IHashKeyRegistry,
  type IIndexKeeper,
  type IKeyShardedTable,
  IndexItemMover,
  IndexKeeper,
  type IOrderedProducerFunction,
  type IOutboxRelayFunction,
  type IShardedIndex,
  type IShardedKeyspacesTable,
  type IStreamAutoScaling,
  type IStreamReconciliation,
  type IStreamReshardingProvider,
  ItemVersion,
  type IUniformStream,
  KeyLayout,
  KeyShardedTable,
  KeyspacesFanOutQueryFunction,
  OrderedProducerFunction,
  OrderedStreamConsumer,
  OutboxRelayDatabase,
  OutboxRelayFunction,
  ShardCounts,
  ShardedIndex,
  ShardedKeyspacesTable,
  ShardedTable,
  ShardMonitoring,
  StreamAutoScaling,
  StreamConsumerMetrics,
  StreamReconciliation,
  StreamResharding,
  StreamReshardingProvider,
  TableItemMover,
  UniformStream,
} from '../../../lib';
import { HOME, type Pair, type Partner, pair } from './borders';

type Environment = { account: string; region: string };
const string = (name: string) => ({ name, type: AttributeType.STRING });
const byStatus = (shardCounts: ShardCounts) => ({
  indexName: 'byStatus',
  valueAttribute: string('status'),
  keyLayout: KeyLayout.SINGLE_ATTRIBUTE,
  shardCounts,
});
/** CDK needs a physical name for a resource in another account or Region. */
const arn = (service: string, resource: string, { account, region }: Environment) =>
  `arn:aws:${service}:${region}:${account}:${resource}`;

/** A table in another Region has a replica in the Region of the constructs. */
const replicas = (scope: Construct) => (Stack.of(scope).region === HOME.region ? [] : [{ region: HOME.region }]);

const streams: Partner<IUniformStream> = {
  make: (scope) => new UniformStream(scope, 'Stream', { shardCount: 2, streamName: 'events' }),
  import: (scope, env) => {
    const streamArn = arn('kinesis', 'stream/events', env);
    return UniformStream.fromUniformStreamAttributes(scope, 'Stream', { streamArn });
  },
};

const tables = (scope: Construct) =>
  new ShardedTable(scope, 'Jobs', { tableName: 'jobs', partitionKey: string('jobId'), replicas: replicas(scope) });
const importedTable = (scope: Construct, env: Environment, name = 'jobs'): ITableV2 =>
  TableV2.fromTableArn(scope, name, arn('dynamodb', `table/${name}`, env));

const tablesWithStream: Partner<ITableV2> = {
  make: (scope) =>
    new TableV2(scope, 'Jobs', {
      tableName: 'jobs',
      partitionKey: string('jobId'),
      dynamoStream: StreamViewType.NEW_IMAGE,
    }),
  import: (scope, env) => {
    const tableArn = arn('dynamodb', 'table/jobs', env);
    const tableStreamArn = `${tableArn}/stream/2026-01-01T00:00:00.000`;
    return TableV2.fromTableAttributes(scope, 'Jobs', { tableArn, tableStreamArn });
  },
};

const indexes: Partner<IShardedIndex> = {
  make: (scope) => tables(scope).addShardedIndex(byStatus(ShardCounts.uniform(2))),
  import: (scope, env) =>
    ShardedIndex.fromShardedIndexAttributes({
      ...byStatus(ShardCounts.uniform(2)),
      table: importedTable(scope, env),
      tableKey: ['jobId'],
    }),
  onReplica: (index, region) => index.onReplica(region),
};

/** The indexes of a table whose stream is on. An index keeper turns on the stream of a table of its app. */
const keptIndexes: Partner<IShardedIndex> = {
  make: indexes.make,
  import: (scope, env) =>
    ShardedIndex.fromShardedIndexAttributes({
      ...byStatus(ShardCounts.uniform(2)),
      table: tablesWithStream.import!(scope, env)!,
      tableKey: ['jobId'],
    }),
};

const keepers: Partner<IIndexKeeper> = {
  make: (scope) => new IndexKeeper(scope, 'Keeper', { indexes: [indexes.make(scope)], functionName: 'keeper' }),
  import: (scope, env) => IndexKeeper.fromFunctionArn(scope, 'Keeper', arn('lambda', 'function:keeper', env)),
};

const adaptiveIndexes: Partner<IShardedIndex> = {
  make: (scope) => {
    const counts = new TableV2(scope, 'Counts', {
      tableName: 'counts',
      partitionKey: string('index'),
      sortKey: string('value'),
    });
    return tables(scope).addShardedIndex({ ...byStatus(ShardCounts.adaptive()), shardCountTable: counts });
  },
  import: (scope, env) =>
    ShardedIndex.fromShardedIndexAttributes({
      ...byStatus(ShardCounts.adaptive()),
      table: importedTable(scope, env),
      tableKey: ['jobId'],
      shardCountTable: importedTable(scope, env, 'counts'),
    }),
  onReplica: (index, region) => index.onReplica(region),
};

const keyShardedTables: Partner<IKeyShardedTable> = {
  make: (scope) =>
    new KeyShardedTable(scope, 'Invoices', {
      tableName: 'invoices',
      partitionKey: string('invoice'),
      sortKey: string('transaction'),
      shardCounts: ShardCounts.uniform(5),
      replicas: replicas(scope),
    }),
  import: (scope, env) =>
    KeyShardedTable.fromKeyShardedTableAttributes({
      table: importedTable(scope, env, 'invoices'),
      tableKey: ['invoice', 'transaction'],
      shardCounts: ShardCounts.uniform(5),
    }),
  onReplica: (table, region) => table.onReplica(region),
};

const blogs = {
  keyspaceName: 'tracker',
  tableName: 'blogs',
  partitionKey: [{ name: 'publish_date', cqlType: CqlType.DATE }],
  clusteringColumns: [{ name: 'title', cqlType: CqlType.TEXT }],
  shardCounts: ShardCounts.uniform(4),
};
const keyspacesTables: Partner<IShardedKeyspacesTable> = {
  make: (scope) => new ShardedKeyspacesTable(scope, 'Blogs', blogs),
  import: (scope, env) => (env === HOME ? ShardedKeyspacesTable.fromTableAttributes(scope, 'Blogs', blogs) : undefined),
};

const networks = (scope: Construct) => new ec2.Vpc(scope, 'Vpc', { natGateways: 0, maxAzs: 2 });
const inNetwork = (vpc: ec2.IVpc) => ({
  vpc,
  vpcSubnets: { subnets: vpc.isolatedSubnets.length > 0 ? vpc.isolatedSubnets : vpc.privateSubnets },
});
const importedNetwork = (scope: Construct) =>
  ec2.Vpc.fromVpcAttributes(scope, 'Vpc', {
    vpcId: 'vpc-0123456789abcdef0',
    availabilityZones: ['eu-west-1a', 'eu-west-1b'],
    privateSubnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
  });

/** A database and its network, which are in a separate stack. */
export const databases: Partner<{ database: OutboxRelayDatabase; vpc: ec2.IVpc }> = {
  make: (scope) => {
    const vpc = networks(scope);
    const instance = new rds.DatabaseInstance(scope, 'Database', {
      instanceIdentifier: 'database',
      engine: rds.DatabaseInstanceEngine.postgres({ version: rds.PostgresEngineVersion.VER_16 }),
      iamAuthentication: true,
      removalPolicy: RemovalPolicy.DESTROY,
      ...inNetwork(vpc),
    });
    return { database: OutboxRelayDatabase.fromInstance(instance, { iamUser: 'relay' }), vpc };
  },
  import: (scope, env) => {
    if (env !== HOME) return undefined;
    const instance = rds.DatabaseInstance.fromDatabaseInstanceAttributes(scope, 'Database', {
      instanceIdentifier: 'database',
      instanceResourceId: 'db-1',
      instanceEndpointAddress: 'database.eu-west-1.rds.amazonaws.com',
      port: 5432,
      securityGroups: [ec2.SecurityGroup.fromSecurityGroupId(scope, 'DatabaseGroup', 'sg-0123456789abcdef0')],
    });
    return { database: OutboxRelayDatabase.fromInstance(instance, { iamUser: 'relay' }), vpc: importedNetwork(scope) };
  },
};

const daxClusters: Partner<{ cluster: IDaxCluster; vpc: ec2.IVpc }> = {
  make: (scope) => {
    const vpc = networks(scope);
    return { cluster: new DaxCluster(scope, 'Cache', { tables: [tables(scope)], ...inNetwork(vpc) }), vpc };
  },
  import: (scope, env) => {
    const cluster = DaxCluster.fromDaxClusterAttributes(scope, 'Cache', {
      clusterArn: arn('dax', 'cache/shared', env),
      endpoint: 'daxs://shared.dax-clusters.amazonaws.com',
      securityGroups: [ec2.SecurityGroup.fromSecurityGroupId(scope, 'CacheGroup', 'sg-0123456789abcdef1')],
    });
    return { cluster, vpc: importedNetwork(scope) };
  },
};

const functions: Partner<lambda.Function> = {
  make: (scope) => functionOf(scope),
};
const functionOf = (scope: Construct, props: object = {}) =>
  new lambda.Function(scope, 'Bound', {
    functionName: 'bound',
    role: new iam.Role(scope, 'BoundRole', {
      roleName: 'bound',
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
    }),
    runtime: lambda.Runtime.NODEJS_22_X,
    handler: 'index.handler',
    code: lambda.Code.fromInline('exports.handler = async () => {}'),
    ...props,
  });

const roles: Partner<iam.IRole> = {
  make: (scope) =>
    new iam.Role(scope, 'Caller', { roleName: 'caller', assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') }),
  import: (scope, { account }) => iam.Role.fromRoleArn(scope, 'Caller', `arn:aws:iam::${account}:role/caller`),
};

const registries: Partner<IHashKeyRegistry> = {
  make: (scope) => new HashKeyRegistry(scope, 'Registry', { stream: streams.make(scope), functionName: 'registry' }),
  import: (scope, env) =>
    HashKeyRegistry.fromHashKeyRegistryAttributes(scope, 'Registry', {
      stream: streams.import!(scope, env)!,
      functionArn: arn('lambda', 'function:registry', env),
      tableArn: arn('dynamodb', 'table/owners', env),
    }),
};

const providers: Partner<IStreamReshardingProvider> = {
  make: (scope) => new StreamReshardingProvider(scope, 'Provider'),
  import: (scope, env) =>
    StreamReshardingProvider.fromStreamReshardingProviderAttributes(scope, 'Provider', {
      serviceToken: functionArn('provider', env),
      role: iam.Role.fromRoleArn(scope, 'ProviderRole', `arn:aws:iam::${env.account}:role/provider`),
    }),
};

const functionArn = (name: string, env: Environment) => arn('lambda', `function:${name}`, env);
const producers: Partner<IOrderedProducerFunction> = {
  make: (scope) =>
    new OrderedProducerFunction(scope, 'Producer', { stream: streams.make(scope), functionName: 'producer' }),
  import: (scope, env) => OrderedProducerFunction.fromFunctionArn(scope, 'Producer', functionArn('producer', env)),
};
const queries: Partner<IFanOutQueryFunction> = {
  make: (scope) => new FanOutQueryFunction(scope, 'Query', { indexes: [indexes.make(scope)], functionName: 'query' }),
  import: (scope, env) => FanOutQueryFunction.fromFunctionArn(scope, 'Query', functionArn('query', env)),
};
const relays: Partner<IOutboxRelayFunction> = {
  make: (scope) => {
    const { database, vpc } = databases.make(scope);
    const stream = streams.make(scope);
    return new OutboxRelayFunction(scope, 'Relay', { stream, database, ...inNetwork(vpc), functionName: 'relay' });
  },
  import: (scope, env) => OutboxRelayFunction.fromFunctionArn(scope, 'Relay', functionArn('relay', env)),
};
const scalings: Partner<{ stream: IUniformStream; autoScaling: IStreamAutoScaling }> = {
  make: (scope) => {
    const stream = streams.make(scope);
    return { stream, autoScaling: new StreamAutoScaling(scope, 'Scaling', { stream, minCapacity: 1, maxCapacity: 4 }) };
  },
  import: (scope, env) => {
    const stream = streams.import!(scope, env)!;
    const attributes = { stream, functionArn: functionArn('scaler', env) };
    return { stream, autoScaling: StreamAutoScaling.fromStreamAutoScalingAttributes(scope, 'Scaling', attributes) };
  },
};
const reconciliations: Partner<{ stream: IUniformStream; reconciliation: IStreamReconciliation }> = {
  make: (scope) => {
    const stream = streams.make(scope);
    return { stream, reconciliation: new StreamReconciliation(scope, 'Look', { stream }) };
  },
  import: (scope, env) => {
    const stream = streams.import!(scope, env)!;
    const attributes = { stream, functionArn: functionArn('reconciler', env) };
    return {
      stream,
      reconciliation: StreamReconciliation.fromStreamReconciliationAttributes(scope, 'Look', attributes),
    };
  },
};
const controllers: Partner<{ index: IShardedIndex; shardCountController: IAdaptiveShardCountController }> = {
  make: (scope) => {
    const index = adaptiveIndexes.make(scope);
    return { index, shardCountController: new AdaptiveShardCountController(scope, 'Controller', { index }) };
  },
  import: (scope, env) => {
    const index = adaptiveIndexes.import!(scope, env)!;
    const attributes = { index, functionArn: functionArn('controller', env) };
    const shardCountController = AdaptiveShardCountController.fromAdaptiveShardCountControllerAttributes(
      scope,
      'Controller',
      attributes,
    );
    return { index, shardCountController };
  },
};
const queues: Partner<sqs.IQueue> = {
  make: (scope) => new sqs.Queue(scope, 'Dead', { queueName: 'dead' }),
  import: (scope, env) => sqs.Queue.fromQueueArn(scope, 'Dead', arn('sqs', 'dead', env)),
};

const budgets = { readUnitsPerSecond: 100, writeUnitsPerSecond: 50 };
const monitoring = (scope: Construct) => new ShardMonitoring(scope, 'Monitoring');

/** Each construct of the library with each of its possible partners. */
export const PAIRS: Pair[] = [
  pair('OrderedProducerFunction', 'stream', streams, (scope, stream) => {
    new OrderedProducerFunction(scope, 'It', { stream });
  }),
  pair('OrderedProducerFunction', 'hashKeyRegistry', registries, (scope, hashKeyRegistry) => {
    new OrderedProducerFunction(scope, 'It', { stream: hashKeyRegistry.stream, hashKeyRegistry });
  }),
  pair('OrderedStreamConsumer', 'stream', streams, (scope, stream) => {
    const startingPosition = lambda.StartingPosition.LATEST;
    new OrderedStreamConsumer(scope, 'It', { stream, handler: functionOf(scope), startingPosition });
  }),
  pair('OrderedStreamConsumer', 'table', tablesWithStream, (scope, table) => {
    const startingPosition = lambda.StartingPosition.LATEST;
    new OrderedStreamConsumer(scope, 'It', { table, handler: functionOf(scope), startingPosition });
  }),
  pair('OrderedStreamConsumer', 'handler', functions, (scope, handler) => {
    const stream = streams.import!(scope, HOME)!;
    new OrderedStreamConsumer(scope, 'It', { stream, handler, startingPosition: lambda.StartingPosition.LATEST });
  }),
  pair('HashKeyRegistry', 'stream', streams, (scope, stream) => {
    new HashKeyRegistry(scope, 'It', { stream });
  }),
  pair('StreamAutoScaling', 'stream', streams, (scope, stream) => {
    new StreamAutoScaling(scope, 'It', { stream, minCapacity: 1, maxCapacity: 4 });
  }),
  pair('StreamReconciliation', 'stream', streams, (scope, stream) => {
    new StreamReconciliation(scope, 'It', { stream });
  }),
  pair('StreamResharding', 'stream', streams, (scope, stream) => {
    new StreamResharding(scope, 'It', { stream, shardCount: 4 });
  }),
  pair('StreamResharding', 'provider', providers, (scope, provider) => {
    new StreamResharding(scope, 'It', { stream: streams.make(scope), shardCount: 4, provider });
  }),
  pair('UniformStream', 'reshardingProvider', providers, (scope, reshardingProvider) => {
    new UniformStream(scope, 'It', { shardCount: 4, deployedShardCount: 2, reshardingProvider });
  }),
  pair('OutboxRelayFunction', 'stream', streams, (scope, stream) => {
    const { database, vpc } = databases.import!(scope, HOME)!;
    new OutboxRelayFunction(scope, 'It', { stream, database, ...inNetwork(vpc) });
  }),
  pair('OutboxRelayFunction', 'database', databases, (scope, { database, vpc }) => {
    const stream = streams.import!(scope, HOME)!;
    new OutboxRelayFunction(scope, 'It', { stream, database, ...inNetwork(vpc) });
  }),
  pair('FanOutQueryFunction', 'indexes', indexes, (scope, index) => {
    new FanOutQueryFunction(scope, 'It', { indexes: [index] });
  }),
  pair('FanOutQueryFunction', 'indexes with adaptive counts', adaptiveIndexes, (scope, index) => {
    new FanOutQueryFunction(scope, 'It', { indexes: [index] });
  }),
  pair('FanOutQueryFunction', 'tables', keyShardedTables, (scope, table) => {
    new FanOutQueryFunction(scope, 'It', { tables: [table] });
  }),
  pair('AdaptiveShardCountController', 'index', adaptiveIndexes, (scope, index) => {
    new AdaptiveShardCountController(scope, 'It', { index });
  }),
  pair('IndexKeeper', 'indexes', keptIndexes, (scope, index) => {
    new IndexKeeper(scope, 'It', { indexes: [index], allWritersInRegion: true });
  }),
  pair('IndexItemMover', 'index', indexes, (scope, index) => {
    new IndexItemMover(scope, 'It', { index, ...budgets });
  }),
  pair('TableItemMover', 'table', keyShardedTables, (scope, table) => {
    new TableItemMover(scope, 'It', { table, itemVersion: ItemVersion.none(), ...budgets });
  }),
  pair('ShardedIndex', 'bindWriter', functions, (scope, bound) => {
    indexes.make(scope).bindWriter(bound);
  }),
  pair('ShardedIndex', 'grants', roles, (scope, role) => {
    const { grants } = indexes.make(scope);
    for (const allow of ['query', 'write', 'reshard'] as const) grants[allow](role);
  }),
  pair('KeyShardedTable', 'bindWriter', functions, (scope, bound) => {
    keyShardedTables.make(scope).bindWriter(bound);
  }),
  pair('KeyShardedTable', 'shardGrants', roles, (scope, role) => {
    const { shardGrants } = keyShardedTables.make(scope);
    for (const allow of ['query', 'item', 'write', 'reshard'] as const) shardGrants[allow](role);
  }),
  pair('ShardedKeyspacesTable', 'bindReader', functions, (scope, bound) => {
    keyspacesTables.make(scope).bindReader(bound);
  }),
  pair('ShardedKeyspacesTable', 'grants', roles, (scope, role) => {
    const { grants } = keyspacesTables.make(scope);
    for (const allow of ['selectRows', 'modifyRows'] as const) grants[allow](role);
  }),
  pair('KeyspacesFanOutQueryFunction', 'tables', keyspacesTables, (scope, table) => {
    new KeyspacesFanOutQueryFunction(scope, 'It', { tables: [table] });
  }),
  pair('DaxCluster', 'indexes', indexes, (scope, index) => {
    new DaxCluster(scope, 'It', { vpc: importedNetwork(scope), indexes: [index] });
  }),
  pair('DaxCluster', 'tables', keyShardedTables, (scope, { table }) => {
    new DaxCluster(scope, 'It', { vpc: importedNetwork(scope), tables: [table] });
  }),
  pair('DaxCluster', 'bindReader', daxClusters, (scope, { cluster, vpc }) => {
    cluster.bindReader(functionOf(scope, inNetwork(vpc)));
  }),
  pair('HashKeyRegistry', 'grants', roles, (scope, role) => {
    const { grants } = registries.make(scope);
    for (const allow of ['query', 'allocate', 'administer', 'read'] as const) grants[allow](role);
  }),
  pair('UniformStream', 'produceGrants', roles, (scope, role) => {
    new UniformStream(scope, 'It', { shardCount: 2, streamName: 'it' }).produceGrants.produce(role);
  }),
  pair('ShardMonitoring', 'addStream', streams, (scope, stream) => {
    monitoring(scope).addStream(stream);
  }),
  pair('ShardMonitoring', 'addStream with autoScaling', scalings, (scope, { stream, ...options }) => {
    monitoring(scope).addStream(stream, options);
  }),
  pair('ShardMonitoring', 'addStream with reconciliation', reconciliations, (scope, { stream, ...options }) => {
    monitoring(scope).addStream(stream, options);
  }),
  pair('ShardMonitoring', 'addIndex with shardCountController', controllers, (scope, { index, ...options }) => {
    monitoring(scope).addIndex(index, options);
  }),
  pair('ShardMonitoring', 'addConsumer', streams, (scope, stream) => {
    monitoring(scope).addConsumer(stream, StreamConsumerMetrics.fromPolling(stream));
  }),
  pair('ShardMonitoring', 'addProducer', producers, (scope, producer) => {
    monitoring(scope).addProducer(producer);
  }),
  pair('ShardMonitoring', 'addOutbox', relays, (scope, relay) => {
    monitoring(scope).addOutbox(relay);
  }),
  pair('ShardMonitoring', 'addQuery', queries, (scope, query) => {
    monitoring(scope).addQuery(query);
  }),
  pair('ShardMonitoring', 'addIndex', indexes, (scope, index) => {
    monitoring(scope).addIndex(index);
  }),
  pair('ShardMonitoring', 'addIndexKeeper', keepers, (scope, keeper) => {
    monitoring(scope).addIndexKeeper(keeper);
  }),
  pair('ShardMonitoring', 'addTable', keyShardedTables, (scope, table) => {
    monitoring(scope).addTable(table);
  }),
  pair('ShardMonitoring', 'addKeyspacesTable', keyspacesTables, (scope, table) => {
    monitoring(scope).addKeyspacesTable(table);
  }),
  pair('ShardMonitoring', 'addDaxCluster', daxClusters, (scope, { cluster }) => {
    monitoring(scope).addDaxCluster(cluster);
  }),
  pair('ShardMonitoring', 'addDeadLetterQueue', queues, (scope, queue) => {
    monitoring(scope).addDeadLetterQueue(queue);
  }),
];
