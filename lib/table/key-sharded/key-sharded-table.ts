import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { given } from '../../construct/blueprint';
import { statisticOf } from '../../construct/metric-definition';
import { checkOwnEnvironment, constructField } from '../../construct/props';
import type { ShardedTableConfig } from '../../core/sharded-index/config/sharded-index-config';
import { InvalidIndexConfigError } from '../../core/sharded-index/config/sharded-index-errors';
import { describeKeySharding } from '../../deployment-check/sharding-metadata';
import { bindConfig } from '../../function/bind-config';
import { adviseOnTableShards } from '../index/index-advice';
import { replicaOf, type ShardedIndexBindingOptions } from '../index/sharded-index';
import type { ExpectedIndexTraffic } from '../index/sharded-index-options';
import { ShardedTable, type ShardedTableProps } from '../sharded-table';
import { SHARDED_TABLE_METRICS } from '../table-metrics';
import { KeyShardedTableGrants } from './key-sharded-table-grants';
import { type KeyShardingOptions, keyShardingConfig } from './key-sharding-settings';

/**
 * A table that is sharded by its own key: a `KeyShardedTable` of this app, a replica of one, or one that was imported by
 * `KeyShardedTable.fromKeyShardedTableAttributes`.
 *
 * Give it to a `FanOutQueryFunction` to query it, and bind it to the functions of your own that write to it, or that query it
 * themselves.
 */
export interface IKeyShardedTable {
  /** The table itself. */
  readonly table: dynamodb.ITableV2;

  /** What the event of a `FanOutQueryFunction` calls the table. */
  readonly queryName: string;

  /** Permissions for whatever queries this table, gets single items of it, or writes them. */
  readonly shardGrants: KeyShardedTableGrants;

  /**
   * Lets a function write items of this table: it gets the configuration of the table as an environment variable, for
   * `shardAttributes`, `shardKey` and `transactPut` of `cdk-even-shards/sharded-index`, and may get, put, update, delete and check
   * single items of the table, and nothing else.
   *
   * @param writer the function that writes
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` if Lambda does not take the name of the environment variable, if the
   *   variable holds another table or what you have set yourself, or if the function is known to be in another account or
   *   region than the table
   */
  bindWriter(writer: lambda.Function, binding?: ShardedIndexBindingOptions): iam.Grant;

  /**
   * Lets a function query this table and get single items of it: it gets the configuration of the table as an environment
   * variable, for `fanOutQuery` and `shardKey` of `cdk-even-shards/sharded-index`, and may query the table and get its items, and
   * nothing else.
   *
   * @param reader the function that queries
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` as `bindWriter` does
   */
  bindReader(reader: lambda.Function, binding?: ShardedIndexBindingOptions): iam.Grant;

  /**
   * Everything that an application must know to write to this table and to query it, as JSON (`ShardedTableConfig` of
   * `cdk-even-shards/sharded-index`). The name of a table that the app creates is resolved when the stack is deployed.
   */
  toConfigJson(): string;

  /**
   * The replica of the table in another region: for functions that run there. Transactions and conditions hold in one region
   * of a global table only, so let all writers of an item run in one region.
   *
   * @param region the region of the replica
   * @throws what `TableV2.replica` throws for a table of this app that has no replica in the region
   */
  onReplica(region: string): IKeyShardedTable;

  /**
   * Any metric that DynamoDB writes of the table, by its name: the guide to metrics lists those of a table that is sharded.
   *
   * Over 5 minutes by default, with the statistic that the guide names; for a metric that the guide does not name, the
   * average.
   *
   * @param metricName its name, such as `WriteThrottleEvents`
   * @param props its statistic, period, label and color
   */
  metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}

/** A table that exists, as `KeyShardedTable.fromKeyShardedTableAttributes` takes it: described as it was created. */
export interface KeyShardedTableAttributes extends KeyShardingOptions {
  /**
   * The table, of this app or imported by `TableV2.fromTableName`, `fromTableArn` or `fromTableAttributes`; import it with its
   * `encryptionKey` if it has a customer-managed one. Functions and applications look it up by its name, in their own account
   * and region.
   */
  readonly table: dynamodb.ITableV2;

  /** The names of the attributes of the table's key: the partition key, which is a string, then the sort key. */
  readonly tableKey: string[];

  /**
   * What the event of a `FanOutQueryFunction` calls the table.
   *
   * @default - the id of the construct of the table
   */
  readonly queryName?: string;
}

/** Properties of a `KeyShardedTable`. */
export interface KeyShardedTableProps extends ShardedTableProps, KeyShardingOptions {
  /**
   * The traffic that you expect; an update counts as one write. Synthesis warns if the table has too few shards for it, and
   * says which counts to set. It also warns of traffic that no count of shards can carry; the ids are
   * `cdk-even-shards:KeyShardedTable.tooFewShards` and `cdk-even-shards:KeyShardedTable.notFixedByShards`. It changes
   * nothing that is deployed.
   *
   * @default - synthesis gives no advice
   */
  readonly expectedTraffic?: ExpectedIndexTraffic;
}

/**
 * A DynamoDB table that is sharded by its own key: its partition key is a value and a shard, such as `121212-3`, so that the
 * items of one value spread over several partitions.
 *
 * Use it where the key of the table is hot: many items of one invoice, one day or one device. Give it to a
 * `FanOutQueryFunction`, and bind it to the functions of your own that write to it or query it. It is a `ShardedTable`
 * otherwise, so it can have sharded indexes, too.
 *
 * Its shard counts can change, in the steps that `planTableReshard` of `cdk-even-shards/sharded-index` lists. Its separator, its first
 * shard and what its shards are calculated from cannot change while it holds items.
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
   * Imports a table that exists: one of another app, or one that was sharded by other means. Describe it as it is; nothing is
   * created, changed or looked up.
   *
   * @param attributes the table, its key, and how it is sharded
   * @throws an error with the code `INVALID_INDEX_CONFIG` if the attributes contradict each other
   */
  public static fromKeyShardedTableAttributes(attributes: KeyShardedTableAttributes): IKeyShardedTable {
    const { table, tableKey, queryName = table.node.id } = attributes;
    return new KeySharding(table, queryName, keyShardingConfig(table, table.tableName, tableKey, attributes));
  }

  /** The table itself. */
  public readonly table: dynamodb.ITableV2;

  /** What the event of a `FanOutQueryFunction` calls the table: its id. */
  public readonly queryName: string;

  /** Permissions for whatever queries this table, gets single items of it, or writes them. */
  public readonly shardGrants: KeyShardedTableGrants;

  private readonly sharding: KeySharding;

  /**
   * A table whose partition key holds a value and a shard.
   *
   * @param scope the construct to add the table to, usually `this`
   * @param id the table's name within the scope; the event of a `FanOutQueryFunction` calls it by this name
   * @param props the key, and how it is sharded
   * @throws an error with the code `INVALID_INDEX_CONFIG` if the partition key is not a string, if there is no sort key, or
   *   if a property contradicts the others
   */
  constructor(scope: Construct, id: string, props: KeyShardedTableProps) {
    const { shardCounts, valueAttribute, shardedBy, strategy, expectedTraffic, ...others } = props;
    const { firstShard, separator, shardWidth, shardPlacement, ...table } = others;
    super(scope, id, given(table) as ShardedTableProps);
    const { partitionKey, sortKey } = props;
    if (partitionKey.type !== dynamodb.AttributeType.STRING) {
      const field = constructField(this, 'partitionKey.type');
      throw new InvalidIndexConfigError(field, partitionKey.type, 'S (string), which holds a value and a shard');
    }
    const tableKey = [partitionKey, sortKey].flatMap((attribute) => attribute?.name ?? []);
    const config = keyShardingConfig(this, this.tableName, tableKey, props);
    if (expectedTraffic) adviseOnTableShards(this, config, expectedTraffic, hasLocalIndex(props));
    describeKeySharding(this.node.defaultChild as dynamodb.CfnGlobalTable, config);
    this.table = this;
    this.queryName = id;
    this.sharding = new KeySharding(this, id, config);
    this.shardGrants = this.sharding.shardGrants;
  }

  /**
   * Lets a function write items of this table: it gets the configuration of the table as an environment variable, for
   * `shardAttributes`, `shardKey` and `transactPut` of `cdk-even-shards/sharded-index`, and may get, put, update, delete and check
   * single items of the table, and nothing else.
   *
   * @param writer the function that writes
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` if Lambda does not take the name of the environment variable, if the
   *   variable holds another table or what you have set yourself, or if the function is known to be in another account or
   *   region than the table
   */
  public bindWriter(writer: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    return this.sharding.bindWriter(writer, binding);
  }

  /**
   * Lets a function query this table and get single items of it: it gets the configuration of the table as an environment
   * variable, for `fanOutQuery` and `shardKey` of `cdk-even-shards/sharded-index`, and may query the table and get its items, and
   * nothing else.
   *
   * @param reader the function that queries
   * @param binding the environment variable that gets the configuration
   * @throws an error with the code `INVALID_ARGUMENT` as `bindWriter` does
   */
  public bindReader(reader: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    return this.sharding.bindReader(reader, binding);
  }

  /**
   * Everything that an application must know to write to this table and to query it, as JSON (`ShardedTableConfig` of
   * `cdk-even-shards/sharded-index`). The name of the table is resolved when the stack is deployed.
   */
  public toConfigJson(): string {
    return this.sharding.toConfigJson();
  }

  /**
   * The replica of the table in another region: for functions that run there. Transactions and conditions hold in one region
   * of a global table only, so let all writers of an item run in one region.
   *
   * @param region the region of the replica
   * @throws what `TableV2.replica` throws if the table has no replica in the region
   */
  public onReplica(region: string): IKeyShardedTable {
    return region === this.env.region ? this : this.sharding.onReplica(region);
  }

  /**
   * Any metric that DynamoDB writes of the table, by its name: the guide to metrics lists those of a table that is sharded.
   *
   * Over 5 minutes by default, with the statistic that the guide names; for a metric that the guide does not name, the
   * average.
   *
   * @param metricName its name, such as `WriteThrottleEvents`
   * @param props its statistic, period, label and color
   */
  public override metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return super.metric(metricName, { statistic: statisticOf(SHARDED_TABLE_METRICS, metricName), ...props });
  }

  /**
   * Writes to the table that were throttled, for whatever reason.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricWriteThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('WriteThrottleEvents', props);
  }

  /**
   * Reads of the table that were throttled, for whatever reason.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricReadThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ReadThrottleEvents', props);
  }

  /**
   * Writes that were throttled because a partition of the table got more than the 1,000 units a second that it takes.
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
   * Reads that were throttled because a partition of the table got more than the 3,000 units a second that it takes.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-key-range-limit-exceeded-mitigation.html
   */
  public metricReadKeyRangeThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ReadKeyRangeThroughputThrottleEvents', props);
  }
}

/** As far as the properties say: others can be added later. */
function hasLocalIndex({ localSecondaryIndexes = [] }: KeyShardedTableProps): boolean {
  return localSecondaryIndexes.length > 0;
}

/** What readers and writers of a table that is sharded by its own key are given, whether the app creates it or imports it. */
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
