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
import { SHARDED_INDEX_METRICS } from '../table-metrics';
import type { IndexWriters } from './index-writers';
import { ShardedIndexGrants } from './sharded-index-grants';
import type { BaseShardedIndexOptions } from './sharded-index-options';
import { type ShardedIndexSettings, shardedIndexSettings } from './sharded-index-settings';

/**
 * A sharded index, of a `ShardedTable` of this app or imported by `ShardedIndex.fromShardedIndexAttributes`.
 *
 * Give it to a `FanOutQueryFunction` to query it, and bind it to the functions of your own that write to the table, or
 * that query it themselves.
 */
export interface IShardedIndex {
  /** The table the index belongs to. */
  readonly table: dynamodb.ITableV2;

  /** The name of the index. */
  readonly indexName: string;

  /** The ARN of the index: `<table ARN>/index/<index name>`. */
  readonly indexArn: string;

  /** The table that holds the counts of the values that have grown. Undefined if the counts are fixed. */
  readonly shardCountTable?: dynamodb.ITableV2;

  /** Permissions for whatever queries this index or writes its items. */
  readonly grants: ShardedIndexGrants;

  /**
   * Lets a function write items so that they appear in this index: the function gets the index's configuration as an
   * environment variable, for `shardAttributes` and `shardUpdate` of `cdk-even-shards/sharded-index`, and may put and update items
   * of the table, and nothing else. With adaptive counts it may also read them: see `AdaptiveIndex`.
   *
   * The configuration names the longest timeout of the bound functions, and `decreaseShardCount` waits for it.
   *
   * @param writer the function that writes
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` if Lambda does not take the name of the environment variable, if the
   *   variable holds another index or what you have set yourself, or if the function is known to be in another account or
   *   region than the table
   */
  bindWriter(writer: lambda.Function, binding?: ShardedIndexBindingOptions): iam.Grant;

  /**
   * Lets a function query this index by itself: the function gets the index's configuration as an environment variable,
   * for `fanOutQuery` of `cdk-even-shards/sharded-index`, and may query the index, and nothing else. With adaptive counts it may also
   * read them: see `AdaptiveIndex`. Anything that is not a Node.js function invokes a `FanOutQueryFunction` instead.
   *
   * @param reader the function that queries
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` if Lambda does not take the name of the environment variable, if the
   *   variable holds another index or what you have set yourself, or if the function is known to be in another account or
   *   region than the table
   */
  bindReader(reader: lambda.Function, binding?: ShardedIndexBindingOptions): iam.Grant;

  /**
   * Everything that an application must know to write to the index and to query it, as JSON: put it into an
   * environment variable, and hand the parsed object (`ShardedIndexConfig`) to `shardAttributes` and `fanOutQuery` of
   * `cdk-even-shards/sharded-index`.
   *
   * The name of a table that the app creates is resolved when the stack is deployed. Writers that only have this JSON are unknown to the
   * app. If one of them can take longer than the bound functions, pass its time to `decreaseShardCount` as `longestWriteMs`.
   */
  toConfigJson(): string;

  /**
   * The same index of a replica of the table, in another region: for functions that run there.
   *
   * @param region the region of the replica
   * @throws what `TableV2.replica` throws for a table of this app that has no replica in the region
   */
  onReplica(region: string): IShardedIndex;

  /**
   * Any metric that DynamoDB writes of the index, by its name: the guide to metrics lists them.
   *
   * Over 5 minutes by default, with the statistic that the guide names; for a metric that the guide does not name, the
   * average.
   *
   * @param metricName its name, such as `WriteThrottleEvents`
   * @param props its statistic, period, label and color
   */
  metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}

/** The environment variable by which a function gets the configuration of a sharded index that it writes or queries. */
export interface ShardedIndexBindingOptions {
  /**
   * The environment variable that holds the index's configuration, as JSON: letters, digits and underscores, starting
   * with a letter.
   *
   * @default - the name of the index in capitals, such as BY_STATUS for `byStatus`
   */
  readonly environmentVariable?: string;
}

/** A sharded index that exists, as `ShardedIndex.fromShardedIndexAttributes` takes it: described as it was added. */
export interface ShardedIndexAttributes extends BaseShardedIndexOptions {
  /**
   * The table the index belongs to, of this app or imported by `TableV2.fromTableName`, `fromTableArn` or
   * `fromTableAttributes`; import it with its `encryptionKey` if it has a customer-managed one. Functions and
   * applications look it up by its name, in their own account and region.
   */
  readonly table: dynamodb.ITableV2;

  /** The names of the attributes of the table's key: the partition key, then the sort key if the table has one. */
  readonly tableKey: string[];
}

/**
 * A global secondary index whose values are spread over several shards each, made by `ShardedTable.addShardedIndex`.
 *
 * Give it to a `FanOutQueryFunction` to query it, and bind it to the functions of your own that write to the table, or
 * that query it themselves.
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
   * Imports an index that exists: one of a table in another app, or one that was sharded by other means than
   * `ShardedTable.addShardedIndex`. Describe it as it is; nothing is created, changed or looked up.
   *
   * @param attributes the table, the key of the table, and the index
   * @throws an error with the code `INVALID_INDEX_CONFIG` if the attributes contradict each other, and
   *   `INVALID_INDEX_VALUE` if `shardCounts` names a value that the value attribute cannot have
   */
  public static fromShardedIndexAttributes(attributes: ShardedIndexAttributes): IShardedIndex {
    const { table, tableKey, indexName } = attributes;
    checkTableKey(constructField(table, `${indexName}.tableKey`), tableKey);
    const nothingElseIsKnown = { shardedIndexes: [], keyAttributes: [], shardCountTable: () => undefined };
    return new ShardedIndex(table, shardedIndexSettings({ table, tableKey, ...nothingElseIsKnown }, attributes));
  }

  /** @internal */
  public static _of(table: dynamodb.ITableV2, settings: ShardedIndexSettings): ShardedIndex {
    return new ShardedIndex(table, settings);
  }

  /** The table the index belongs to. */
  public readonly table: dynamodb.ITableV2;
  /** The name of the index. */
  public readonly indexName: string;
  /** The ARN of the index: `<table ARN>/index/<index name>`. */
  public readonly indexArn: string;
  /** The table that holds the counts of the values that have grown. Undefined if the counts are fixed. */
  public readonly shardCountTable?: dynamodb.ITableV2;
  /** Permissions for whatever queries this index or writes its items. */
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
   * Lets a function write items so that they appear in this index: the function gets the index's configuration as an
   * environment variable, for `shardAttributes` and `shardUpdate` of `cdk-even-shards/sharded-index`, and may put and update items
   * of the table, and nothing else. With adaptive counts it may also read them: see `AdaptiveIndex`.
   *
   * The configuration names the longest timeout of the bound functions, and `decreaseShardCount` waits for it.
   *
   * @param writer the function that writes
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` if Lambda does not take the name of the environment variable, if the
   *   variable holds another index or what you have set yourself, or if the function is known to be in another account or
   *   region than the table
   */
  public bindWriter(writer: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    this.bind('bindWriter', writer, binding);
    return this.grants.write(writer);
  }

  /**
   * Lets a function query this index by itself: the function gets the index's configuration as an environment variable,
   * for `fanOutQuery` of `cdk-even-shards/sharded-index`, and may query the index, and nothing else. With adaptive counts it may also
   * read them: see `AdaptiveIndex`. Anything that is not a Node.js function invokes a `FanOutQueryFunction` instead.
   *
   * @param reader the function that queries
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` if Lambda does not take the name of the environment variable, if the
   *   variable holds another index or what you have set yourself, or if the function is known to be in another account or
   *   region than the table
   */
  public bindReader(reader: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    this.bind('bindReader', reader, binding);
    this.writers?.readers.add(reader);
    return this.grants.query(reader);
  }

  /**
   * Everything that an application must know to write to the index and to query it, as JSON: put it into an
   * environment variable, and hand the parsed object (`ShardedIndexConfig`) to `shardAttributes` and `fanOutQuery` of
   * `cdk-even-shards/sharded-index`.
   *
   * The name of a table that the app creates is resolved when the stack is deployed. Writers that only have this JSON are unknown to the
   * app. If one of them can take longer than the bound functions, pass its time to `decreaseShardCount` as `longestWriteMs`.
   */
  public toConfigJson(): string {
    return this.table.stack.toJsonString(this._config);
  }

  /**
   * The same index of a replica of the table, in another region: for functions that run there.
   *
   * @param region the region of the replica
   * @throws what `TableV2.replica` throws for a table of this app that has no replica in the region, and an error with the
   *   code `INVALID_INDEX_CONFIG` for an index with adaptive counts, which are read in one region alone
   */
  public onReplica(region: string): IShardedIndex {
    if (region === this.table.env.region) return this;
    if (this.shardCountTable !== undefined) {
      const field = constructField(this.table, `${this.indexName}.shardCounts`);
      const allowed =
        'fixed for readers and writers in another region: adaptive counts have consistent reads in one region';
      throw new InvalidIndexConfigError(field, 'ShardCounts.adaptive', allowed);
    }
    const { _config: config, writers } = this;
    this.replicas[region] ??= new ShardedIndex(replicaOf(this.table, region), { config, ...(writers && { writers }) });
    return this.replicas[region];
  }

  /**
   * Any metric that DynamoDB writes of the index, by its name: the guide to metrics lists them.
   *
   * Over 5 minutes by default, with the statistic that the guide names; for a metric that the guide does not name, the
   * average.
   *
   * @param metricName its name, such as `WriteThrottleEvents`
   * @param props its statistic, period, label and color
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
   * @param props its statistic, period, label and color
   */
  public metricConsumedWriteCapacityUnits(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ConsumedWriteCapacityUnits', props);
  }

  /**
   * Read units that queries of the index have consumed.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricConsumedReadCapacityUnits(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ConsumedReadCapacityUnits', props);
  }

  /**
   * Writes to the index that were throttled, for whatever reason.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricWriteThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('WriteThrottleEvents', props);
  }

  /**
   * Reads of the index that were throttled, for whatever reason.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricReadThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ReadThrottleEvents', props);
  }

  /**
   * Writes that were throttled because a partition of the index got more than the 1,000 units a second that it
   * takes. They hold up the writes to the table.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-key-range-limit-exceeded-mitigation.html
   */
  public metricWriteKeyRangeThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('WriteKeyRangeThroughputThrottleEvents', props);
  }

  /**
   * Reads that were throttled because a partition of the index got more than the 3,000 units a second that it takes.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-key-range-limit-exceeded-mitigation.html
   */
  public metricReadKeyRangeThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ReadKeyRangeThroughputThrottleEvents', props);
  }

  /**
   * Write units consumed while the index is built from the items that the table has already. They are not part of
   * the consumed write units.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
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

/** The configuration for readers and writers of an index, and the table in which they look for its counts. */
type Bound = Pick<ShardedIndexSettings, 'config' | 'shardCountTable' | 'writers'>;

/** @throws an error with the code `INVALID_ARGUMENT` unless an index, and its table of counts, are where its users are */
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

/** A table of this app knows its replicas and their keys; of an imported table, the ARN says where a replica is. */
export function replicaOf(table: dynamodb.ITableV2, region: string): dynamodb.ITableV2 {
  if (table instanceof dynamodb.TableV2) return table.replica(region);
  const id = `Replica${region}`;
  const known = table.node.tryFindChild(id) as dynamodb.ITableV2 | undefined;
  if (known !== undefined) return known;
  const components = Stack.of(table).splitArn(table.tableArn, ArnFormat.SLASH_RESOURCE_NAME);
  return dynamodb.TableV2.fromTableArn(table, id, Arn.format({ ...components, region }));
}

/** An imported table's key is one, as DynamoDB has it. */
function checkTableKey(field: string, tableKey: readonly string[]): void {
  const named = tableKey.every((name) => name !== '');
  if (named && (tableKey.length === 1 || (tableKey.length === 2 && tableKey[0] !== tableKey[1]))) return;
  const allowed = 'the name of the partition key, then that of the sort key if the table has one';
  throw new InvalidIndexConfigError(field, tableKey, allowed);
}
