import { App, Duration, Stack } from 'aws-cdk-lib';
import { AttributeType, StreamViewType, TableEncryptionV2 } from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Schedule } from 'aws-cdk-lib/aws-events';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import * as rds from 'aws-cdk-lib/aws-rds';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { STEPFUNCTIONS_USE_DISTRIBUTED_MAP_RESULT_WRITER_V2 } from 'aws-cdk-lib/cx-api';
import {
  AdaptiveShardCountController,
  CqlType,
  DaxCluster,
  FanOutQueryFunction,
  HashKeyRegistry,
  IndexItemMover,
  IndexKeeper,
  ItemVersion,
  KeyShardedTable,
  KeyspacesChangeView,
  KeyspacesFanOutQueryFunction,
  OrderedProducerFunction,
  OrderedStreamConsumer,
  OutboxRelayDatabase,
  OutboxRelayFunction,
  ShardCounts,
  ShardedKeyspacesTable,
  ShardedTable,
  ShardMonitoring,
  StreamAutoScaling,
  StreamReconciliation,
  TableItemMover,
  UniformStream,
} from '../../../lib';
import { invoiceTable } from '../../support/fakes/invoice-table';
import PERMISSIONS from '../../support/iam-statements.json';
import { plainFunction, vpcOf } from '../../support/minimal-constructs';
import { permissionsOf } from './permissions-of';

const ACCOUNT = { account: '111111111111', region: 'eu-west-1' };

const streamOf = (stack: Stack) => new UniformStream(stack, 'Events', { shardCount: 4 });
const importedStreamOf = (stack: Stack, encryptionKey?: Key) =>
  UniformStream.fromUniformStreamAttributes(stack, 'Events', {
    streamArn: 'arn:aws:kinesis:eu-west-1:111111111111:stream/events',
    ...(encryptionKey && { encryptionKey }),
  });
const encryptedStreamOf = (stack: Stack) =>
  new UniformStream(stack, 'Events', { shardCount: 4, encryptionKey: new Key(stack, 'Key') });
const callerOf = (stack: Stack, id: string) => new iam.Role(stack, id, { assumedBy: new iam.AccountRootPrincipal() });
const jobsOf = (stack: Stack, encryption?: TableEncryptionV2) => {
  const table = new ShardedTable(stack, 'Jobs', {
    partitionKey: { name: 'jobId', type: AttributeType.STRING },
    dynamoStream: StreamViewType.NEW_IMAGE,
    ...(encryption && { encryption }),
  });
  const index = table.addShardedIndex({ indexName: 'byTime', shardCounts: ShardCounts.uniform(2) });
  return { table, index };
};
const adaptiveOf = (stack: Stack, encryption?: TableEncryptionV2) =>
  jobsOf(stack, encryption).table.addShardedIndex({
    indexName: 'byStatus',
    valueAttribute: { name: 'status', type: AttributeType.STRING },
    shardCounts: ShardCounts.adaptive(),
  });
const registryOf = (stack: Stack, encryption?: TableEncryptionV2) =>
  new HashKeyRegistry(stack, 'Registry', { stream: streamOf(stack), ...(encryption && { encryption }) });
const blogsOf = (stack: Stack, encryptionKey?: Key) =>
  new ShardedKeyspacesTable(stack, 'Blogs', {
    keyspaceName: 'news',
    tableName: 'blogs',
    partitionKey: [{ name: 'author', cqlType: CqlType.TEXT }],
    clusteringColumns: [{ name: 'digest', cqlType: CqlType.TEXT }],
    shardCounts: ShardCounts.uniform(2),
    ...(encryptionKey && { encryptionKey }),
  });
const networkOf = (stack: Stack) => ({
  vpc: vpcOf(stack),
  cluster: rds.DatabaseCluster.fromDatabaseClusterAttributes(stack, 'Database', {
    clusterIdentifier: 'database',
    clusterResourceIdentifier: 'cluster-1',
    clusterEndpointAddress: 'database.cluster-1.eu-west-1.rds.amazonaws.com',
    port: 5432,
    securityGroups: [ec2.SecurityGroup.fromSecurityGroupId(stack, 'DatabaseGroup', 'sg-1')],
  }),
});
const queueOf = (stack: Stack) => Queue.fromQueueArn(stack, 'Failures', 'arn:aws:sqs:eu-west-1:111111111111:failures');
const ownedProducerOf = (stack: Stack, allocateHashKeys: boolean) => {
  const stream = streamOf(stack);
  const hashKeyRegistry = HashKeyRegistry.fromHashKeyRegistryAttributes(stack, 'Registry', {
    functionArn: 'arn:aws:lambda:eu-west-1:111111111111:function:registry',
    tableArn: 'arn:aws:dynamodb:eu-west-1:111111111111:table/owners',
    stream,
  });
  return new OrderedProducerFunction(stack, 'Producer', { stream, hashKeyRegistry, allocateHashKeys });
};
/** A consumer with a function of the application. */
function consumerOf(stack: Stack, encryption?: TableEncryptionV2): OrderedStreamConsumer {
  return new OrderedStreamConsumer(stack, 'Consumer', {
    handler: functionOf(stack, 'Application'),
    stream: streamOf(stack),
    startingPosition: lambda.StartingPosition.TRIM_HORIZON,
    encryption,
  });
}

const functionOf = (stack: Stack, id: string) => plainFunction(stack, id, { role: callerOf(stack, `${id}Role`) });
const ordersOf = (stack: Stack, encryption?: TableEncryptionV2) =>
  new KeyShardedTable(stack, 'Orders', {
    partitionKey: { name: 'day', type: AttributeType.STRING },
    sortKey: { name: 'orderId', type: AttributeType.STRING },
    shardCounts: ShardCounts.uniform(4),
    ...(encryption && { encryption }),
  });
const customerManaged = (stack: Stack) => TableEncryptionV2.customerManagedKey(new Key(stack, 'Key'));

const STACKS: Record<string, (stack: Stack) => unknown> = {
  'a stream': streamOf,
  'a stream that is resharded in steps': (stack) =>
    new UniformStream(stack, 'Events', { shardCount: 4, deployedShardCount: 2 }),
  'a stream with automatic scaling': (stack) => streamOf(stack).autoScaleShardCount({ minCapacity: 1, maxCapacity: 8 }),
  'a stream with reconciliation': (stack) => streamOf(stack).addReconciliation(),
  'a stream of another app with reconciliation, without a shard count': (stack) =>
    new StreamReconciliation(stack, 'Reconciliation', { stream: importedStreamOf(stack) }),
  'a stream with repair': (stack) => streamOf(stack).addReconciliation({ repair: true }),
  'a producer': (stack) => new OrderedProducerFunction(stack, 'Producer', { stream: streamOf(stack) }),
  'a producer on an encrypted stream': (stack) =>
    new OrderedProducerFunction(stack, 'Producer', { stream: encryptedStreamOf(stack) }),
  'a producer that allocates keys': (stack) => ownedProducerOf(stack, true),
  'a producer that looks keys up': (stack) => ownedProducerOf(stack, false),
  'a producer behind a queue': (stack) =>
    new OrderedProducerFunction(stack, 'Producer', { stream: streamOf(stack) }).addFifoQueue('Commands'),
  'a producer behind an encrypted queue': (stack) =>
    new OrderedProducerFunction(stack, 'Producer', { stream: streamOf(stack) }).addFifoQueue('Commands', {
      encryptionKey: new Key(stack, 'Key'),
    }),
  'a producer behind a table': (stack) =>
    new OrderedProducerFunction(stack, 'Producer', { stream: streamOf(stack) }).addTableStream({
      table: jobsOf(stack).table,
    }),
  'a consumer': (stack) => consumerOf(stack),
  'a consumer with a key': (stack) =>
    consumerOf(stack, customerManaged(stack)).grantOperate(callerOf(stack, 'grantOperate')),
  'a registry': (stack) => registryOf(stack),
  'a registry with a key': (stack) => registryOf(stack, customerManaged(stack)),
  'a query': (stack) => new FanOutQueryFunction(stack, 'Query', { indexes: [jobsOf(stack).index] }),
  'a query of a sharded table': (stack) => new FanOutQueryFunction(stack, 'Query', { tables: [ordersOf(stack)] }),
  'a query with a key': (stack) =>
    new FanOutQueryFunction(stack, 'Query', { indexes: [jobsOf(stack, customerManaged(stack)).index] }),
  'a resharding of an index': (stack) =>
    new IndexItemMover(stack, 'Resharding', {
      index: jobsOf(stack).index,
      readUnitsPerSecond: 100,
      writeUnitsPerSecond: 50,
      auditSchedule: Schedule.rate(Duration.days(1)),
    }),
  'a resharding of a table': (stack) => {
    const resharding = new TableItemMover(stack, 'Resharding', {
      table: invoiceTable(stack),
      itemVersion: ItemVersion.none(),
      readUnitsPerSecond: 100,
      writeUnitsPerSecond: 50,
    });
    resharding.grantStartExecution(callerOf(stack, 'grantStartExecution'));
  },
  'a resharding with reports': (stack) => {
    const resharding = new IndexItemMover(stack, 'Resharding', {
      index: jobsOf(stack, customerManaged(stack)).index,
      readUnitsPerSecond: 100,
      writeUnitsPerSecond: 50,
      reportBucket: Bucket.fromBucketAttributes(stack, 'Reports', {
        bucketArn: 'arn:aws:s3:::reports',
        encryptionKey: new Key(stack, 'ReportKey'),
      }),
    });
    resharding.grantStartExecution(callerOf(stack, 'grantStartExecution'));
  },
  'a resharding with adaptive counts': (stack) =>
    new IndexItemMover(stack, 'Resharding', {
      index: adaptiveOf(stack),
      readUnitsPerSecond: 100,
      writeUnitsPerSecond: 50,
    }),
  'a producer in a network, with a destination of failures': (stack) =>
    new OrderedProducerFunction(stack, 'Producer', {
      stream: streamOf(stack),
      vpc: networkOf(stack).vpc,
      onFailure: new SqsDestination(queueOf(stack)),
    }),
  'a producer behind a table, with everything': (stack) =>
    new OrderedProducerFunction(stack, 'Producer', { stream: streamOf(stack) }).addTableStream({
      table: jobsOf(stack, customerManaged(stack)).table,
      filters: [{ eventName: ['INSERT'] }],
      onFailure: new SqsDlq(queueOf(stack)),
    }),
  'a sharded table': (stack) => ordersOf(stack),
  'a sharded table with a key': (stack) => ordersOf(stack, customerManaged(stack)),
  'grants on a sharded table': (stack) => {
    const { shardGrants } = ordersOf(stack, customerManaged(stack));
    for (const grant of ['item', 'query', 'reshard', 'write'] as const) shardGrants[grant](callerOf(stack, grant));
  },
  'functions bound to a sharded table': (stack) => {
    const table = ordersOf(stack, customerManaged(stack));
    table.bindReader(functionOf(stack, 'bindReader'));
    table.bindWriter(functionOf(stack, 'bindWriter'));
  },
  'functions bound to an index': (stack) => {
    const { index } = jobsOf(stack, customerManaged(stack));
    index.bindReader(functionOf(stack, 'bindReader'));
    index.bindWriter(functionOf(stack, 'bindWriter'));
  },
  'functions bound to an index with adaptive counts': (stack) => {
    const index = adaptiveOf(stack, customerManaged(stack));
    index.bindReader(functionOf(stack, 'bindReader'));
    index.bindWriter(functionOf(stack, 'bindWriter'));
  },
  'functions bound to a table of Amazon Keyspaces': (stack) => {
    const blogs = blogsOf(stack, new Key(stack, 'Key'));
    blogs.bindReader(functionOf(stack, 'bindReader'));
    blogs.bindWriter(functionOf(stack, 'bindWriter'));
  },
  'a function bound to a cluster of DAX': (stack) => {
    const { vpc } = networkOf(stack);
    const cluster = new DaxCluster(stack, 'Cache', { vpc, indexes: [jobsOf(stack).index] });
    cluster.bindReader(plainFunction(stack, 'bindReader', { role: callerOf(stack, 'bindReaderRole'), vpc }));
  },
  'a cluster of DAX for an encrypted table': (stack) =>
    new DaxCluster(stack, 'Cache', {
      vpc: networkOf(stack).vpc,
      indexes: [jobsOf(stack, customerManaged(stack)).index],
    }),
  'a table of Amazon Keyspaces with a change stream': (stack) =>
    new ShardedKeyspacesTable(stack, 'Blogs', {
      keyspaceName: 'news',
      tableName: 'blogs',
      partitionKey: [{ name: 'author', cqlType: CqlType.TEXT }],
      clusteringColumns: [{ name: 'digest', cqlType: CqlType.TEXT }],
      shardCounts: ShardCounts.uniform(2),
      changeStream: KeyspacesChangeView.NEW_IMAGE,
    }),
  'a relay to an instance with a role of IAM': (stack) => {
    const { vpc } = networkOf(stack);
    const instance = rds.DatabaseInstance.fromDatabaseInstanceAttributes(stack, 'Instance', {
      instanceIdentifier: 'instance',
      instanceEndpointAddress: 'instance.eu-west-1.rds.amazonaws.com',
      instanceResourceId: 'db-1',
      port: 5432,
      securityGroups: [],
    });
    const database = OutboxRelayDatabase.fromInstance(instance, { iamUser: 'relay' });
    return new OutboxRelayFunction(stack, 'Relay', { stream: encryptedStreamOf(stack), database, vpc });
  },
  'invocations of functions': (stack) => {
    const { vpc, cluster } = networkOf(stack);
    const stream = streamOf(stack);
    const database = OutboxRelayDatabase.fromCluster(cluster, { iamUser: 'relay' });
    const { index } = jobsOf(stack);
    const functionArn = (name: string) => `arn:aws:lambda:eu-west-1:111111111111:function:${name}`;
    const functions = {
      AdaptiveShardCountController: AdaptiveShardCountController.fromAdaptiveShardCountControllerAttributes(
        stack,
        'Controller',
        { functionArn: functionArn('controller'), index },
      ),
      IndexKeeper: IndexKeeper.fromFunctionArn(stack, 'Keeper', functionArn('keeper')),
      StreamAutoScaling: StreamAutoScaling.fromStreamAutoScalingAttributes(stack, 'Scaling', {
        functionArn: functionArn('scaler'),
        stream,
      }),
      StreamReconciliation: StreamReconciliation.fromStreamReconciliationAttributes(stack, 'Look', {
        functionArn: functionArn('reconciler'),
        stream,
      }),
      OrderedProducerFunction: new OrderedProducerFunction(stack, 'Producer', { stream }),
      FanOutQueryFunction: new FanOutQueryFunction(stack, 'Query', { indexes: [index] }),
      KeyspacesFanOutQueryFunction: new KeyspacesFanOutQueryFunction(stack, 'Select', { tables: [blogsOf(stack)] }),
      OutboxRelayFunction: new OutboxRelayFunction(stack, 'Relay', { stream, database, vpc }),
    };
    for (const [name, each] of Object.entries(functions)) each.grantInvoke(callerOf(stack, `grantInvoke${name}`));
  },
  'a cluster of DAX': (stack) => {
    const { vpc } = networkOf(stack);
    const { table, index } = jobsOf(stack);
    const cluster = new DaxCluster(stack, 'Cache', { vpc, indexes: [index], tables: [table] });
    cluster.grantRead(callerOf(stack, 'grantRead'));
  },
  'a query with adaptive counts': (stack) => new FanOutQueryFunction(stack, 'Query', { indexes: [adaptiveOf(stack)] }),
  'a controller of shard counts': (stack) =>
    new AdaptiveShardCountController(stack, 'Controller', { index: adaptiveOf(stack) }),
  'a keeper of an index': (stack) => new IndexKeeper(stack, 'Keeper', { indexes: [jobsOf(stack).index] }),
  'a keeper with keys and adaptive counts': (stack) =>
    new IndexKeeper(stack, 'Keeper', {
      indexes: [adaptiveOf(stack, customerManaged(stack))],
      encryption: TableEncryptionV2.customerManagedKey(new Key(stack, 'KeeperKey')),
    }),
  'a query of Amazon Keyspaces': (stack) =>
    new KeyspacesFanOutQueryFunction(stack, 'Query', { tables: [blogsOf(stack)] }),
  'a query of Amazon Keyspaces in a network': (stack) =>
    new KeyspacesFanOutQueryFunction(stack, 'Query', { tables: [blogsOf(stack)], vpc: networkOf(stack).vpc }),
  'a query of Amazon Keyspaces with a key': (stack) =>
    new KeyspacesFanOutQueryFunction(stack, 'Query', { tables: [blogsOf(stack, new Key(stack, 'Key'))] }),
  'a relay with a role of IAM': (stack) => {
    const { vpc, cluster } = networkOf(stack);
    const database = OutboxRelayDatabase.fromCluster(cluster, { iamUser: 'relay' });
    return new OutboxRelayFunction(stack, 'Relay', { stream: streamOf(stack), database, vpc });
  },
  'a relay with a secret': (stack) => {
    const { vpc, cluster } = networkOf(stack);
    const database = OutboxRelayDatabase.fromCluster(cluster, { secret: new Secret(stack, 'Secret') });
    return new OutboxRelayFunction(stack, 'Relay', { stream: streamOf(stack), database, vpc });
  },
  monitoring: (stack) => new ShardMonitoring(stack, 'Monitoring'),
  'grants on a stream': (stack) => {
    const stream = encryptedStreamOf(stack);
    stream.produceGrants.produce(callerOf(stack, 'produce'));
    for (const grant of ['inspect', 'reshard', 'scale'] as const) stream.reshardGrants[grant](callerOf(stack, grant));
  },
  'grants on a registry': (stack) => {
    const { grants } = registryOf(stack, customerManaged(stack));
    for (const grant of ['administer', 'allocate', 'query', 'read'] as const) {
      grants[grant](callerOf(stack, grant));
    }
  },
  'grants on an encrypted stream and a registry of another app': (stack) => {
    const stream = importedStreamOf(stack, new Key(stack, 'Key'));
    stream.produceGrants.produce(callerOf(stack, 'produce'));
    const { grants } = HashKeyRegistry.fromHashKeyRegistryAttributes(stack, 'Registry', {
      functionArn: 'arn:aws:lambda:eu-west-1:111111111111:function:registry',
      tableArn: 'arn:aws:dynamodb:eu-west-1:111111111111:table/owners',
      stream,
      encryptionKey: new Key(stack, 'RegistryKey'),
    });
    grants.read(callerOf(stack, 'read'));
  },
  'grants on a table of Amazon Keyspaces': (stack) => {
    const { grants } = blogsOf(stack, new Key(stack, 'Key'));
    for (const grant of ['selectRows', 'modifyRows'] as const) grants[grant](callerOf(stack, grant));
  },
  'grants on an index': (stack) => {
    const { grants } = jobsOf(stack, customerManaged(stack)).index;
    for (const grant of ['query', 'write'] as const) {
      grants[grant](callerOf(stack, grant));
    }
  },
  'grants on an index with adaptive counts': (stack) => {
    const { grants } = adaptiveOf(stack, customerManaged(stack));
    for (const grant of ['query', 'write', 'reshard', 'changeShardCounts', 'reportWrites'] as const) {
      grants[grant](callerOf(stack, grant));
    }
  },
};

/**
 * The newest CDK restricts the role of Step Functions to state machines of the account. The role that the oldest CDK
 * creates has no such condition.
 */
const OF_THE_NEWEST_CDK = / if ArnLike aws:SourceArn \S+:stateMachine:\* and StringEquals aws:SourceAccount \d+/;

/** Uses version 2 of the result writer, because the newest CDK deprecates version 1. */
const context = { [STEPFUNCTIONS_USE_DISTRIBUTED_MAP_RESULT_WRITER_V2]: true };

/** Every statement of every role and policy. Each added or removed permission changes this table. */
describe.each(Object.entries(STACKS))('%s', (name, make) => {
  test('has exactly the permissions in the table of this test', () => {
    const stack = new Stack(new App({ context }), 'It', { env: ACCOUNT });
    make(stack);
    const permissions = permissionsOf(stack).map((permission) => permission.replace(OF_THE_NEWEST_CDK, ''));
    expect(permissions).toEqual(PERMISSIONS[name as keyof typeof PERMISSIONS]);
  });
});

test('only actions without resource-level permissions have the resource *: network interfaces, log delivery and tracing', () => {
  const onAll = Object.values(PERMISSIONS)
    .flat()
    .filter((line) => / on \*/.test(line));
  for (const line of onAll) {
    expect(line).toMatch(
      /^(?:Relay|Producer|Query)Role: ec2:(?:CreateNetworkInterface, |DescribeNetworkInterfaces, ec2:DescribeVpcEndpoints on)|^ReshardingStateMachineRole: (?:logs:CreateLogDelivery|xray:PutTraceSegments), /,
    );
  }
});
