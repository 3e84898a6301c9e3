import { Arn, ArnFormat, Stack } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';
import { familyMetric, metricEnvironment } from '../../construct/metric-definition';
import { checkOwnEnvironment, constructField } from '../../construct/props';
import type { ShardedIndexConfig } from '../../core/sharded-index/config/sharded-index-config';
import { InvalidIndexConfigError } from '../../core/sharded-index/config/sharded-index-errors';
import { bindConfig } from '../../function/bind-config';
import { checkDeclaredKey, requireDeclaredIndex } from '../declared-table';
import { SHARDED_INDEX_METRICS } from '../table-metrics';
import type { IndexWriters } from './index-writers';
import { ShardedIndexGrants } from './sharded-index-grants';
import type { BaseShardedIndexOptions } from './sharded-index-options';
import { type ShardedIndexSettings, shardedIndexSettings } from './sharded-index-settings';

/**
 * A sharded index, of a `ShardedTable` defined in this app or imported by `ShardedIndex.fromShardedIndexAttributes`.
 *
 * Pass it to a `FanOutQueryFunction` to query it. Bind it to your own functions that write to the table or query the index.
 */
export interface IShardedIndex {
  /** The table of the index. */
  readonly table: dynamodb.ITableV2;

  /** The name of the index. */
  readonly indexName: string;

  /** The ARN of the index: `<table ARN>/index/<index name>`. */
  readonly indexArn: string;

  /** The table that holds the increased counts. Undefined if the counts are fixed. */
  readonly shardCountTable?: dynamodb.ITableV2;

  /** Permissions for principals that query this index or write its items. */
  readonly grants: ShardedIndexGrants;

  /**
   * Lets a function write items so that they appear in this index. The function gets the configuration of the index in
   * an environment variable, for `shardAttributes` and `shardUpdate` of `cdk-even-shards/sharded-index`. The
   * permissions of the function only allow putting and updating items of the table. With adaptive counts, the function
   * may also read the counts: see `AdaptiveIndex`.
   *
   * The configuration contains the longest timeout of the bound functions, and `decreaseShardCount` waits for that time.
   *
   * @param writer the function that writes
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` if Lambda does not allow the name of the environment variable or
   *   the variable already has another value. Also throws this error if the function is known to be in another account
   *   or region than the table
   */
  bindWriter(writer: lambda.Function, binding?: ShardedIndexBindingOptions): iam.Grant;

  /**
   * Lets a function query this index without a `FanOutQueryFunction`. The function gets the configuration of the index
   * in an environment variable, for `fanOutQuery` of `cdk-even-shards/sharded-index`. The permissions of the function
   * only allow querying the index. With adaptive counts, the function may also read the counts: see `AdaptiveIndex`. A
   * function that does not run on Node.js invokes a `FanOutQueryFunction` instead.
   *
   * @param reader the function that queries
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` if Lambda does not allow the name of the environment variable or
   *   the variable already has another value. Also throws this error if the function is known to be in another account
   *   or region than the table
   */
  bindReader(reader: lambda.Function, binding?: ShardedIndexBindingOptions): iam.Grant;

  /**
   * The configuration that an application needs to write to the index and to query it, as JSON. Put it into an
   * environment variable, and pass the parsed object (`ShardedIndexConfig`) to `shardAttributes` and `fanOutQuery` of
   * `cdk-even-shards/sharded-index`.
   *
   * If the app creates the table, its name is a token until deployment. The app does not know writers that get only this JSON. If
   * such a writer can take longer than the bound functions, pass its time to `decreaseShardCount` as `longestWriteMs`.
   */
  toConfigJson(): string;

  /**
   * The same index in a replica of the table, for functions in the region of the replica.
   *
   * @param region the region of the replica
   * @throws the error of `TableV2.replica` if a table of this app has no replica in the region
   */
  onReplica(region: string): IShardedIndex;

  /**
   * A metric that DynamoDB writes for the index. The guide to metrics lists the names.
   *
   * The default period is 5 minutes. The default statistic is in the guide. For a metric that is not in the guide, the
   * default is the average.
   *
   * @param metricName the name of the metric, such as `WriteThrottleEvents`
   * @param props the statistic, period, label and color of the metric
   */
  metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}

/** The environment variable in which a function gets the configuration of a sharded index. */
export interface ShardedIndexBindingOptions {
  /**
   * The name of the environment variable that holds the configuration of the index, as JSON. The name has letters,
   * digits and underscores, and starts with a letter.
   *
   * @default - the name of the index in capitals, such as BY_STATUS for `byStatus`
   */
  readonly environmentVariable?: string;
}

/** An existing sharded index, with the options that it was created with, for `ShardedIndex.fromShardedIndexAttributes`. */
export interface ShardedIndexAttributes extends BaseShardedIndexOptions {
  /**
   * The table of the index, defined in this app or imported by `TableV2.fromTableName`, `fromTableArn` or
   * `fromTableAttributes`. If the table has a customer-managed key, import the table with its `encryptionKey`.
   * Functions and applications find the table by its name, in their own account and region.
   */
  readonly table: dynamodb.ITableV2;

  /** The names of the key attributes of the table: the partition key, then the sort key if the table has one. */
  readonly tableKey: string[];
}

/**
 * A global secondary index that spreads each value over several shards. `ShardedTable.addShardedIndex` creates it.
 *
 * Pass it to a `FanOutQueryFunction` to query it. Bind it to your own functions that write to the table or query the index.
 *
 * @exampleMetadata fixture=app
 * @example
 * const byTime = table.addShardedIndex({
 *   indexName: 'byTime',
 *   sortKey: { name: 'createdAt', type: dynamodb.AttributeType.STRING },
 *   shardCounts: ShardCounts.uniform(4),
 * });
 * byTime.bindWriter(application);
 * byTime.bindReader(application);
 */
export class ShardedIndex implements IShardedIndex {
  /**
   * Imports an existing index: an index of another app, or an index that was sharded without
   * `ShardedTable.addShardedIndex`. The attributes must describe the index as it is. The import does not create, change
   * or look up resources.
   *
   * @param attributes the table, the key of the table, and the index
   * @throws an error with the code `INVALID_INDEX_CONFIG` if the attributes contradict each other or the key of a table of
   *   this app, and `INVALID_INDEX_VALUE` if `shardCounts` names a value that the value attribute cannot have. Synthesis
   *   fails if a table of this app does not have the index, or has it with another key
   */
  public static fromShardedIndexAttributes(attributes: ShardedIndexAttributes): IShardedIndex {
    const { table, tableKey, indexName } = attributes;
    const field = constructField(table, `${indexName}.tableKey`);
    checkTableKey(field, tableKey);
    checkDeclaredKey(field, table, tableKey);
    const unknown = { shardedIndexes: [], keyAttributes: [], shardCountTable: () => undefined };
    const settings = shardedIndexSettings({ table, tableKey, ...unknown }, attributes);
    requireDeclaredIndex(table, settings);
    return new ShardedIndex(table, settings);
  }

  /** @internal */
  public static _of(table: dynamodb.ITableV2, settings: ShardedIndexSettings): ShardedIndex {
    return new ShardedIndex(table, settings);
  }

  /** The table of the index. */
  public readonly table: dynamodb.ITableV2;
  /** The name of the index. */
  public readonly indexName: string;
  /** The ARN of the index: `<table ARN>/index/<index name>`. */
  public readonly indexArn: string;
  /** The table that holds the increased counts. Undefined if the counts are fixed. */
  public readonly shardCountTable?: dynamodb.ITableV2;
  /** Permissions for principals that query this index or write its items. */
  public readonly grants: ShardedIndexGrants;

  /** @internal */
  public readonly _config: ShardedIndexConfig;

  private readonly replicas: { [region: string]: ShardedIndex } = {};
  private readonly writers?: IndexWriters;

  private constructor(table: dynamodb.ITableV2, { config, shardCountTable, writers }: Bound) {
    this.table = table;
    this.shardCountTable = shardCountTable;
    this.indexName = config.indexName;
    this.indexArn = `${table.tableArn}/index/${config.indexName}`;
    this.writers = writers;
    this.grants = ShardedIndexGrants._of(this, writers);
    this._config = config;
  }

  /**
   * Lets a function write items so that they appear in this index. The function gets the configuration of the index in
   * an environment variable, for `shardAttributes` and `shardUpdate` of `cdk-even-shards/sharded-index`. The
   * permissions of the function only allow putting and updating items of the table. With adaptive counts, the function
   * may also read the counts: see `AdaptiveIndex`.
   *
   * The configuration contains the longest timeout of the bound functions, and `decreaseShardCount` waits for that time.
   *
   * @param writer the function that writes
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` if Lambda does not allow the name of the environment variable or
   *   the variable already has another value. Also throws this error if the function is known to be in another account
   *   or region than the table
   */
  public bindWriter(writer: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    this.bind('bindWriter', writer, binding);
    return this.grants.write(writer);
  }

  /**
   * Lets a function query this index without a `FanOutQueryFunction`. The function gets the configuration of the index
   * in an environment variable, for `fanOutQuery` of `cdk-even-shards/sharded-index`. The permissions of the function
   * only allow querying the index. With adaptive counts, the function may also read the counts: see `AdaptiveIndex`. A
   * function that does not run on Node.js invokes a `FanOutQueryFunction` instead.
   *
   * @param reader the function that queries
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` if Lambda does not allow the name of the environment variable or
   *   the variable already has another value. Also throws this error if the function is known to be in another account
   *   or region than the table
   */
  public bindReader(reader: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    this.bind('bindReader', reader, binding);
    this.writers?.readers.add(reader);
    return this.grants.query(reader);
  }

  /**
   * The configuration that an application needs to write to the index and to query it, as JSON. Put it into an
   * environment variable, and pass the parsed object (`ShardedIndexConfig`) to `shardAttributes` and `fanOutQuery` of
   * `cdk-even-shards/sharded-index`.
   *
   * If the app creates the table, its name is a token until deployment. The app does not know writers that get only this JSON. If
   * such a writer can take longer than the bound functions, pass its time to `decreaseShardCount` as `longestWriteMs`.
   */
  public toConfigJson(): string {
    return this.table.stack.toJsonString(this._config);
  }

  /**
   * The same index in a replica of the table, for functions in the region of the replica.
   *
   * @param region the region of the replica
   * @throws the error of `TableV2.replica` if a table of this app has no replica in the region. An error with the
   *   code `INVALID_INDEX_CONFIG` for an index with adaptive counts, because only one region has these counts
   */
  public onReplica(region: string): IShardedIndex {
    if (region === this.table.env.region) return this;
    if (this.shardCountTable !== undefined) {
      const field = constructField(this.table, `${this.indexName}.shardCounts`);
      const allowed =
        'fixed for readers and writers in another region (only the region of the table has consistent reads of adaptive counts)';
      throw new InvalidIndexConfigError(field, 'ShardCounts.adaptive', allowed);
    }
    const { _config: config, writers } = this;
    this.replicas[region] ??= new ShardedIndex(replicaOf(this.table, region), { config, ...(writers && { writers }) });
    return this.replicas[region];
  }

  /**
   * A metric that DynamoDB writes for the index. The guide to metrics lists the names.
   *
   * The default period is 5 minutes. The default statistic is in the guide. For a metric that is not in the guide, the
   * default is the average.
   *
   * @param metricName the name of the metric, such as `WriteThrottleEvents`
   * @param props the statistic, period, label and color of the metric
   */
  public metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    const dimensions = { TableName: this.table.tableName, GlobalSecondaryIndexName: this.indexName };
    return familyMetric(SHARDED_INDEX_METRICS, metricName, dimensions, {
      ...metricEnvironment(this.table),
      ...props,
    });
  }

  /**
   * Write units that the index has consumed.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricConsumedWriteCapacityUnits(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ConsumedWriteCapacityUnits', props);
  }

  /**
   * Read units that queries of the index have consumed.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricConsumedReadCapacityUnits(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ConsumedReadCapacityUnits', props);
  }

  /**
   * Writes to the index that DynamoDB throttled, for any cause.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricWriteThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('WriteThrottleEvents', props);
  }

  /**
   * Reads of the index that DynamoDB throttled, for any cause.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricReadThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ReadThrottleEvents', props);
  }

  /**
   * Writes that DynamoDB throttled because a partition of the index got more than 1,000 write units a second. DynamoDB then also
   * throttles the writes to the table.
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
   * Reads that DynamoDB throttled because a partition of the index got more than 3,000 read units a second.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-key-range-limit-exceeded-mitigation.html
   */
  public metricReadKeyRangeThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ReadKeyRangeThroughputThrottleEvents', props);
  }

  /**
   * Write units that DynamoDB consumes while it builds the index from the existing items of the table. The metric of consumed
   * write units does not include them.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricOnlineIndexConsumedWriteCapacity(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('OnlineIndexConsumedWriteCapacity', props);
  }

  private bind(method: string, bound: lambda.Function, { environmentVariable }: ShardedIndexBindingOptions): void {
    const { indexName: name, _config: config } = this;
    checkIndexEnvironment(bound, method, `the index ${name}`, this);
    bindConfig({ name, config, json: this.toConfigJson() }, bound, environmentVariable);
  }
}

/** The configuration for readers and writers of an index, and the table that holds its counts. */
type Bound = Pick<ShardedIndexSettings, 'config' | 'shardCountTable' | 'writers'>;

/**
 * @throws an error with the code `INVALID_ARGUMENT` if the index, or its table of counts, is in another account or region than
 * its user
 */
export function checkIndexEnvironment(
  user: IConstruct,
  property: string,
  what: string,
  { table, shardCountTable }: IShardedIndex,
): void {
  checkOwnEnvironment(user, property, what, table);
  if (shardCountTable !== undefined)
    checkOwnEnvironment(user, property, `the shardCountTable of ${what}`, shardCountTable);
}

/**
 * Returns the replica of a table in a region. A table of this app has a construct for each replica. For an imported
 * table, the ARN of the replica is derived from the ARN of the table.
 */
export function replicaOf(table: dynamodb.ITableV2, region: string): dynamodb.ITableV2 {
  if (table instanceof dynamodb.TableV2) return table.replica(region);
  const id = `Replica${region}`;
  const known = table.node.tryFindChild(id) as dynamodb.ITableV2 | undefined;
  if (known !== undefined) return known;
  const components = Stack.of(table).splitArn(table.tableArn, ArnFormat.SLASH_RESOURCE_NAME);
  return dynamodb.TableV2.fromTableArn(table, id, Arn.format({ ...components, region }));
}

/** Checks the key of an imported table: one attribute, or two different attributes. */
function checkTableKey(field: string, tableKey: readonly string[]): void {
  const named = tableKey.every((name) => name !== '');
  if (named && (tableKey.length === 1 || (tableKey.length === 2 && tableKey[0] !== tableKey[1]))) return;
  const allowed = 'the name of the partition key, then the name of the sort key if the table has one';
  throw new InvalidIndexConfigError(field, tableKey, allowed);
}
