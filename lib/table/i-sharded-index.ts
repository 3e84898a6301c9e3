import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { IShardedIndexRef } from './i-sharded-index-ref';
import type { ShardedIndexBindingOptions } from './sharded-index-binding-options';
import type { ShardedIndexGrants } from './sharded-index-grants';

/**
 * A sharded index, of a `ShardedTable` of this app or imported by `ShardedIndex.fromShardedIndexAttributes`.
 *
 * Give it to a `FanOutQueryFunction` to query it, and bind it to the functions of your own that write to the table, or
 * that query it themselves.
 */
export interface IShardedIndex extends IShardedIndexRef {
  /** Permissions for whatever queries this index or writes its items. */
  readonly grants: ShardedIndexGrants;

  /**
   * Lets a function write items so that they appear in this index: the function gets the index's configuration as an
   * environment variable, for `shardAttributes` and `shardUpdate` of `cdk-even-shards/core`, and may put and update items
   * of the table, and nothing else.
   *
   * Throws `InvalidArgumentError` if Lambda does not take the name of the environment variable, or if the variable holds
   * another index.
   *
   * @param writer the function that writes
   * @param binding how the function is told
   */
  bindWriter(writer: lambda.Function, binding?: ShardedIndexBindingOptions): iam.Grant;

  /**
   * Lets a function query this index by itself: the function gets the index's configuration as an environment variable,
   * for `fanOutQuery` of `cdk-even-shards/core`, and may query the index, and nothing else. Anything that is not a Node.js
   * function invokes a `FanOutQueryFunction` instead.
   *
   * Throws `InvalidArgumentError` if Lambda does not take the name of the environment variable, or if the variable holds
   * another index.
   *
   * @param reader the function that queries
   * @param binding how the function is told
   */
  bindReader(reader: lambda.Function, binding?: ShardedIndexBindingOptions): iam.Grant;

  /**
   * Everything that an application must know to write to the index and to query it, as JSON: put it into an
   * environment variable, and hand the parsed object (`ShardedIndexConfig`) to `shardAttributes` and `fanOutQuery` of
   * `cdk-even-shards/core`.
   *
   * The name of a table that the app creates is resolved when the stack is deployed.
   */
  toConfigJson(): string;
}
