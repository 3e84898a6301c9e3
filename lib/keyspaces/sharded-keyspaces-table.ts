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

/** A Cassandra table that spreads each value of its partition key over several shards. */
export interface IShardedKeyspacesTable extends IResource {
  /** The name of the keyspace. */
  readonly keyspaceName: string;

  /** The name of the table. */
  readonly tableName: string;

  /** The ARN of the table: `arn:aws:cassandra:region:account:/keyspace/<keyspace>/table/<table>`. */
  readonly tableArn: string;

  /** The customer-managed key of the table, if it has one. */
  readonly encryptionKey?: kms.IKey;

  /** Permissions for principals that read or write the table. */
  readonly grants: ShardedKeyspacesTableGrants;

  /**
   * Lets a function write rows. The function gets the configuration of the table in an environment variable, for `shardColumns` of
   * `cdk-even-shards/keyspaces`, and may modify the table.
   *
   * @param writer the function that writes
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` if Lambda does not allow the name of the environment variable or
   *   the variable already has another value. Also throws this error if the function is known to be in another account
   *   or region than the table
   */
  bindWriter(writer: lambda.Function, binding?: KeyspacesTableBindingOptions): iam.Grant;

  /**
   * Lets a function read rows without a `KeyspacesFanOutQueryFunction`. The function gets the configuration of the table in an environment
   * variable, for `fanOutSelect` and `selectRow` of `cdk-even-shards/keyspaces`, and may select from the table.
   *
   * @param reader the function that reads
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` under the same conditions as `bindWriter`
   */
  bindReader(reader: lambda.Function, binding?: KeyspacesTableBindingOptions): iam.Grant;

  /**
   * The configuration that an application needs to write to the table and to read it, as JSON. Pass the parsed object
   * (`ShardedKeyspacesConfig`) to `shardColumns`, `selectRow` and `fanOutSelect` of `cdk-even-shards/keyspaces`.
   */
  toConfigJson(): string;

  /**
   * A metric that Amazon Keyspaces writes for the table: `ConsumedWriteCapacityUnits` or `ConsumedReadCapacityUnits`.
   *
   * The default period is 5 minutes. The default statistic is in the guide to metrics. For a metric that is not in the
   * guide, the default is the average.
   *
   * @param metricName the name of the metric
   * @param props the statistic, period, label and color of the metric
   */
  metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * A metric that Amazon Keyspaces writes for one operation on the table, such as
   * `StoragePartitionThroughputCapacityExceeded`. The guide to metrics lists the names.
   *
   * The default period is 5 minutes. The default statistic is in the guide. For a metric that is not in the guide, the
   * default is the average.
   *
   * @param metricName the name of the metric
   * @param operation `SELECT`, `INSERT`, `UPDATE` or `DELETE`
   * @param props the statistic, period, label and color of the metric
   */
  metricOfOperation(metricName: string, operation: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}

/** The environment variable in which a function gets the configuration of a sharded table. */
export interface KeyspacesTableBindingOptions {
  /**
   * The name of the environment variable that gets the configuration of the table as JSON. The name has letters, digits
   * and underscores, and starts with a letter.
   *
   * @default - the name of the table in capitals, such as `BLOGS` for `blogs`
   */
  readonly environmentVariable?: string;
}

/** An existing sharded Cassandra table in the account and region of the stack. */
export interface ShardedKeyspacesTableAttributes extends ShardedKeyspacesTableOptions {
  /**
   * The names of the columns that are not part of the key, regular and static.
   *
   * @default - queries return only the key columns
   */
  readonly columnNames?: string[];

  /**
   * The customer-managed key of the table.
   *
   * @default - a key that AWS owns
   */
  readonly encryptionKey?: kms.IKey;
}

/**
 * The base class of created tables and of imported tables.
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
  /** The customer-managed key of the table, if it has one. */
  public readonly encryptionKey?: kms.IKey;
  /** Permissions for principals that read or write the table. */
  public readonly grants: ShardedKeyspacesTableGrants;

  /** @internal */
  public readonly _config: ShardedKeyspacesConfig;

  /**
   * @param scope the construct to add the table to
   * @param id the table's name within the scope
   * @param options the names, columns and shards of the table
   * @param columnNames the columns that are not part of the key
   * @param encryptionKey the customer-managed key of the table
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
   * Lets a function write rows. The function gets the configuration of the table in an environment variable, for `shardColumns` of
   * `cdk-even-shards/keyspaces`, and may modify the table.
   *
   * @param writer the function that writes
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` if Lambda does not allow the name of the environment variable or
   *   the variable already has another value. Also throws this error if the function is known to be in another account
   *   or region than the table
   */
  public bindWriter(writer: lambda.Function, binding: KeyspacesTableBindingOptions = {}): iam.Grant {
    this.bind('bindWriter', writer, binding);
    return this.grants.modifyRows(writer);
  }

  /**
   * Lets a function read rows without a `KeyspacesFanOutQueryFunction`. The function gets the configuration of the table in an environment
   * variable, for `fanOutSelect` and `selectRow` of `cdk-even-shards/keyspaces`, and may select from the table.
   *
   * @param reader the function that reads
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` under the same conditions as `bindWriter`
   */
  public bindReader(reader: lambda.Function, binding: KeyspacesTableBindingOptions = {}): iam.Grant {
    this.bind('bindReader', reader, binding);
    return this.grants.selectRows(reader);
  }

  /**
   * The configuration that an application needs to write to the table and to read it, as JSON. Pass the parsed object
   * (`ShardedKeyspacesConfig`) to `shardColumns`, `selectRow` and `fanOutSelect` of `cdk-even-shards/keyspaces`.
   */
  public toConfigJson(): string {
    return this.stack.toJsonString(this._config);
  }

  /**
   * A metric that Amazon Keyspaces writes for the table: `ConsumedWriteCapacityUnits` or `ConsumedReadCapacityUnits`.
   *
   * The default period is 5 minutes. The default statistic is in the guide to metrics. For a metric that is not in the
   * guide, the default is the average.
   *
   * @param metricName the name of the metric
   * @param props the statistic, period, label and color of the metric
   */
  public metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    const given = { ...metricEnvironment(this), ...props };
    return familyMetric(KEYSPACES_TABLE_METRICS, metricName, this.dimensions, given).attachTo(this);
  }

  /**
   * A metric that Amazon Keyspaces writes for one operation on the table, such as
   * `StoragePartitionThroughputCapacityExceeded`. The guide to metrics lists the names.
   *
   * The default period is 5 minutes. The default statistic is in the guide. For a metric that is not in the guide, the
   * default is the average.
   *
   * @param metricName the name of the metric
   * @param operation `SELECT`, `INSERT`, `UPDATE` or `DELETE`
   * @param props the statistic, period, label and color of the metric
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

/** The checked configuration of a table for functions and applications, with defaults. */
function tableConfig(prefix: string, options: ShardedKeyspacesTableOptions, columns: string[]): ShardedKeyspacesConfig {
  const firstShard = Props.named(prefix, options, { firstShard: 0 }).resolved('firstShard', 'a whole number');
  requireShardCounts(`${prefix}shardCounts`, options.shardCounts);
  if (options.shardCounts._maximum !== undefined) {
    const allowed = 'fixed (Amazon Keyspaces does not report which partition is throttled)';
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
  // Writers in other languages find the count of a value by its text, so each count is stored under the normalized
  // text of its value.
  return { ...config, shards: { ...config.shards, byValue: { ...normalizedCounts(prefix, config) } } };
}

/**
 * A table of Amazon Keyspaces (for Apache Cassandra) that spreads each value of its partition key over several shards.
 * Without shards, a table whose partition key is a day has one hot partition every day. A partition takes at most
 * 1,000 write units a second.
 *
 * The primary key is `((publish_date, shard), title)` in place of `((publish_date), title)`. Write rows with `shardColumns` of
 * `cdk-even-shards/keyspaces`, and read them with `selectRow` and `fanOutSelect`. To read from other languages, use a
 * `KeyspacesFanOutQueryFunction`.
 *
 * By default, the table is billed on demand, can be restored to a point in time, and is retained when it is removed from the stack. You
 * can change its shard counts in the steps of `ShardCounts`, but not its key.
 *
 * @see https://docs.aws.amazon.com/keyspaces/latest/devguide/bp-partition-key-sharding.html
 * @throws an error with the code `INVALID_TABLE_CONFIG` if the properties contradict each other, such as a shard
 *   column that is also a clustering column. Also throws this error if Amazon Keyspaces does not allow a name, a
 *   keyspace, a type, or the number of columns. `INVALID_ARGUMENT` if `defaultTimeToLive` is more than 20 years, or is
 *   not a whole number of seconds
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
   * Imports an existing table. The attributes must describe the table as it is. The import does not create, change or
   * look up resources.
   *
   * @param scope the construct to add the reference to, usually `this`
   * @param id the id within the scope
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
   * Creates a table with a shard column.
   *
   * @param scope the construct to add the table to, usually `this`
   * @param id the table's name within the scope
   * @param props the columns, the shards, and the settings of the table
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
