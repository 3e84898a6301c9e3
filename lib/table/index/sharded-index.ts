import { Stack } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { constructField } from '../../construct/construct-field';
import type { ShardedIndexConfig } from '../../core/sharded-index/config/sharded-index-config';
import { InvalidIndexConfigError } from '../../core/sharded-index/config/sharded-index-errors';
import { bindConfig } from '../../function/bind-config';
import type { IShardedIndex } from './i-sharded-index';
import { indexConfig } from './index-config';
import { checkIndexEnvironment } from './index-environment';
import { replicaOf } from './replica-of';
import type { ShardedIndexAttributes } from './sharded-index-attributes';
import { ShardedIndexBase } from './sharded-index-base';
import type { ShardedIndexBindingOptions } from './sharded-index-binding-options';
import { checkShardedIndex, checkTableKey } from './sharded-index-checks';
import { ShardedIndexGrants } from './sharded-index-grants';

/**
 * A global secondary index whose values are spread over several shards each, made by `ShardedTable.addShardedIndex`.
 *
 * Give it to a `FanOutQueryFunction` to query it, and bind it to the functions of your own that write to the table, or
 * that query it themselves.
 */
export class ShardedIndex extends ShardedIndexBase implements IShardedIndex {
  /**
   * Imports an index that exists: one of a table in another app, or one that was sharded by other means than
   * `ShardedTable.addShardedIndex`. Describe it as it is; nothing is created, changed or looked up.
   *
   * Throws an error with the code `INVALID_INDEX_CONFIG` if the attributes contradict each other, and
   * `INVALID_INDEX_VALUE` if `shardCounts` names a value that the value attribute cannot have.
   *
   * @param attributes the table, the key of the table, and the index
   */
  public static fromShardedIndexAttributes(attributes: ShardedIndexAttributes): IShardedIndex {
    const { table, tableKey, shardCountTable } = attributes;
    const config = indexConfig(table.tableName, tableKey, attributes, shardCountTable?.tableName);
    checkTableKey(table, config);
    checkShardedIndex(table, attributes, config);
    return new ShardedIndex(table, config, shardCountTable);
  }

  /** @internal */
  public static _of(
    table: dynamodb.ITableV2,
    config: ShardedIndexConfig,
    shardCountTable?: dynamodb.ITableV2,
  ): ShardedIndex {
    return new ShardedIndex(table, config, shardCountTable);
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

  private constructor(table: dynamodb.ITableV2, config: ShardedIndexConfig, shardCountTable?: dynamodb.ITableV2) {
    super();
    this.table = table;
    this.shardCountTable = shardCountTable;
    this.indexName = config.indexName;
    this.indexArn = `${table.tableArn}/index/${config.indexName}`;
    this.grants = ShardedIndexGrants.fromIndex(this);
    this._config = config;
  }

  /**
   * Lets a function write items so that they appear in this index: the function gets the index's configuration as an
   * environment variable, for `shardAttributes` and `shardUpdate` of `cdk-even-shards/core`, and may put and update items
   * of the table, and nothing else. With adaptive counts it may also read them: see `AdaptiveIndex`.
   *
   * Throws an error with the code `INVALID_ARGUMENT` if Lambda does not take the name of the environment variable, if
   * the variable holds another index or what you have set yourself, or if the function is known to be in another
   * account or region than the table.
   *
   * @param writer the function that writes
   * @param binding how the function is told
   */
  public bindWriter(writer: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    this.checkEnvironment('bindWriter', writer);
    bindConfig(
      { name: this.indexName, config: this._config, json: this.toConfigJson() },
      writer,
      binding.environmentVariable,
    );
    return this.grants.write(writer);
  }

  /**
   * Lets a function query this index by itself: the function gets the index's configuration as an environment variable,
   * for `fanOutQuery` of `cdk-even-shards/core`, and may query the index, and nothing else. With adaptive counts it may also
   * read them: see `AdaptiveIndex`. Anything that is not a Node.js function invokes a `FanOutQueryFunction` instead.
   *
   * Throws an error with the code `INVALID_ARGUMENT` if Lambda does not take the name of the environment variable, if
   * the variable holds another index or what you have set yourself, or if the function is known to be in another
   * account or region than the table.
   *
   * @param reader the function that queries
   * @param binding how the function is told
   */
  public bindReader(reader: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    this.checkEnvironment('bindReader', reader);
    bindConfig(
      { name: this.indexName, config: this._config, json: this.toConfigJson() },
      reader,
      binding.environmentVariable,
    );
    return this.grants.query(reader);
  }

  /**
   * Everything that an application must know to write to the index and to query it, as JSON: put it into an
   * environment variable, and hand the parsed object (`ShardedIndexConfig`) to `shardAttributes` and `fanOutQuery` of
   * `cdk-even-shards/core`.
   *
   * The name of a table that the app creates is resolved when the stack is deployed.
   */
  public toConfigJson(): string {
    return this.table.stack.toJsonString(this._config);
  }

  /**
   * The same index of a replica of the table, in another region: for functions that run there.
   *
   * Throws what `TableV2.replica` throws for a table of this app that has no replica in the region, and an error with the code
   * `INVALID_INDEX_CONFIG` for an index with adaptive counts, which are read in one region alone.
   *
   * @param region the region of the replica
   */
  public onReplica(region: string): IShardedIndex {
    if (region === this.table.env.region) return this;
    if (this.shardCountTable !== undefined) {
      const field = constructField(this.table, `${this.indexName}.shardCounts`);
      const allowed =
        'fixed for readers and writers in another region: adaptive counts have consistent reads in one region';
      throw new InvalidIndexConfigError(field, 'ShardCounts.adaptive', allowed);
    }
    this.replicas[region] ??= new ShardedIndex(replicaOf(this.table, region), this._config);
    return this.replicas[region];
  }

  private checkEnvironment(method: string, bound: lambda.Function): void {
    checkIndexEnvironment(constructField(bound, method), `the index ${this.indexName}`, this, Stack.of(bound));
  }
}
