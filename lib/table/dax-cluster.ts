import { ArnFormat, Duration, type IResource, Resource, Stack } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { CfnCluster, CfnParameterGroup, CfnSubnetGroup } from 'aws-cdk-lib/aws-dax';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';
import { allowConnection } from '../construct/allow-connection';
import { grantOnKey } from '../construct/grant-on-key';
import { warnIfWithoutEffect } from '../construct/grant-without-effect';
import { average, familyMetric, type MetricFamily, metricEnvironment, sum } from '../construct/metric-definition';
import { checkedArn, checkOwnEnvironment, constructField, newConstructField, Props } from '../construct/props';
import { InvalidArgumentError } from '../core/kernel/errors';
import { guardDeployment } from '../deployment-check/deployment-guard';
import { bindConfig } from '../function/bind-config';
import type { IShardedIndex, ShardedIndexBindingOptions } from './index/sharded-index';

/** The metrics of a DAX cluster that the dashboards and alarms use. */
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

/** A DAX cluster, defined in this app or imported by `DaxCluster.fromDaxClusterAttributes`. */
export interface IDaxCluster extends IResource, ec2.IConnectable {
  /** The ARN of the cluster. */
  readonly clusterArn: string;

  /** The name of the cluster. */
  readonly clusterName: string;

  /** The endpoint for DAX clients: `daxs://...`. */
  readonly endpoint: string;

  /**
   * Lets a function read through this cluster. The function must run in a VPC.
   *
   * @param reader the function that reads
   * @param binding the environment variable that gets the endpoint, `DAX_ENDPOINT` by default
   */
  bindReader(reader: lambda.Function, binding?: ShardedIndexBindingOptions): iam.Grant;

  /**
   * Allows `dax:GetItem`, `dax:BatchGetItem` and `dax:Query` on this cluster only.
   *
   * @param grantee the role, function or other principal that reads
   */
  grantRead(grantee: iam.IGrantable): iam.Grant;

  /**
   * A metric that DAX writes for the cluster. The guide to metrics lists the names.
   *
   * @param metricName the name of the metric, such as `EstimatedDbSize`
   * @param props the statistic, period, label and color of the metric
   */
  metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}

/** An existing cluster, for `DaxCluster.fromDaxClusterAttributes`. */
export interface DaxClusterAttributes {
  /** The ARN of the cluster: `clusterArn` in the app of the cluster. */
  readonly clusterArn: string;

  /** The endpoint for DAX clients: `endpoint` in the app of the cluster, `daxs://...`. */
  readonly endpoint: string;

  /** The security groups of the nodes. `bindReader` opens the port of the cluster in these groups. */
  readonly securityGroups: ec2.ISecurityGroup[];
}

/**
 * The base class of clusters of this app and of imported clusters.
 *
 * @internal
 */
abstract class DaxClusterBase extends Resource implements IDaxCluster {
  /** The ARN of the cluster. */
  public abstract readonly clusterArn: string;

  /** The name of the cluster, which CloudFormation generates. */
  public abstract readonly clusterName: string;

  /** The endpoint for DAX clients: `daxs://...`. */
  public abstract readonly endpoint: string;

  /** The network connections of the nodes. */
  public abstract readonly connections: ec2.Connections;

  /**
   * Lets a function read through this cluster. The function gets the endpoint in an environment variable. The
   * permissions of the function only allow connecting to the cluster, getting items and querying.
   *
   * @param reader the function that reads
   * @param binding the environment variable that gets the endpoint, `DAX_ENDPOINT` by default
   * @throws an error with the code `INVALID_ARGUMENT` if the function does not run in a VPC, or Lambda does not allow
   *   the name of the environment variable. Also throws this error if the function is known to be in another account or
   *   region
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
   * Allows `dax:GetItem`, `dax:BatchGetItem` and `dax:Query` on this cluster only. The grantee must connect from a security
   * group that `connections` allows.
   *
   * @param grantee the role, function or other principal that reads
   */
  public grantRead(grantee: iam.IGrantable): iam.Grant {
    const actions = ['dax:GetItem', 'dax:BatchGetItem', 'dax:Query'];
    const grant = iam.Grant.addToPrincipal({ grantee, actions, resourceArns: [this.clusterArn] });
    const name = `the cluster ${this.node.id}`;
    return warnIfWithoutEffect(this, grant, { grantee, actions, construct: 'DaxCluster', name });
  }

  /**
   * Queries that the query cache answered.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricQueryCacheHits(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('QueryCacheHits', props);
  }

  /**
   * Queries that DynamoDB answered.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricQueryCacheMisses(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('QueryCacheMisses', props);
  }

  /**
   * Items that the item cache returned.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricItemCacheHits(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ItemCacheHits', props);
  }

  /**
   * Items that DynamoDB returned.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricItemCacheMisses(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ItemCacheMisses', props);
  }

  /**
   * Requests that a node of the cluster throttled.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricThrottledRequestCount(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ThrottledRequestCount', props);
  }

  /**
   * Requests for which the cluster returned a server error.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricFaultRequestCount(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('FaultRequestCount', props);
  }

  /**
   * The CPU utilization of the nodes, in percent.
   *
   * Average over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricCpuUtilization(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('CPUUtilization', props);
  }

  /**
   * The part of the nodes' memory that the caches use, in percent.
   *
   * Average over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricCacheMemoryUtilization(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('CacheMemoryUtilization', props);
  }

  /**
   * Bytes that nodes evicted from their caches to make room for new data.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricEvictedSize(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('EvictedSize', props);
  }

  /**
   * Requests that the cluster rejected: invalid requests and throttled requests.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricErrorRequestCount(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ErrorRequestCount', props);
  }

  /**
   * A metric that DAX writes for the cluster. The guide to metrics lists the names. DAX writes a metric only if its
   * value is not 0.
   *
   * The default period is 5 minutes. The default statistic is in the guide. For a metric that is not in the guide, the
   * default is the average.
   *
   * @param metricName the name of the metric, such as `EstimatedDbSize`
   * @param props the statistic, period, label and color of the metric
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
   * The sharded indexes that readers query through the cluster. Each index is defined in this app or imported, and is
   * in the account and region of the stack. It is unknown whether DAX supports keys of several attributes
   * (`KeyLayout.MULTI_ATTRIBUTE`).
   *
   * @default - readers read only `tables` through the cluster
   */
  readonly indexes?: IShardedIndex[];

  /**
   * The tables that readers read through the cluster, sharded by their own key or not. Each table is in the account and region of
   * the stack.
   *
   * @default - readers read only `indexes` through the cluster
   */
  readonly tables?: dynamodb.ITableV2[];

  /** The VPC of the cluster. Its readers must run in that VPC, too. */
  readonly vpc: ec2.IVpc;

  /**
   * The subnets of the nodes.
   *
   * @default - the private subnets of the VPC
   */
  readonly vpcSubnets?: ec2.SubnetSelection;

  /**
   * The security groups of the nodes.
   *
   * @default - the construct creates a security group that only allows the connections of `bindReader` and `connections`
   */
  readonly securityGroups?: ec2.ISecurityGroup[];

  /**
   * The node type. Types that begin with `dax.t` have little memory and become slow after a long time at high load, so use them
   * only for tests.
   *
   * @default dax.r5.large
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DAX.concepts.cluster.html
   */
  readonly nodeType?: string;

  /**
   * The number of nodes of the cluster: an integer from 1 to 11. Each node has its own caches and fills them from DynamoDB. More
   * nodes can answer more reads, and cause more reads of DynamoDB.
   *
   * @default 3, in different availability zones
   */
  readonly nodes?: number;

  /**
   * How long a node may return a query response from its query cache.
   *
   * @default - 5 minutes
   */
  readonly queryTimeToLive?: Duration;

  /**
   * How long a node may return an item from its item cache.
   *
   * @default - 5 minutes
   */
  readonly itemTimeToLive?: Duration;
}

/** Source: the DynamoDB developer guide, "DAX cluster components": one primary node and up to ten read replicas. */
const MAX_NODES = 11;

/** The port of a cluster with encrypted connections. Source: the DynamoDB developer guide, "DAX encryption in transit". */
const ENCRYPTED_PORT = 9111;

/** Source: the DynamoDB developer guide, "DAX access control". `Scan` is left out, because fan-out queries do not send it. */
const READS = ['DescribeTable', 'GetItem', 'BatchGetItem', 'Query'];

/**
 * A cluster of Amazon DynamoDB Accelerator (DAX) in front of sharded indexes and tables. Use it if applications read single items
 * or values more often than a partition allows, and if several applications share a cache. A cache in the memory of each
 * application is cheaper: `cache` of `FanOutQueryFunction`, or `cachedQueryClient`.
 *
 * Bind the cluster to your functions, and pass a `DaxDocument` of `@amazon-dax-sdk/lib-dax` to `fanOutQuery` of
 * `cdk-even-shards/sharded-index`. Writers write directly to DynamoDB. After a write, the cluster returns the old item
 * or page until the time to live of its cache entry ends.
 *
 * The cluster is encrypted at rest and in transit. Its role may read only the given indexes and tables. AWS bills each node by
 * the hour.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if there is neither an index nor a table, or if a number or a
 *   duration is out of bounds. Also throws this error if a table is known to be in another account or region
 *
 * @exampleMetadata fixture=app
 * @example
 * const cache = new DaxCluster(stack, 'Cache', { tables: [table], vpc });
 * cache.bindReader(application);
 */
export class DaxCluster extends DaxClusterBase implements IDaxCluster {
  /**
   * Imports an existing cluster of another app, to read through it and to monitor it. The import does not create,
   * change or look up resources.
   *
   * @param scope the construct to add the cluster to, usually `this`
   * @param id the cluster's name within the scope
   * @param attributes the values of the same properties in the other app
   */
  public static fromDaxClusterAttributes(scope: Construct, id: string, attributes: DaxClusterAttributes): IDaxCluster {
    return new ImportedDaxCluster(scope, id, attributes);
  }

  /** The ARN of the cluster. */
  public readonly clusterArn: string;

  /** The name of the cluster, which CloudFormation generates. */
  public readonly clusterName: string;

  /** The endpoint for DAX clients: `daxs://...`. */
  public readonly endpoint: string;

  /** The role with which the cluster reads DynamoDB. */
  public readonly role: iam.Role;

  /** The network connections of the nodes. */
  public readonly connections: ec2.Connections;

  /**
   * Creates a cluster with its own role, subnet group, parameter group and security group.
   *
   * @param scope the construct to add the cluster to, usually `this`
   * @param id the cluster's name within the scope
   * @param props the indexes and tables, the VPC and the nodes
   */
  constructor(scope: Construct, id: string, props: DaxClusterProps) {
    super(scope, id);
    guardDeployment(this);
    const settings = daxSettings(this, props);
    const { indexes, tables, vpc } = settings;
    this.role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('dax.amazonaws.com'),
      description: 'Lets a DAX cluster read sharded indexes and tables',
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
      description: 'Caches reads of sharded indexes and tables',
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
    // DAX uses the role to read DynamoDB as soon as the cluster is created.
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
    if (table.encryptionKey) grantOnKey(table.encryptionKey, this.role, ['kms:Decrypt'], 'DaxCluster');
  }
}

/** Source: the DAX API reference, CreateCluster: NodeType. */
const NODE_TYPE = /^dax\.[a-z0-9]+\.[a-z0-9]+$/;

/** The checked properties of a cluster, with defaults. The number of nodes may be a token. */
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
  const props = Props.of(cluster, given, {
    nodes: 3,
    nodeType: 'dax.r5.large',
    queryTimeToLive: timeToLive,
    itemTimeToLive: timeToLive,
  });
  const { indexes = [], tables = [], vpc } = given;
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
    nodeType: props.text('nodeType', NODE_TYPE, 'a node type of DAX, such as dax.r5.large'),
    nodes: props.whole('nodes', { min: 1, max: MAX_NODES }),
    queryTimeToLiveMs: props.milliseconds('queryTimeToLive', { min: Duration.millis(1), resolved: true }),
    itemTimeToLiveMs: props.milliseconds('itemTimeToLive', { min: Duration.millis(1), resolved: true }),
  };
}

/** A cluster of another app. The import adds nothing to the template. */
class ImportedDaxCluster extends DaxClusterBase {
  public readonly clusterArn: string;
  public readonly clusterName: string;
  public readonly endpoint: string;
  public readonly connections: ec2.Connections;

  constructor(scope: Construct, id: string, { clusterArn, endpoint, securityGroups }: DaxClusterAttributes) {
    super(scope, id, { environmentFromArn: checkedArn(newConstructField(scope, id, 'clusterArn'), clusterArn, 'dax') });
    this.clusterArn = clusterArn;
    this.clusterName = Stack.of(this).splitArn(clusterArn, ArnFormat.SLASH_RESOURCE_NAME).resourceName!;
    this.endpoint = Props.of(this, { endpoint }).text(
      'endpoint',
      /^daxs?:\/\/[^/]+/,
      'an address that begins with dax:// or daxs://',
    );
    this.connections = new ec2.Connections({ securityGroups, defaultPort: ec2.Port.tcp(ENCRYPTED_PORT) });
  }
}
