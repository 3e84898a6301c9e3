import { Stack } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { constructField, inConstructTerms } from '../construct-field';
import { checkTableKey, type ShardedTableConfig } from '../core/sharded-index/sharded-index-config';
import { InvalidIndexConfigError } from '../core/sharded-index/sharded-index-errors';
import { bindConfig } from '../function/bind-config';
import { given } from '../given';
import { refuseToken } from '../refuse-token';
import { checkOwnEnvironment } from '../stream/own-environment';
import { KeyShardedTableGrants } from './key-sharded-table-grants';
import type { ShardCounts } from './shard-counts';
import type { ShardedIndexBindingOptions } from './sharded-index-binding-options';
import { ShardedTable, type ShardedTableProps } from './sharded-table';
import { ShardingStrategy } from './sharding-strategy';

/** Properties of a `KeyShardedTable`. */
export interface KeyShardedTableProps extends ShardedTableProps {
  /** How many shards each value is spread over. */
  readonly shardCounts: ShardCounts;

  /**
   * What stands between the value and the shard in the partition key: a text without digits, which no value contains.
   *
   * @default "#"
   */
  readonly separator?: string;

  /**
   * The number of the first shard, at least 0. The others follow.
   *
   * @default 0
   */
  readonly firstShard?: number;

  /**
   * The attribute in which writers find the value of an item.
   *
   * @default - the partition key: writers give an item with the value there, and the shard is added to it
   */
  readonly valueAttribute?: string;

  /**
   * The attributes that decide the shard of an item, at most four. Items whose values of them are the same share a shard.
   *
   * @default - the sort key
   */
  readonly shardedBy?: string[];

  /**
   * How writers pick the shard of an item. With random shards, a single item cannot be got, updated or deleted by its sort
   * key: a query finds it.
   *
   * @default ShardingStrategy.CALCULATED
   */
  readonly strategy?: ShardingStrategy;
}

/**
 * A DynamoDB table that is sharded by its own key: its partition key is a value and a shard, such as `121212-3`, so that the
 * items of one value spread over several partitions.
 *
 * Use it where the key of the table is hot: many items of one invoice, one day or one device. Give it to a
 * `FanOutQueryFunction`, and bind it to the functions of your own that write to it or query it. It is a `ShardedTable`
 * otherwise, so it can have sharded indexes, too.
 *
 * Its shard counts can change, in the steps that `planTableReshard` of `cdk-even-shards/core` lists. Its separator, its first
 * shard and what its shards are calculated from cannot change while it holds items.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-sharding.html
 *
 * @stateful
 */
export class KeyShardedTable extends ShardedTable {
  /** Permissions for whatever queries this table, gets single items of it, or writes them. */
  public readonly shardGrants: KeyShardedTableGrants;

  /** @internal */
  public readonly _config: ShardedTableConfig;

  /**
   * A table whose partition key holds a value and a shard.
   *
   * Throws an error with the code `INVALID_INDEX_CONFIG` if the partition key is not a string, if there is no sort key, or if
   * a property contradicts the others.
   *
   * @param scope the construct to add the table to, usually `this`
   * @param id the table's name within the scope; the event of a `FanOutQueryFunction` calls it by this name
   * @param props the key, and how it is sharded
   */
  constructor(scope: Construct, id: string, props: KeyShardedTableProps) {
    const { shardCounts, separator, firstShard, valueAttribute, shardedBy, strategy, ...table } = props;
    super(scope, id, given(table) as ShardedTableProps);
    const { partitionKey, sortKey } = props;
    if (partitionKey.type !== dynamodb.AttributeType.STRING) {
      const field = constructField(this, 'partitionKey.type');
      throw new InvalidIndexConfigError(field, partitionKey.type, 'S (string), which holds a value and a shard');
    }
    refuseToken(constructField(this, 'firstShard'), firstShard, 'a whole number');
    const ofStrategy = `${strategy ?? ShardingStrategy.CALCULATED}` as const;
    this._config = {
      tableName: this.tableName,
      tableKey: [partitionKey, sortKey].flatMap((attribute) => attribute?.name ?? []),
      keyLayout: 'single-attribute',
      valueAttribute: valueAttribute ?? partitionKey.name,
      shardAttribute: partitionKey.name,
      sortKeyAttributes: sortKey === undefined ? [] : [sortKey.name],
      shardedBy: shardedBy ?? (sortKey === undefined || ofStrategy === 'random' ? [] : [sortKey.name]),
      separator: separator ?? '#',
      firstShard: firstShard ?? 0,
      shards: shardCounts._config,
      strategy: ofStrategy,
    };
    inConstructTerms(this, 'sharding', () => checkTableKey(this._config));
    this.shardGrants = KeyShardedTableGrants.fromTable(this);
  }

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
  public bindWriter(writer: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    this.bind('bindWriter', writer, binding);
    return this.shardGrants.item(writer).combine(this.shardGrants.write(writer));
  }

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
  public bindReader(reader: lambda.Function, binding: ShardedIndexBindingOptions = {}): iam.Grant {
    this.bind('bindReader', reader, binding);
    return this.shardGrants.query(reader).combine(this.shardGrants.item(reader));
  }

  /**
   * Everything that an application must know to write to this table and to query it, as JSON (`ShardedTableConfig` of
   * `cdk-even-shards/core`). The name of the table is resolved when the stack is deployed.
   */
  public toConfigJson(): string {
    return Stack.of(this).toJsonString(this._config);
  }

  private bind(method: string, bound: lambda.Function, { environmentVariable }: ShardedIndexBindingOptions): void {
    checkOwnEnvironment(constructField(bound, method), `the table ${this.node.id}`, this, Stack.of(bound));
    bindConfig({ name: this.node.id, config: this._config, json: this.toConfigJson() }, bound, environmentVariable);
  }
}
