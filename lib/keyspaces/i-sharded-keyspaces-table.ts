import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { IShardedKeyspacesTableRef } from './i-sharded-keyspaces-table-ref';
import type { KeyspacesTableBindingOptions } from './keyspaces-table-binding-options';
import type { ShardedKeyspacesTableGrants } from './sharded-keyspaces-table-grants';

/** A Cassandra table whose partition key values are spread over several shards each. */
export interface IShardedKeyspacesTable extends IShardedKeyspacesTableRef {
  /** Permissions for whatever works with the table. */
  readonly grants: ShardedKeyspacesTableGrants;

  /**
   * Lets a function write rows: it gets the table's configuration as an environment variable, for `shardColumns` of
   * `cdk-even-shards/keyspaces`, and may modify the table.
   *
   * Throws an error with the code `INVALID_ARGUMENT` if Lambda does not take the name of the environment variable, if the
   * variable holds another table or what you have set yourself, or if the function is known to be in another account or
   * region than the table.
   *
   * @param writer the function that writes
   * @param binding how the function is told
   */
  bindWriter(writer: lambda.Function, binding?: KeyspacesTableBindingOptions): iam.Grant;

  /**
   * Lets a function read rows by itself: it gets the table's configuration as an environment variable, for `fanOutSelect`
   * and `selectRow` of `cdk-even-shards/keyspaces`, and may select from the table.
   *
   * Throws an error with the code `INVALID_ARGUMENT` as `bindWriter` does.
   *
   * @param reader the function that reads
   * @param binding how the function is told
   */
  bindReader(reader: lambda.Function, binding?: KeyspacesTableBindingOptions): iam.Grant;

  /**
   * Everything that an application must know to write to the table and to read it, as JSON: hand the parsed object
   * (`ShardedKeyspacesConfig`) to `shardColumns`, `selectRow` and `fanOutSelect` of `cdk-even-shards/keyspaces`.
   */
  toConfigJson(): string;
}
