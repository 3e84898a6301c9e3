import type { Stack } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { AttributeType, StreamViewType } from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { type IStream, Stream } from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as rds from 'aws-cdk-lib/aws-rds';
import {
  CqlType,
  DaxCluster,
  FanOutQueryFunction,
  IndexItemMover,
  ItemVersion,
  KeyspacesBilling,
  KeyspacesCapacity,
  OrderedProducerFunction,
  OrderedStreamConsumer,
  OutboxRelayDatabase,
  type OutboxRelayDatabaseOptions,
  OutboxRelayFunction,
  ShardCounts,
  ShardedKeyspacesTable,
  type ShardedKeyspacesTableProps,
  ShardedTable,
  TableItemMover,
} from '../../lib';
import { invoiceTable } from './fakes/invoice-table';

// Constructs with only the required properties. Callers can pass further properties.

export function plainFunction(
  stack: Stack,
  id = 'Application',
  props: Partial<lambda.FunctionProps> = {},
): lambda.Function {
  return new lambda.Function(stack, id, {
    runtime: lambda.Runtime.NODEJS_22_X,
    handler: 'index.handler',
    code: lambda.Code.fromInline('exports.handler = async () => {};'),
    ...props,
  });
}

/** The texts of the warnings that the synthesis of the stack adds. */
export function warningsOf(stack: Stack): string[] {
  const warnings = Annotations.fromStack(stack).findWarning('*', Match.anyValue());
  return warnings.map(({ entry }) => entry.data as string);
}

export function imported(stack: Stack, id = 'Imported'): IStream {
  return Stream.fromStreamArn(stack, id, 'arn:aws:kinesis:eu-west-1:111111111111:stream/events');
}

export function producer(stack: Stack, settings: object = {}): OrderedProducerFunction {
  return new OrderedProducerFunction(stack, 'Producer', { stream: imported(stack), ...settings });
}

export function consumer(stack: Stack, settings: object): OrderedStreamConsumer {
  return new OrderedStreamConsumer(stack, 'Consumer', {
    handler: plainFunction(stack),
    stream: imported(stack),
    startingPosition: lambda.StartingPosition.TRIM_HORIZON,
    ...settings,
  });
}

export function table(stack: Stack): ShardedTable {
  const partitionKey = { name: 'jobId', type: AttributeType.STRING };
  return new ShardedTable(stack, 'Jobs', { partitionKey, dynamoStream: StreamViewType.NEW_IMAGE });
}

const status = { name: 'status', type: AttributeType.STRING };

export function index(stack: Stack, shardCounts: ShardCounts, expectedTraffic?: object, options: object = {}) {
  return table(stack).addShardedIndex({
    indexName: 'byStatus',
    valueAttribute: status,
    shardCounts,
    ...(expectedTraffic && { expectedTraffic: { writesPerSecond: 100_000, ...expectedTraffic } }),
    ...options,
  });
}

export function query(stack: Stack, settings: object = {}, shardCounts = ShardCounts.uniform(2)): FanOutQueryFunction {
  return new FanOutQueryFunction(stack, 'Query', { indexes: [index(stack, shardCounts)], ...settings });
}

export function keyspacesTable(
  stack: Stack,
  props: Partial<ShardedKeyspacesTableProps> = {},
  id = 'Blogs',
): ShardedKeyspacesTable {
  return new ShardedKeyspacesTable(stack, id, {
    keyspaceName: 'tracker',
    tableName: 'blogs',
    partitionKey: [{ name: 'day', cqlType: CqlType.DATE }],
    clusteringColumns: [{ name: 'id', cqlType: CqlType.TIMEUUID }],
    shardCounts: ShardCounts.uniform(4),
    ...props,
  });
}

export function provisioned(stack: Stack, readCapacity: () => KeyspacesCapacity): ShardedKeyspacesTable {
  const writeCapacity = KeyspacesCapacity.constant(10);
  return keyspacesTable(stack, {
    billing: KeyspacesBilling.provisioned({ readCapacity: readCapacity(), writeCapacity }),
  });
}

export function vpcOf(stack: Stack): ec2.IVpc {
  const attributes = { vpcId: 'vpc-1', availabilityZones: ['eu-west-1a'], privateSubnetIds: ['subnet-1'] };
  return ec2.Vpc.fromVpcAttributes(stack, 'Vpc', attributes);
}

export function databaseOf(
  stack: Stack,
  login: OutboxRelayDatabaseOptions = { iamUser: 'relay' },
): OutboxRelayDatabase {
  const cluster = rds.DatabaseCluster.fromDatabaseClusterAttributes(stack, 'Database', {
    clusterIdentifier: 'database',
    clusterResourceIdentifier: 'cluster-1',
    clusterEndpointAddress: 'database.cluster-1.eu-west-1.rds.amazonaws.com',
    port: 5432,
  });
  return OutboxRelayDatabase.fromCluster(cluster, login);
}

export function relay(stack: Stack, settings: object = {}): OutboxRelayFunction {
  return new OutboxRelayFunction(stack, 'Relay', {
    vpc: vpcOf(stack),
    database: 'database' in settings ? (settings.database as OutboxRelayDatabase) : databaseOf(stack),
    ...(!('stream' in settings) && { stream: imported(stack) }),
    ...settings,
  });
}

export function resharding(stack: Stack, settings: object): IndexItemMover {
  const budgets = { readUnitsPerSecond: 100, writeUnitsPerSecond: 50 };
  return new IndexItemMover(stack, 'It', { index: index(stack, ShardCounts.uniform(2)), ...budgets, ...settings });
}

export function tableItemMover(stack: Stack, settings: object): TableItemMover {
  const budgets = { readUnitsPerSecond: 100, writeUnitsPerSecond: 50 };
  const table = invoiceTable(stack);
  return new TableItemMover(stack, 'It', { table, itemVersion: ItemVersion.none(), ...budgets, ...settings });
}

export function dax(stack: Stack, settings: object): DaxCluster {
  const indexes = [index(stack, ShardCounts.uniform(2))];
  return new DaxCluster(stack, 'Cache', { vpc: vpcOf(stack), indexes, ...settings });
}
