import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { ShardedIndexConfig } from '../core/write-sharding/sharded-index-config';
import { ShardedIndexQueryGrants } from './sharded-index-query-grants';

/**
 * A global secondary index whose values are spread over several shards each, made by `ShardedTable.addShardedIndex`.
 *
 * Give it to a `FanOutQueryFunction` to query it, and its `toConfigJson` to the applications that write to the table.
 */
export class ShardedIndex {
  /** @internal */
  public static _of(table: dynamodb.TableV2, config: ShardedIndexConfig): ShardedIndex {
    return new ShardedIndex(table, config);
  }

  /** The table the index belongs to. */
  public readonly table: dynamodb.TableV2;

  /** The name of the index. */
  public readonly indexName: string;

  /** The ARN of the index: `<table ARN>/index/<index name>`. */
  public readonly indexArn: string;

  /** Permissions for whatever queries this index. */
  public readonly queryGrants: ShardedIndexQueryGrants;

  /** @internal */
  public readonly _config: ShardedIndexConfig;

  private constructor(table: dynamodb.TableV2, config: ShardedIndexConfig) {
    this.table = table;
    this.indexName = config.indexName;
    this.indexArn = `${table.tableArn}/index/${config.indexName}`;
    this.queryGrants = ShardedIndexQueryGrants.fromIndex(this);
    this._config = config;
  }

  /**
   * Everything that an application must know to write to the index and to query it, as JSON: put it into an
   * environment variable, and hand the parsed object (`ShardedIndexConfig`) to `shardAttributes` and `fanOutQuery` of
   * `cdk-even-shards/core`.
   *
   * The table's name is resolved when the stack is deployed.
   */
  public toConfigJson(): string {
    return this.table.stack.toJsonString(this._config);
  }
}
