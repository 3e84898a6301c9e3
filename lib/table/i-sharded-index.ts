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
   * Throws an error with the code `INVALID_ARGUMENT` if Lambda does not take the name of the environment variable, if
   * the variable holds another index or what you have set yourself, or if the function is known to be in another
   * account or region than the table.
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
   * Throws an error with the code `INVALID_ARGUMENT` if Lambda does not take the name of the environment variable, if
   * the variable holds another index or what you have set yourself, or if the function is known to be in another
   * account or region than the table.
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

  /**
   * The same index of a replica of the table, in another region: for functions that run there.
   *
   * Throws what `TableV2.replica` throws for a table of this app that has no replica in the region.
   *
   * @param region the region of the replica
   */
  onReplica(region: string): IShardedIndex;
}
