import { ArnFormat, Duration, type IResource, Resource, Stack } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { CfnCluster, CfnParameterGroup, CfnSubnetGroup } from 'aws-cdk-lib/aws-dax';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';
import { allowConnection } from '../construct/allow-connection';
import { grantOnKey } from '../construct/kept-table';
import { average, familyMetric, type MetricFamily, metricEnvironment, sum } from '../construct/metric-definition';
import { checkOwnEnvironment, constructField, Props } from '../construct/props';
import { InvalidArgumentError } from '../core/kernel/errors';
import { guardDeployment } from '../deployment-check/deployment-guard';
import { bindConfig } from '../function/bind-config';
import type { IShardedIndex, ShardedIndexBindingOptions } from './index/sharded-index';

/** What DAX writes of a cluster, as far as it is watched. */
export const DAX_METRICS = {
  namespace: 'AWS/DAX',
  dimensions: ['ClusterId'],
  metrics: {
    QueryCacheHits: sum('Count'),
    QueryCacheMisses: sum('Count'),
    ItemCacheHits: sum('Count'),
    ItemCacheMisses: sum('Count'),
    ThrottledRequestCount: sum('Count'),
    FaultRequestCount: sum('Count'),
    CPUUtilization: average('Percent'),
    CacheMemoryUtilization: average('Percent'),
    EvictedSize: sum('Bytes'),
    ErrorRequestCount: sum('Count'),
  },
} as const satisfies MetricFamily;

/** A cluster of DAX, of this app or imported by `DaxCluster.fromDaxClusterAttributes`. */
export interface IDaxCluster extends IResource, ec2.IConnectable {
  /** The ARN of the cluster. */
  readonly clusterArn: string;

  /** The name of the cluster. */
  readonly clusterName: string;

  /** What a client of DAX connects to: `daxs://...`. */
  readonly endpoint: string;

  /**
   * Lets a function of the network read through this cluster.
   *
   * @param reader the function that reads
   * @param binding the environment variable that gets the endpoint, `DAX_ENDPOINT` by default
   */
  bindReader(reader: lambda.Function, binding?: ShardedIndexBindingOptions): iam.Grant;

  /**
   * Allows `dax:GetItem`, `dax:BatchGetItem` and `dax:Query` on exactly this cluster.
   *
   * @param grantee the role, function or other principal that reads
   */
  grantRead(grantee: iam.IGrantable): iam.Grant;

  /**
   * Any metric that DAX writes of the cluster, by its name: the guide to metrics lists them.
   *
   * @param metricName its name, such as `EstimatedDbSize`
   * @param props its statistic, period, label and color
   */
  metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}

/** A cluster that exists, as `DaxCluster.fromDaxClusterAttributes` takes it. */
export interface DaxClusterAttributes {
  /** The ARN of the cluster: `clusterArn` in the app that has it. */
  readonly clusterArn: string;

  /** What a client of DAX connects to: `endpoint` in the app that has the cluster, `daxs://...`. */
  readonly endpoint: string;

  /** The security groups of its nodes. `bindReader` opens the port of the cluster in them. */
  readonly securityGroups: ec2.ISecurityGroup[];
}

/**
 * What every cluster has, of this app or imported.
 *
 * @internal
 */
abstract class DaxClusterBase extends Resource implements IDaxCluster {
  /** The ARN of the cluster. */
  public abstract readonly clusterArn: string;

  /** The name of the cluster, which CloudFormation gives it. */
  public abstract readonly clusterName: string;

  /** What a client of DAX connects to: `daxs://...`. */
  public abstract readonly endpoint: string;

  /** The network connections of the nodes. */
  public abstract readonly connections: ec2.Connections;

  /**
   * Lets a function of the network read through this cluster: it gets the endpoint as an environment variable, may connect,
   * and may get and query, and nothing else.
   *
   * @param reader the function that reads
   * @param binding the environment variable that gets the endpoint, `DAX_ENDPOINT` by default
   * @throws an error with the code `INVALID_ARGUMENT` if the function is not in a network, if it is known to be in another
   *   account or region, or if Lambda does not take the name of the environment variable
   */
  public bindReader(reader: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    if (!reader.isBoundToVpc) {
      throw new InvalidArgumentError(constructField(reader, 'bindReader'), reader.node.id, 'a function with a vpc');
    }
    checkOwnEnvironment(reader, 'bindReader', 'a cluster', this);
    const { endpoint } = this;
    const bound = { name: 'daxEndpoint', config: { cluster: this.node.path }, json: endpoint };
    bindConfig(bound, reader, binding.environmentVariable);
    allowConnection(reader, this, ec2.Port.tcp(ENCRYPTED_PORT), 'reads through the cache');
    return this.grantRead(reader);
  }

  /**
   * Allows `dax:GetItem`, `dax:BatchGetItem` and `dax:Query` on exactly this cluster. The grantee connects from a security
   * group that `connections` allows.
   *
   * @param grantee the role, function or other principal that reads
   */
  public grantRead(grantee: iam.IGrantable): iam.Grant {
    return iam.Grant.addToPrincipal({
      grantee,
      actions: ['dax:GetItem', 'dax:BatchGetItem', 'dax:Query'],
      resourceArns: [this.clusterArn],
    });
  }

  /**
   * Queries that were answered from the query cache.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricQueryCacheHits(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('QueryCacheHits', props);
  }

  /**
   * Queries that DynamoDB was asked.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricQueryCacheMisses(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('QueryCacheMisses', props);
  }

  /**
   * Items that were answered from the item cache.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricItemCacheHits(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ItemCacheHits', props);
  }

  /**
   * Items that DynamoDB was asked for.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricItemCacheMisses(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ItemCacheMisses', props);
  }

  /**
   * Requests that a node of the cluster throttled.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricThrottledRequestCount(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ThrottledRequestCount', props);
  }

  /**
   * Requests that the cluster failed to answer.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricFaultRequestCount(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('FaultRequestCount', props);
  }

  /**
   * How busy the CPUs of the nodes are, in percent.
   *
   * Average over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricCpuUtilization(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('CPUUtilization', props);
  }

  /**
   * How much of the memory of the nodes their caches use, in percent.
   *
   * Average over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricCacheMemoryUtilization(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('CacheMemoryUtilization', props);
  }

  /**
   * Bytes that nodes evicted from their caches to make room for others.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricEvictedSize(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('EvictedSize', props);
  }

  /**
   * Requests that the cluster rejected as wrong or throttled.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricErrorRequestCount(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ErrorRequestCount', props);
  }

  /**
   * Any metric that DAX writes of the cluster, by its name: the guide to metrics lists them. DAX writes a metric only if
   * it is not 0.
   *
   * Over 5 minutes by default, with the statistic that the guide names; for a metric that the guide does not name, the
   * average.
   *
   * @param metricName its name, such as `EstimatedDbSize`
   * @param props its statistic, period, label and color
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/dax-metrics-dimensions-dax.html
   */
  public metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return familyMetric(
      DAX_METRICS,
      metricName,
      { ClusterId: this.clusterName },
      { ...metricEnvironment(this), ...props },
    );
  }
}

/** Properties of a `DaxCluster`. */
export interface DaxClusterProps {
  /**
   * The sharded indexes that are read through the cluster, of this app or imported, in the stack's own account and region. Keys of
   * several attributes (`KeyLayout.MULTI_ATTRIBUTE`) are not known to work with DAX.
   *
   * @default - readers read only `tables` through the cluster
   */
  readonly indexes?: IShardedIndex[];

  /**
   * The tables whose items are read through the cluster, sharded by their own key or not, in the stack's own account and region.
   *
   * @default - readers read only `indexes` through the cluster
   */
  readonly tables?: dynamodb.ITableV2[];

  /** The network of the cluster. What reads through it runs there, too. */
  readonly vpc: ec2.IVpc;

  /**
   * The subnets of the nodes.
   *
   * @default - the private subnets of the network
   */
  readonly vpcSubnets?: ec2.SubnetSelection;

  /**
   * The security groups of the nodes.
   *
   * @default - the construct makes a security group, which lets in what `bindReader` and `connections` allow
   */
  readonly securityGroups?: ec2.ISecurityGroup[];

  /**
   * The kind of node. The types that begin with `dax.t` have little memory, and a CPU that is slowed down when it is busy for long: they
   * are for tests.
   *
   * @default dax.r5.large
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DAX.concepts.cluster.html
   */
  readonly nodeType?: string;

  /**
   * How many nodes the cluster has: a whole number from 1 to 11. Each node answers reads from caches of its own, so that
   * more nodes take more reads, and each of them asks DynamoDB for itself.
   *
   * @default 3, in different availability zones
   */
  readonly nodes?: number;

  /**
   * How old a page may be: for how long a node answers the same query from its query cache.
   *
   * @default - 5 minutes
   */
  readonly queryTimeToLive?: Duration;

  /**
   * How old an item may be that a reader gets by its key.
   *
   * @default - 5 minutes
   */
  readonly itemTimeToLive?: Duration;
}

/** Source: the DynamoDB developer guide, "DAX cluster components": one primary node and up to ten read replicas. */
const MAX_NODES = 11;

/** The port of a cluster whose connections are encrypted. Source: the DynamoDB developer guide, "DAX encryption in transit". */
const ENCRYPTED_PORT = 9111;

/** Source: the DynamoDB developer guide, "DAX access control", without `Scan`, which no fan-out query sends. */
const READS = ['DescribeTable', 'GetItem', 'BatchGetItem', 'Query'];

/**
 * A cluster of Amazon DynamoDB Accelerator (DAX) in front of sharded indexes and tables: for single items, and values, that are read
 * more often than their partition allows, where several applications share a cache. A cache in the memory of each application is
 * cheaper: `cache` of `FanOutQueryFunction`, and `cachedQueryClient`.
 *
 * Bind it to your functions, and give `fanOutQuery` of `cdk-even-shards/sharded-index` a `DaxDocument` of
 * `@amazon-dax-sdk/lib-dax`. Writes go to DynamoDB, past the cluster: it answers with the earlier item, or page, until its time to live
 * is over.
 *
 * It is encrypted at rest and in transit. Its role may read exactly the indexes and tables that it is given. It is billed by the hour
 * and node.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if there is neither an index nor a table, if a number or a duration is
 *   out of its bounds, or if a table is known to be in another account or region
 *
 * @exampleMetadata fixture=app
 * @example
 * const cache = new DaxCluster(stack, 'Cache', { tables: [table], vpc });
 * cache.bindReader(application);
 */
export class DaxCluster extends DaxClusterBase implements IDaxCluster {
  /**
   * Imports a cluster that exists, of another app: to read through it, and to watch it. Nothing is created, changed or looked up.
   *
   * @param scope the construct to add the cluster to, usually `this`
   * @param id the cluster's name within the scope
   * @param attributes the cluster, as the app that has it knows it
   */
  public static fromDaxClusterAttributes(scope: Construct, id: string, attributes: DaxClusterAttributes): IDaxCluster {
    return new ImportedDaxCluster(scope, id, attributes);
  }

  /** The ARN of the cluster. */
  public readonly clusterArn: string;

  /** The name of the cluster, which CloudFormation gives it. */
  public readonly clusterName: string;

  /** What a client of DAX connects to: `daxs://...`. */
  public readonly endpoint: string;

  /** The role that the cluster asks DynamoDB with. */
  public readonly role: iam.Role;

  /** The network connections of the nodes. */
  public readonly connections: ec2.Connections;

  /**
   * A cluster with a role, a subnet group, a parameter group and a security group of its own.
   *
   * @param scope the construct to add the cluster to, usually `this`
   * @param id the cluster's name within the scope
   * @param props what is read through it, and where it runs
   */
  constructor(scope: Construct, id: string, props: DaxClusterProps) {
    super(scope, id);
    guardDeployment(this);
    const settings = daxSettings(this, props);
    const { indexes, tables, vpc } = settings;
    this.role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('dax.amazonaws.com'),
      description: 'What a cluster of DAX asks DynamoDB with',
    });
    for (const table of tables) this.allowOn(table, READS);
    for (const index of indexes) {
      index.grants.query(this.role);
      if (!tables.includes(index.table)) this.allowOn(index.table, ['DescribeTable']);
    }
    const description = 'The nodes of a cluster of DAX';
    const { securityGroups = [new ec2.SecurityGroup(this, 'SecurityGroup', { vpc, description })] } = props;
    this.connections = new ec2.Connections({ securityGroups, defaultPort: ec2.Port.tcp(ENCRYPTED_PORT) });
    const cluster = new CfnCluster(this, 'Resource', {
      description: 'Caches what is read of sharded tables',
      iamRoleArn: this.role.roleArn,
      nodeType: settings.nodeType,
      replicationFactor: settings.nodes,
      subnetGroupName: new CfnSubnetGroup(this, 'Subnets', {
        description: 'The subnets of the nodes',
        subnetIds: vpc.selectSubnets(props.vpcSubnets).subnetIds,
      }).ref,
      securityGroupIds: securityGroups.map(({ securityGroupId }) => securityGroupId),
      parameterGroupName: new CfnParameterGroup(this, 'Parameters', {
        description: 'How old answers may be',
        parameterNameValues: {
          'query-ttl-millis': String(settings.queryTimeToLiveMs),
          'record-ttl-millis': String(settings.itemTimeToLiveMs),
        },
      }).ref,
      sseSpecification: { sseEnabled: true },
      clusterEndpointEncryptionType: 'TLS',
    });
    // DAX asks DynamoDB with the role as soon as it is created.
    cluster.node.addDependency(this.role);
    this.clusterArn = cluster.attrArn;
    this.clusterName = cluster.ref;
    this.endpoint = cluster.attrClusterDiscoveryEndpointUrl;
  }

  private allowOn(table: dynamodb.ITableV2, actions: string[]): void {
    this.role.addToPolicy(
      new iam.PolicyStatement({
        actions: actions.map((action) => `dynamodb:${action}`),
        resources: [table.tableArn],
      }),
    );
    if (table.encryptionKey) grantOnKey(table.encryptionKey, this.role, ['kms:Decrypt']);
  }
}

/** What a cluster is built from: its properties, checked, and with their defaults. The number of nodes may be a token. */
interface DaxSettings {
  readonly indexes: readonly IShardedIndex[];
  readonly tables: readonly dynamodb.ITableV2[];
  readonly vpc: ec2.IVpc;
  readonly nodeType: string;
  readonly nodes: number;
  readonly queryTimeToLiveMs: number;
  readonly itemTimeToLiveMs: number;
}

function daxSettings(cluster: IConstruct, given: DaxClusterProps): DaxSettings {
  const timeToLive = Duration.minutes(5);
  const props = Props.of(cluster, given, { nodes: 3, queryTimeToLive: timeToLive, itemTimeToLive: timeToLive });
  const { indexes = [], tables = [], vpc, nodeType = 'dax.r5.large' } = given;
  if (indexes.length + tables.length === 0) {
    throw props.refusal('indexes', indexes, 'at least one sharded index or table');
  }
  for (const table of [...tables, ...indexes.map((index) => index.table)]) {
    checkOwnEnvironment(cluster, 'tables', 'a table', table);
  }
  return {
    indexes,
    tables,
    vpc,
    nodeType,
    nodes: props.whole('nodes', { min: 1, max: MAX_NODES }),
    queryTimeToLiveMs: props.milliseconds('queryTimeToLive', { min: Duration.millis(1), resolved: true }),
    itemTimeToLiveMs: props.milliseconds('itemTimeToLive', { min: Duration.millis(1), resolved: true }),
  };
}

/** A cluster that another app has. It adds nothing to the template. */
class ImportedDaxCluster extends DaxClusterBase {
  public readonly clusterArn: string;
  public readonly clusterName: string;
  public readonly endpoint: string;
  public readonly connections: ec2.Connections;

  constructor(scope: Construct, id: string, { clusterArn, endpoint, securityGroups }: DaxClusterAttributes) {
    super(scope, id, { environmentFromArn: clusterArn });
    this.clusterArn = clusterArn;
    this.clusterName = Stack.of(this).splitArn(clusterArn, ArnFormat.SLASH_RESOURCE_NAME).resourceName!;
    this.endpoint = endpoint;
    this.connections = new ec2.Connections({ securityGroups, defaultPort: ec2.Port.tcp(ENCRYPTED_PORT) });
  }
}
