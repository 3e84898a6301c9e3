import { type IResource, RemovalPolicy, Resource } from 'aws-cdk-lib';
import * as cassandra from 'aws-cdk-lib/aws-cassandra';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { familyMetric, metricEnvironment } from '../construct/metric-definition';
import { checkOwnEnvironment, constructField, Props } from '../construct/props';
import { InvalidShardCountError } from '../core/kernel/errors';
import { normalizedCounts } from '../core/keyspaces/normalized-counts';
import { checkShardedKeyspacesConfig, type ShardedKeyspacesConfig } from '../core/keyspaces/sharded-keyspaces-config';
import { guardDeployment } from '../deployment-check/deployment-guard';
import { describeKeyspacesSharding } from '../deployment-check/sharding-metadata';
import { bindConfig } from '../function/bind-config';
import { requireShardCounts } from '../table/index/shard-counts';
import { ShardingStrategy } from '../table/index/sharded-index-options';
import { CqlType } from './cql-type';
import { KeyspacesBilling } from './keyspaces-billing';
import { KEYSPACES_OPERATION_METRICS, KEYSPACES_TABLE_METRICS } from './keyspaces-table-metrics';
import { checkNewTable } from './new-table-checks';
import { keyspacesTableArn, ShardedKeyspacesTableGrants } from './sharded-keyspaces-table-grants';
import type {
  KeyspacesColumn,
  ShardedKeyspacesTableOptions,
  ShardedKeyspacesTableProps,
} from './sharded-keyspaces-table-options';

/** A Cassandra table whose partition key values are spread over several shards each. */
export interface IShardedKeyspacesTable extends IResource {
  /** The name of the keyspace. */
  readonly keyspaceName: string;

  /** The name of the table. */
  readonly tableName: string;

  /** The ARN of the table: `arn:aws:cassandra:region:account:/keyspace/<keyspace>/table/<table>`. */
  readonly tableArn: string;

  /** The key of yours that the table is encrypted with, if it is one. */
  readonly encryptionKey?: kms.IKey;

  /** Permissions for whatever works with the table. */
  readonly grants: ShardedKeyspacesTableGrants;

  /**
   * Lets a function write rows: it gets the table's configuration as an environment variable, for `shardColumns` of
   * `cdk-even-shards/keyspaces`, and may modify the table.
   *
   * @param writer the function that writes
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` if Lambda does not take the name of the environment variable, if the
   *   variable holds another table or what you have set yourself, or if the function is known to be in another account or
   *   region than the table
   */
  bindWriter(writer: lambda.Function, binding?: KeyspacesTableBindingOptions): iam.Grant;

  /**
   * Lets a function read rows by itself: it gets the table's configuration as an environment variable, for `fanOutSelect`
   * and `selectRow` of `cdk-even-shards/keyspaces`, and may select from the table.
   *
   * @param reader the function that reads
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` as `bindWriter` does
   */
  bindReader(reader: lambda.Function, binding?: KeyspacesTableBindingOptions): iam.Grant;

  /**
   * Everything that an application must know to write to the table and to read it, as JSON: hand the parsed object
   * (`ShardedKeyspacesConfig`) to `shardColumns`, `selectRow` and `fanOutSelect` of `cdk-even-shards/keyspaces`.
   */
  toConfigJson(): string;

  /**
   * Any metric that Amazon Keyspaces writes of the table, by its name: `ConsumedWriteCapacityUnits` or `ConsumedReadCapacityUnits`.
   *
   * Over 5 minutes by default, with the statistic that the guide to metrics names; for a metric that it does not name, the
   * average.
   *
   * @param metricName its name
   * @param props its statistic, period, label and color
   */
  metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Any metric that Amazon Keyspaces writes of one operation on the table, by its name, such as
   * `StoragePartitionThroughputCapacityExceeded`: the guide to metrics lists those that are watched.
   *
   * Over 5 minutes by default, with the statistic that the guide names; for a metric that it does not name, the average.
   *
   * @param metricName its name
   * @param operation `SELECT`, `INSERT`, `UPDATE` or `DELETE`
   * @param props its statistic, period, label and color
   */
  metricOfOperation(metricName: string, operation: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}

/** The environment variable by which a function gets the configuration of a sharded table. */
export interface KeyspacesTableBindingOptions {
  /**
   * The environment variable that gets the table's configuration as JSON: letters, digits and underscores, starting with a
   * letter.
   *
   * @default - the table's name in capitals, such as `BLOGS` for `blogs`
   */
  readonly environmentVariable?: string;
}

/** A sharded Cassandra table that exists, in the account and region of the stack. */
export interface ShardedKeyspacesTableAttributes extends ShardedKeyspacesTableOptions {
  /**
   * The names of the columns that are no part of the key, regular and static.
   *
   * @default - queries return the key columns alone
   */
  readonly columnNames?: string[];

  /**
   * The key of yours that the table is encrypted with.
   *
   * @default - a key that AWS owns
   */
  readonly encryptionKey?: kms.IKey;
}

/**
 * What created and imported tables have in common.
 *
 * @internal
 */
abstract class ShardedKeyspacesTableBase extends Resource implements IShardedKeyspacesTable {
  /** The name of the keyspace. */
  public readonly keyspaceName: string;
  /** The name of the table. */
  public readonly tableName: string;
  /** The ARN of the table: `arn:aws:cassandra:region:account:/keyspace/<keyspace>/table/<table>`. */
  public readonly tableArn: string;
  /** The key of yours that the table is encrypted with, if it is one. */
  public readonly encryptionKey?: kms.IKey;
  /** Permissions for whatever works with the table. */
  public readonly grants: ShardedKeyspacesTableGrants;

  /** @internal */
  public readonly _config: ShardedKeyspacesConfig;

  /**
   * @param scope the construct to add the table to
   * @param id the table's name within the scope
   * @param options what the table is
   * @param columnNames the columns that are no part of its key
   * @param encryptionKey the key of yours that it is encrypted with
   */
  protected constructor(
    scope: Construct,
    id: string,
    options: ShardedKeyspacesTableOptions,
    columnNames: string[],
    encryptionKey?: kms.IKey,
  ) {
    super(scope, id);
    const { keyspaceName, tableName } = options;
    this._config = tableConfig(constructField(this, ''), options, columnNames);
    this.keyspaceName = keyspaceName;
    this.tableName = tableName;
    this.tableArn = keyspacesTableArn(this.stack, keyspaceName, tableName);
    this.encryptionKey = encryptionKey;
    this.grants = ShardedKeyspacesTableGrants._of(this);
  }

  /**
   * Lets a function write rows: it gets the table's configuration as an environment variable, for `shardColumns` of
   * `cdk-even-shards/keyspaces`, and may modify the table.
   *
   * @param writer the function that writes
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` if Lambda does not take the name of the environment variable, if the
   *   variable holds another table or what you have set yourself, or if the function is known to be in another account or
   *   region than the table
   */
  public bindWriter(writer: lambda.Function, binding: KeyspacesTableBindingOptions = {}): iam.Grant {
    this.bind('bindWriter', writer, binding);
    return this.grants.modifyRows(writer);
  }

  /**
   * Lets a function read rows by itself: it gets the table's configuration as an environment variable, for `fanOutSelect`
   * and `selectRow` of `cdk-even-shards/keyspaces`, and may select from the table.
   *
   * @param reader the function that reads
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` as `bindWriter` does
   */
  public bindReader(reader: lambda.Function, binding: KeyspacesTableBindingOptions = {}): iam.Grant {
    this.bind('bindReader', reader, binding);
    return this.grants.selectRows(reader);
  }

  /**
   * Everything that an application must know to write to the table and to read it, as JSON: hand the parsed object
   * (`ShardedKeyspacesConfig`) to `shardColumns`, `selectRow` and `fanOutSelect` of `cdk-even-shards/keyspaces`.
   */
  public toConfigJson(): string {
    return this.stack.toJsonString(this._config);
  }

  /**
   * Any metric that Amazon Keyspaces writes of the table, by its name: `ConsumedWriteCapacityUnits` or `ConsumedReadCapacityUnits`.
   *
   * Over 5 minutes by default, with the statistic that the guide to metrics names; for a metric that it does not name, the
   * average.
   *
   * @param metricName its name
   * @param props its statistic, period, label and color
   */
  public metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    const given = { ...metricEnvironment(this), ...props };
    return familyMetric(KEYSPACES_TABLE_METRICS, metricName, this.dimensions, given).attachTo(this);
  }

  /**
   * Any metric that Amazon Keyspaces writes of one operation on the table, by its name, such as
   * `StoragePartitionThroughputCapacityExceeded`: the guide to metrics lists those that are watched.
   *
   * Over 5 minutes by default, with the statistic that the guide names; for a metric that it does not name, the average.
   *
   * @param metricName its name
   * @param operation `SELECT`, `INSERT`, `UPDATE` or `DELETE`
   * @param props its statistic, period, label and color
   */
  public metricOfOperation(metricName: string, operation: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    const dimensions = { ...this.dimensions, Operation: operation };
    const given = { ...metricEnvironment(this), ...props };
    return familyMetric(KEYSPACES_OPERATION_METRICS, metricName, dimensions, given).attachTo(this);
  }

  private get dimensions(): Record<string, string> {
    return { Keyspace: this.keyspaceName, TableName: this.tableName };
  }

  private bind(method: string, bound: lambda.Function, { environmentVariable }: KeyspacesTableBindingOptions): void {
    const { tableName: name, _config: config } = this;
    checkOwnEnvironment(bound, method, `the table ${name}`, this);
    bindConfig({ name, config, json: this.toConfigJson() }, bound, environmentVariable);
  }
}

/** What functions and applications read of a table, its defaults filled in, and checked. */
function tableConfig(prefix: string, options: ShardedKeyspacesTableOptions, columns: string[]): ShardedKeyspacesConfig {
  const firstShard = Props.named(prefix, options, { firstShard: 0 }).resolved('firstShard', 'a whole number');
  requireShardCounts(`${prefix}shardCounts`, options.shardCounts);
  if (options.shardCounts._maximum !== undefined) {
    const allowed = 'fixed: a table of Amazon Keyspaces does not say which partition is throttled';
    throw new InvalidShardCountError(`${prefix}shardCounts`, 'ShardCounts.adaptive', allowed);
  }
  const config = {
    keyspaceName: options.keyspaceName,
    tableName: options.tableName,
    partitionKey: options.partitionKey.map(({ name, cqlType }) => ({ name, type: cqlType.cql })),
    shardColumn: options.shardColumn ?? 'shard',
    firstShard,
    clusteringColumns: options.clusteringColumns.map(({ name, cqlType, order }) => ({
      name,
      type: cqlType.cql,
      order: order ?? 'ASC',
    })),
    columns,
    shards: options.shardCounts._config,
    strategy: options.strategy ?? ShardingStrategy.CALCULATED,
    ...(options.calculatedFrom && { calculatedFrom: options.calculatedFrom }),
  } as ShardedKeyspacesConfig;
  checkShardedKeyspacesConfig(config, prefix);
  if (config.shards.byValue === undefined) return config;
  // Writers in other languages look a value up by its text.
  return { ...config, shards: { ...config.shards, byValue: { ...normalizedCounts(prefix, config) } } };
}

/**
 * A table of Amazon Keyspaces (for Apache Cassandra) that spreads each of its partition key values over several shards: a
 * table keyed by a day is one hot partition every day, with 1,000 write units a second and no more.
 *
 * It is `PRIMARY KEY ((publish_date, shard), title)` where it would have been `PRIMARY KEY ((publish_date), title)`. Write
 * to it with `shardColumns` of `cdk-even-shards/keyspaces`, read it back with `selectRow` and `fanOutSelect`, or from
 * anywhere with a `KeyspacesFanOutQueryFunction`.
 *
 * The table is billed on demand, can be restored to a point in time, and is retained when it leaves the stack, unless its
 * properties say otherwise. Its key cannot change; its shard counts can, as `ShardCounts` says.
 *
 * @see https://docs.aws.amazon.com/keyspaces/latest/devguide/bp-partition-key-sharding.html
 * @throws an error with the code `INVALID_TABLE_CONFIG` if the properties contradict each other, such as a shard column
 *   that is also a clustering column, or if Amazon Keyspaces has no such name, keyspace, type, or number of columns, and
 *   `INVALID_ARGUMENT` if `defaultTimeToLive` is not in whole seconds or more than 20 years
 *
 * @stateful
 *
 * @exampleMetadata fixture=app
 * @example
 * const blogs = new ShardedKeyspacesTable(stack, 'Blogs', {
 *   keyspaceName: 'blogs',
 *   tableName: 'blogs',
 *   partitionKey: [{ name: 'publish_date', cqlType: CqlType.DATE }],
 *   clusteringColumns: [{ name: 'title', cqlType: CqlType.TEXT }],
 *   shardCounts: ShardCounts.uniform(4),
 * });
 * blogs.bindWriter(application);
 */
export class ShardedKeyspacesTable extends ShardedKeyspacesTableBase {
  /**
   * A table that exists. Describe it as it is; nothing is created, changed or looked up.
   *
   * @param scope the construct to add the reference to, usually `this`
   * @param id its name within the scope
   * @param attributes the table
   * @throws an error with the code `INVALID_TABLE_CONFIG` if the attributes contradict each other
   */
  public static fromTableAttributes(
    scope: Construct,
    id: string,
    attributes: ShardedKeyspacesTableAttributes,
  ): IShardedKeyspacesTable {
    class ImportedTable extends ShardedKeyspacesTableBase {
      constructor() {
        super(scope, id, attributes, attributes.columnNames ?? [], attributes.encryptionKey);
      }
    }
    return new ImportedTable();
  }

  /**
   * A table with its shard column.
   *
   * @param scope the construct to add the table to, usually `this`
   * @param id the table's name within the scope
   * @param props the columns, the shards, and how the table is kept
   */
  constructor(scope: Construct, id: string, props: ShardedKeyspacesTableProps) {
    const { regularColumns = [], encryptionKey, defaultTimeToLive, changeStream } = props;
    super(
      scope,
      id,
      props,
      regularColumns.map(({ name }) => name),
      encryptionKey,
    );
    checkNewTable(constructField(this, ''), props);
    const table = new cassandra.CfnTable(this, 'Resource', {
      keyspaceName: props.keyspaceName,
      tableName: props.tableName,
      partitionKeyColumns: [...props.partitionKey, { name: this._config.shardColumn, cqlType: CqlType.INT }].map(
        columnOf,
      ),
      clusteringKeyColumns: props.clusteringColumns.map((column) => ({
        column: columnOf(column),
        orderBy: column.order ?? 'ASC',
      })),
      ...(regularColumns.length > 0 && { regularColumns: regularColumns.map(columnOf) }),
      ...(props.billing ?? KeyspacesBilling.onDemand())._props,
      pointInTimeRecoveryEnabled: props.pointInTimeRecovery ?? true,
      encryptionSpecification: encryptionKey
        ? { encryptionType: 'CUSTOMER_MANAGED_KMS_KEY', kmsKeyIdentifier: encryptionKey.keyArn }
        : { encryptionType: 'AWS_OWNED_KMS_KEY' },
      ...(defaultTimeToLive && { defaultTimeToLive: defaultTimeToLive.toSeconds() }),
      ...(props.clientSideTimestamps && { clientSideTimestampsEnabled: true }),
      ...(changeStream && { cdcSpecification: { status: 'ENABLED', viewType: changeStream } }),
    });
    table.applyRemovalPolicy(props.removalPolicy ?? RemovalPolicy.RETAIN);
    describeKeyspacesSharding(table, this._config);
    guardDeployment(this);
  }
}

function columnOf({ name, cqlType }: KeyspacesColumn): cassandra.CfnTable.ColumnProperty {
  return { columnName: name, columnType: cqlType.cql };
}
