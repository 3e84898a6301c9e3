import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { ShardedIndexBindingOptions } from '../index/sharded-index-binding-options';
import type { KeyShardedTableGrants } from './key-sharded-table-grants';

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
   * `shardAttributes`, `shardKey` and `transactPut` of `cdk-even-shards/core`, and may get, put, update, delete and check
   * single items of the table, and nothing else.
   *
   * Throws an error with the code `INVALID_ARGUMENT` if Lambda does not take the name of the environment variable, if the
   * variable holds another table or what you have set yourself, or if the function is known to be in another account or
   * region than the table.
   *
   * @param writer the function that writes
   * @param binding how the function is told
   */
  bindWriter(writer: lambda.Function, binding?: ShardedIndexBindingOptions): iam.Grant;

  /**
   * Lets a function query this table and get single items of it: it gets the configuration of the table as an environment
   * variable, for `fanOutQuery` and `shardKey` of `cdk-even-shards/core`, and may query the table and get its items, and
   * nothing else.
   *
   * Throws an error with the code `INVALID_ARGUMENT` as `bindWriter` does.
   *
   * @param reader the function that queries
   * @param binding how the function is told
   */
  bindReader(reader: lambda.Function, binding?: ShardedIndexBindingOptions): iam.Grant;

  /**
   * Everything that an application must know to write to this table and to query it, as JSON (`ShardedTableConfig` of
   * `cdk-even-shards/core`). The name of a table that the app creates is resolved when the stack is deployed.
   */
  toConfigJson(): string;

  /**
   * The replica of the table in another region: for functions that run there. Transactions and conditions hold in one region
   * of a global table only, so let all writers of an item run in one region.
   *
   * Throws what `TableV2.replica` throws for a table of this app that has no replica in the region.
   *
   * @param region the region of the replica
   */
  onReplica(region: string): IKeyShardedTable;

  /**
   * Writes to the table that were throttled, for whatever reason.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricWriteThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Reads of the table that were throttled, for whatever reason.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricReadThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Writes that were throttled because a partition of the table got more than the 1,000 units a second that it takes.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-key-range-limit-exceeded-mitigation.html
   */
  metricWriteKeyRangeThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Reads that were throttled because a partition of the table got more than the 3,000 units a second that it takes.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-key-range-limit-exceeded-mitigation.html
   */
  metricReadKeyRangeThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}
