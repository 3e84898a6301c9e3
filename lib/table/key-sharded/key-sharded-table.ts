import { Annotations } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';
import { withoutUndefined } from '../../construct/blueprint';
import { statisticOf } from '../../construct/metric-definition';
import { checkOwnEnvironment, constructField } from '../../construct/props';
import { isText } from '../../core/kernel/checks';
import type { ShardedTableConfig } from '../../core/sharded-index/config/sharded-index-config';
import { InvalidIndexConfigError } from '../../core/sharded-index/config/sharded-index-errors';
import { describeKeySharding } from '../../deployment-check/sharding-metadata';
import { bindConfig } from '../../function/bind-config';
import { checkDeclaredKey, declaredKey } from '../declared-table';
import { adviseOnTableShards } from '../index/index-advice';
import { replicaOf, type ShardedIndexBindingOptions } from '../index/sharded-index';
import type { ExpectedIndexTraffic } from '../index/sharded-index-options';
import { ShardedTable, type ShardedTableProps } from '../sharded-table';
import { SHARDED_TABLE_METRICS } from '../table-metrics';
import { KeyShardedTableGrants } from './key-sharded-table-grants';
import { type KeyShardingOptions, keyShardingConfig } from './key-sharding-settings';

/**
 * A table that is sharded by its own key: a `KeyShardedTable` of this app, a replica of such a table, or a table that
 * was imported by `KeyShardedTable.fromKeyShardedTableAttributes`.
 *
 * Pass it to a `FanOutQueryFunction` to query it. Bind it to your own functions that write to the table or query it.
 */
export interface IKeyShardedTable {
  /** The DynamoDB table. */
  readonly table: dynamodb.ITableV2;

  /** The name of the table in events of a `FanOutQueryFunction`. */
  readonly queryName: string;

  /** Permissions for principals that query this table, get its items or write its items. */
  readonly shardGrants: KeyShardedTableGrants;

  /**
   * Lets a function write items of this table. The function gets the configuration of the table in an environment
   * variable, for `shardAttributes`, `shardKey` and `transactPut` of `cdk-even-shards/sharded-index`. The permissions
   * of the function only allow getting, putting, updating, deleting and checking single items of the table.
   *
   * @param writer the function that writes
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` if Lambda does not allow the name of the environment variable or
   *   the variable already has another value. Also throws this error if the function is known to be in another account
   *   or region than the table
   */
  bindWriter(writer: lambda.Function, binding?: ShardedIndexBindingOptions): iam.Grant;

  /**
   * Lets a function query this table and get its items. The function gets the configuration of the table in an
   * environment variable, for `fanOutQuery` and `shardKey` of `cdk-even-shards/sharded-index`. The permissions of the
   * function only allow querying the table and getting items.
   *
   * @param reader the function that queries
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` under the same conditions as `bindWriter`
   */
  bindReader(reader: lambda.Function, binding?: ShardedIndexBindingOptions): iam.Grant;

  /**
   * The configuration that an application needs to write to this table and to query it, as JSON (`ShardedTableConfig` of
   * `cdk-even-shards/sharded-index`). If the app creates the table, its name is a token until deployment.
   */
  toConfigJson(): string;

  /**
   * The replica of the table in another region, for functions in that region. Transactions and conditions of a global table apply
   * only within one region, so let all writers of an item run in one region.
   *
   * @param region the region of the replica
   * @throws the error of `TableV2.replica` if a table of this app has no replica in the region
   */
  onReplica(region: string): IKeyShardedTable;

  /**
   * A metric that DynamoDB writes for the table. The guide to metrics lists the names for sharded tables.
   *
   * The default period is 5 minutes. The default statistic is in the guide. For a metric that is not in the guide, the
   * default is the average.
   *
   * @param metricName the name of the metric, such as `WriteThrottleEvents`
   * @param props the statistic, period, label and color of the metric
   */
  metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}

/** An existing table with the options that it was created with, for `KeyShardedTable.fromKeyShardedTableAttributes`. */
export interface KeyShardedTableAttributes extends KeyShardingOptions {
  /**
   * The table, defined in this app or imported by `TableV2.fromTableName`, `fromTableArn` or `fromTableAttributes`. If
   * the table has a customer-managed key, import the table with its `encryptionKey`. Functions and applications find
   * the table by its name, in their own account and region.
   */
  readonly table: dynamodb.ITableV2;

  /** The names of the key attributes of the table: the partition key, which is a string, then the sort key. */
  readonly tableKey: string[];

  /**
   * The name of the table in events of a `FanOutQueryFunction`.
   *
   * @default - the id of the construct of the table
   */
  readonly queryName?: string;
}

/** Properties of a `KeyShardedTable`. */
export interface KeyShardedTableProps extends ShardedTableProps, KeyShardingOptions {
  /**
   * The traffic that you expect, only for warnings of synthesis. An update counts as one write.
   * `cdk-even-shards:KeyShardedTable.tooFewShards` names the counts to set if the table has too few shards.
   * `cdk-even-shards:KeyShardedTable.notFixedByShards` warns of problems of this traffic that more shards do not fix.
   *
   * @default - synthesis gives no advice
   */
  readonly expectedTraffic?: ExpectedIndexTraffic;
}

/**
 * A DynamoDB table that is sharded by its own key. The partition key is a value and a shard, such as `121212-3`, so the
 * items of one value spread over several partitions.
 *
 * Use it if the key of the table is hot: many items of one invoice, one day or one device. Pass it to a
 * `FanOutQueryFunction` to query it, and bind it to your own functions that write to the table or query it. It is also a
 * `ShardedTable`, so it can have sharded indexes.
 *
 * You can change its shard counts in the steps that `planTableReshard` of `cdk-even-shards/sharded-index` lists. While the table
 * holds items, you cannot change the separator, the first shard, or the attributes from which shards are calculated.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-sharding.html
 *
 * @stateful
 *
 * @exampleMetadata fixture=app
 * @example
 * const invoices = new KeyShardedTable(stack, 'Invoices', {
 *   partitionKey: { name: 'PK', type: dynamodb.AttributeType.STRING },
 *   sortKey: { name: 'SK', type: dynamodb.AttributeType.STRING },
 *   shardCounts: ShardCounts.uniform(5),
 * });
 * new FanOutQueryFunction(stack, 'Query', { tables: [invoices] });
 */
export class KeyShardedTable extends ShardedTable implements IKeyShardedTable {
  /**
   * Imports an existing table: a table of another app, or a table that was sharded without this library. The attributes
   * must describe the table as it is. The import does not create, change or look up resources.
   *
   * @param attributes the table, its key, and its sharding
   * @throws an error with the code `INVALID_INDEX_CONFIG` if the attributes contradict each other or the key of a table of
   *   this app
   */
  public static fromKeyShardedTableAttributes(attributes: KeyShardedTableAttributes): IKeyShardedTable {
    const { table, tableKey, queryName = table.node.id } = attributes;
    if (!isText(queryName)) {
      throw new InvalidIndexConfigError(constructField(table, 'queryName'), queryName, 'a non-empty string');
    }
    checkDeclaredKey(constructField(table, 'tableKey'), table, tableKey);
    checkPartitionKeyType(table, declaredKey(table)?.[0]?.type ?? dynamodb.AttributeType.STRING);
    return new KeySharding(table, queryName, keyShardingConfig(table, table.tableName, tableKey, attributes));
  }

  /** The DynamoDB table. */
  public readonly table: dynamodb.ITableV2;

  /** The name of the table in events of a `FanOutQueryFunction`: the id of the construct. */
  public readonly queryName: string;

  /** Permissions for principals that query this table, get its items or write its items. */
  public readonly shardGrants: KeyShardedTableGrants;

  private readonly sharding: KeySharding;

  /**
   * Creates a table whose partition key holds a value and a shard.
   *
   * @param scope the construct to add the table to, usually `this`
   * @param id the name of the table within the scope, and in events of a `FanOutQueryFunction`
   * @param props the key, and its sharding
   * @throws an error with the code `INVALID_INDEX_CONFIG` if the partition key is not a string, if there is no sort key, or
   *   if a property contradicts another property
   */
  constructor(scope: Construct, id: string, props: KeyShardedTableProps) {
    const { shardCounts, valueAttribute, shardedBy, strategy, expectedTraffic, ...others } = props;
    const { firstShard, separator, shardWidth, shardPlacement, ...table } = others;
    super(scope, id, withoutUndefined(table) as ShardedTableProps);
    const { partitionKey, sortKey } = props;
    checkPartitionKeyType(this, partitionKey.type);
    const tableKey = [partitionKey, sortKey].flatMap((attribute) => attribute?.name ?? []);
    const config = keyShardingConfig(this, this.tableName, tableKey, props);
    if (props.multiRegionConsistency === dynamodb.MultiRegionConsistency.STRONG) checkTransactions(this, config);
    if (expectedTraffic) adviseOnTableShards(this, config, expectedTraffic, hasLocalIndex(props));
    describeKeySharding(this.node.defaultChild as dynamodb.CfnGlobalTable, config);
    this.table = this;
    this.queryName = id;
    this.sharding = new KeySharding(this, id, config);
    this.shardGrants = this.sharding.shardGrants;
  }

  /**
   * Lets a function write items of this table. The function gets the configuration of the table in an environment
   * variable, for `shardAttributes`, `shardKey` and `transactPut` of `cdk-even-shards/sharded-index`. The permissions
   * of the function only allow getting, putting, updating, deleting and checking single items of the table.
   *
   * @param writer the function that writes
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` if Lambda does not allow the name of the environment variable or
   *   the variable already has another value. Also throws this error if the function is known to be in another account
   *   or region than the table
   */
  public bindWriter(writer: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    return this.sharding.bindWriter(writer, binding);
  }

  /**
   * Lets a function query this table and get its items. The function gets the configuration of the table in an
   * environment variable, for `fanOutQuery` and `shardKey` of `cdk-even-shards/sharded-index`. The permissions of the
   * function only allow querying the table and getting items.
   *
   * @param reader the function that queries
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` under the same conditions as `bindWriter`
   */
  public bindReader(reader: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    return this.sharding.bindReader(reader, binding);
  }

  /**
   * The configuration that an application needs to write to this table and to query it, as JSON (`ShardedTableConfig` of
   * `cdk-even-shards/sharded-index`). The name of the table is a token until deployment.
   */
  public toConfigJson(): string {
    return this.sharding.toConfigJson();
  }

  /**
   * The replica of the table in another region, for functions in that region. Transactions and conditions of a global table apply
   * only within one region, so let all writers of an item run in one region.
   *
   * @param region the region of the replica
   * @throws the error of `TableV2.replica` if the table has no replica in the region
   */
  public onReplica(region: string): IKeyShardedTable {
    return region === this.env.region ? this : this.sharding.onReplica(region);
  }

  /**
   * A metric that DynamoDB writes for the table. The guide to metrics lists the names for sharded tables.
   *
   * The default period is 5 minutes. The default statistic is in the guide. For a metric that is not in the guide, the
   * default is the average.
   *
   * @param metricName the name of the metric, such as `WriteThrottleEvents`
   * @param props the statistic, period, label and color of the metric
   */
  public override metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return super.metric(metricName, { statistic: statisticOf(SHARDED_TABLE_METRICS, metricName), ...props });
  }

  /**
   * Writes to the table that DynamoDB throttled, for any cause.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricWriteThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('WriteThrottleEvents', props);
  }

  /**
   * Reads of the table that DynamoDB throttled, for any cause.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricReadThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ReadThrottleEvents', props);
  }

  /**
   * Writes that DynamoDB throttled because a partition of the table got more than 1,000 write units a second.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-key-range-limit-exceeded-mitigation.html
   */
  public metricWriteKeyRangeThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('WriteKeyRangeThroughputThrottleEvents', props);
  }

  /**
   * Reads that DynamoDB throttled because a partition of the table got more than 3,000 read units a second.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-key-range-limit-exceeded-mitigation.html
   */
  public metricReadKeyRangeThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ReadKeyRangeThroughputThrottleEvents', props);
  }
}

/**
 * A table with multi-Region strong consistency rejects transactions. During a change of the shard counts, writers with
 * calculated shards need transactions, and so does a mover. Source: the DynamoDB developer guide, "Global tables:
 * multi-Region strong consistency".
 *
 * @throws InvalidIndexConfigError if the shard counts are changing
 */
function checkTransactions(table: KeyShardedTable, { shards, strategy }: ShardedTableConfig): void {
  const counts = [shards.default, ...Object.values(shards.byValue ?? {})];
  const isChanging = counts.some(({ write, read, since = write }) => since !== read);
  if (isChanging && strategy !== 'random') {
    const allowed =
      'counts that are not changing (multi-Region strong consistency rejects transactions, which writers need while counts change)';
    throw new InvalidIndexConfigError(constructField(table, 'shardCounts'), shards, allowed);
  }
  Annotations.of(table).addWarningV2(
    'cdk-even-shards:KeyShardedTable.noTransactions',
    'a table with multi-Region strong consistency rejects transactions: transactPut, transactDelete and reshardItems fail, so the shard counts of ' +
      'this table cannot change. Choose counts for its whole life, or use a table with eventual consistency.',
  );
}

/** @throws InvalidIndexConfigError unless the partition key is a string */
function checkPartitionKeyType(table: IConstruct, type: unknown): void {
  if (type === dynamodb.AttributeType.STRING) return;
  const allowed = 'S (the partition key is a string that holds a value and a shard)';
  throw new InvalidIndexConfigError(constructField(table, 'partitionKey.type'), type, allowed);
}

/** Whether the properties contain a local secondary index. An index that is added later is not known here. */
function hasLocalIndex({ localSecondaryIndexes = [] }: KeyShardedTableProps): boolean {
  return localSecondaryIndexes.length > 0;
}

/** The bindings, permissions and metrics of a table that is sharded by its own key, created by this app or imported. */
class KeySharding implements IKeyShardedTable {
  public readonly shardGrants: KeyShardedTableGrants;
  private readonly replicas: { [region: string]: KeySharding } = {};

  constructor(
    public readonly table: dynamodb.ITableV2,
    public readonly queryName: string,
    private readonly config: ShardedTableConfig,
  ) {
    this.shardGrants = KeyShardedTableGrants._of(table);
  }

  public bindWriter(writer: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    this.bind('bindWriter', writer, binding);
    return this.shardGrants.item(writer).combine(this.shardGrants.write(writer));
  }

  public bindReader(reader: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    this.bind('bindReader', reader, binding);
    return this.shardGrants.query(reader).combine(this.shardGrants.item(reader));
  }

  public toConfigJson(): string {
    return this.table.stack.toJsonString(this.config);
  }

  public onReplica(region: string): IKeyShardedTable {
    if (region === this.table.env.region) return this;
    this.replicas[region] ??= new KeySharding(replicaOf(this.table, region), this.queryName, this.config);
    return this.replicas[region];
  }

  public metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.table.metric(metricName, { statistic: statisticOf(SHARDED_TABLE_METRICS, metricName), ...props });
  }

  private bind(method: string, bound: lambda.Function, { environmentVariable }: ShardedIndexBindingOptions): void {
    const { table, queryName: name, config } = this;
    checkOwnEnvironment(bound, method, `the table ${name}`, table);
    bindConfig({ name, config, json: this.toConfigJson() }, bound, environmentVariable);
  }
}
