import type { Size } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { ShardFormatOptions } from '../shard-format';
import type { ShardCounts } from './shard-counts';

/** Options of a sharded index, for an index that is added to a table and for an imported index. */
export interface BaseShardedIndexOptions extends ShardFormatOptions {
  /**
   * The name of the index: 3 to 255 characters of a-z, A-Z, 0-9, underscore, hyphen and dot.
   *
   * DynamoDB cannot change the key of an index, so a deployment that changes the key under the same name fails. To change the
   * key, add an index with another name, and delete the old index in a later deployment. One deployment cannot do both: DynamoDB
   * adds or deletes only one index of a table in an update.
   */
  readonly indexName: string;

  /**
   * The attribute to query by, a string or a number: a status, a type, a tenant. Sharding helps if a few values have most of the
   * items. Items without this attribute are not part of the index.
   *
   * The attribute is part of the key. In the multi-attribute layout, a deployment that changes it under the same
   * `indexName` fails. In the single-attribute layout, the deployment succeeds, but queries miss every item until a
   * writer writes the item again. So also change `indexName` and `shardAttribute`.
   *
   * @default - the index covers the whole table: every item that has a shard attribute
   */
  readonly valueAttribute?: dynamodb.Attribute;

  /**
   * Queries sort items by this attribute, and can select a range of its values. Typically it is a time.
   *
   * The attribute is part of the key: a deployment that changes it under the same `indexName` fails.
   *
   * @default - queries return items in no order
   */
  readonly sortKey?: dynamodb.Attribute;

  /**
   * Further attributes of the sort key, at most three. They order items with an equal sort key. Only the
   * multi-attribute layout supports tie-breakers.
   *
   * The attributes are part of the key: a deployment that changes them under the same `indexName` fails.
   *
   * @default - queries return items with an equal sort key in the order of their shards
   */
  readonly tieBreakers?: dynamodb.Attribute[];

  /**
   * Whether the index may leave out items without the sort key or without a tie-breaker. DynamoDB leaves such items
   * out of an index without an error. If this is `true`, writers accept them, and `findStrays` does not count them as
   * `noSortKey`.
   *
   * @default false - `shardAttributes` and `shardPut` reject an item that belongs in the index but has no sort key
   */
  readonly sparse?: boolean;

  /**
   * The number of shards of each value, or of the whole table.
   *
   * Change counts in steps, with `ShardCounts.alsoReading`, because otherwise queries miss items. `cdk diff` shows the change in
   * the metadata of the table. If the context `even-shards:deployedAssembly` names a folder with the deployed template, synthesis
   * warns when a step is skipped.
   */
  readonly shardCounts: ShardCounts;

  /**
   * The table that holds the increased counts, with the partition key `index` and the sort key `value`, both strings.
   * If an empty table replaces this table, readers and writers miss items. Synthesis warns of such a replacement under
   * the same condition as for `shardCounts`.
   *
   * @default - with `ShardCounts.adaptive`, a table that `ShardedTable` creates for all of its indexes; an imported index
   * must name its table. With fixed counts, there is no table
   */
  readonly shardCountTable?: dynamodb.ITableV2;

  /**
   * The attribute that holds the shard: a number, or in the single-attribute layout the string "value#shard". Writers
   * set it, so it cannot be part of another key. Two indexes may share it if they have the same value attribute, layout,
   * shard counts, strategy and shard format.
   *
   * The attribute is part of the key: a deployment that changes it under the same `indexName` fails.
   *
   * @default - the name of the index followed by "Shard", such as `byStatusShard`
   */
  readonly shardAttribute?: string;

  /**
   * How the key of the index holds the value and the shard.
   *
   * A deployment that changes it under the same `indexName` fails, because DynamoDB cannot change a key.
   *
   * @default KeyLayout.MULTI_ATTRIBUTE
   */
  readonly keyLayout?: KeyLayout;

  /**
   * How writers choose the shard of an item.
   *
   * @default ShardingStrategy.CALCULATED
   */
  readonly strategy?: ShardingStrategy;
}

/** Options of `ShardedTable.addShardedIndex`. */
export interface ShardedIndexOptions extends BaseShardedIndexOptions {
  /**
   * The projected attributes: the attributes of the index in addition to its own key and the key of the table. Fewer attributes
   * make every write and query cheaper.
   *
   * @default dynamodb.ProjectionType.ALL
   */
  readonly projectionType?: dynamodb.ProjectionType;

  /**
   * The additional attributes in the index, at most 100, when `projectionType` is `INCLUDE`.
   *
   * @default - the index holds the attributes of `projectionType`
   */
  readonly nonKeyAttributes?: string[];

  /**
   * The read capacity of the index, if the table has provisioned billing. It is separate from the capacity of the
   * table.
   *
   * @default - the index has the capacity of the table
   */
  readonly readCapacity?: dynamodb.Capacity;

  /**
   * The write capacity of the index, if the table has provisioned billing. Each shard of a value needs its share of this
   * capacity. If the capacity of the index is too small, DynamoDB also throttles writes to the table.
   *
   * @default - the index has the capacity of the table
   */
  readonly writeCapacity?: dynamodb.Capacity;

  /**
   * The maximum number of read units a second for the index, if the table is billed on demand.
   *
   * @default - only the quotas of the account limit the index
   */
  readonly maxReadRequestUnits?: number;

  /**
   * The maximum number of write units a second for the index, if the table is billed on demand. At the maximum, DynamoDB also
   * throttles writes to the table.
   *
   * @default - only the quotas of the account limit the index
   */
  readonly maxWriteRequestUnits?: number;

  /**
   * The read and write units a second that a new index can serve immediately. DynamoDB prepares one partition for each 1,000
   * write units and 3,000 read units. A value with fewer shards than the index has partitions does not use all partitions. Warm
   * throughput cannot be decreased.
   *
   * @default - DynamoDB gives the index the throughput of a new index
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput.html
   */
  readonly warmThroughput?: dynamodb.WarmThroughput;

  /**
   * The Contributor Insights of the index in the region of the table: they show the most accessed keys, or the throttled keys.
   * For a replica, use `globalSecondaryIndexOptions` of the replica.
   *
   * Contributor Insights do not count writes that are throttled because of an index. To find the keys of such writes, use the
   * mode `ACCESSED_AND_THROTTLED_KEYS` and look at the most accessed keys.
   *
   * @default - the index has the setting of the table: a `ShardedTable` shows the keys of throttled reads
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/contributorinsights_HowItWorks.html
   */
  readonly contributorInsightsSpecification?: dynamodb.ContributorInsightsSpecification;

  /**
   * The traffic that you expect, only for warnings of synthesis. `cdk-even-shards:ShardedIndex.tooFewShards` names the counts to
   * set if the index has too few shards. `cdk-even-shards:ShardedIndex.notFixedByShards` warns of problems of this traffic that
   * more shards do not fix.
   *
   * @default - synthesis gives no advice
   */
  readonly expectedTraffic?: ExpectedIndexTraffic;
}

/** How the key of a sharded index holds the value and the shard. */
export enum KeyLayout {
  /**
   * The partition key is two attributes, the value and the shard. The attributes stay readable, and the shard is a number.
   *
   * DynamoDB has multi-attribute keys for global secondary indexes since November 2025. Some tools and emulators do not support
   * them yet.
   *
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.DesignPattern.MultiAttributeKeys.html
   */
  MULTI_ATTRIBUTE = 'multi-attribute',

  /**
   * The partition key is one attribute, which holds the string "value#shard". If the index covers the whole table, the attribute
   * holds only the number of the shard. Every tool supports this layout, but it has no tie-breakers.
   */
  SINGLE_ATTRIBUTE = 'single-attribute',
}

/** How a writer chooses the shard of an item. */
export enum ShardingStrategy {
  /**
   * The writer calculates the shard as a hash of the table key. Another write of the same item gets the same shard, and a reader
   * can look up an item in one shard.
   */
  CALCULATED = 'calculated',

  /**
   * The writer chooses a random shard for each write, so the load is even for any table keys. Another write of the same item
   * moves it to another shard, and readers see the move a moment later.
   */
  RANDOM = 'random',

  /**
   * The shard is the product of the code points of a text in the row, modulo the number of shards, as in the guide of Amazon
   * Keyspaces.
   *
   * Use it only for an imported table of Amazon Keyspaces that already has rows with such shards. It spreads rows unevenly, so
   * later move the rows to calculated shards.
   */
  PRODUCT_OF_CODE_POINTS = 'product',
}

/** The expected traffic of a sharded index, or of a table that is sharded by its own key, in the busiest second. */
export interface ExpectedIndexTraffic {
  /**
   * The number of writes to the index or the table in a second, above 0. An insert or a delete of an item is one write. In an
   * index, an update that changes the value or the shard is two writes, because DynamoDB deletes the old entry and puts a new
   * entry.
   */
  readonly writesPerSecond: number;

  /**
   * The size of an item of the table, or of an index entry with its keys and projected attributes. It must be above 0, and at
   * most 400 KiB, the size of the largest item of DynamoDB.
   *
   * @default - 1 KiB
   */
  readonly itemSize?: Size;

  /**
   * The number of partitions: the warm write units divided by 1,000.
   *
   * @default - the number of partitions at which the writes use half of each partition; at least 4, the number for a
   *   new on-demand index or table
   */
  readonly partitions?: number;

  /**
   * For each value, its share of the writes, in any unit.
   *
   * @default - the index covers the whole table, or one value has all writes
   */
  readonly shares?: { readonly [value: string]: number };

  /**
   * The maximum size of the stored items. The plan divides this size among the values in proportion to their writes.
   *
   * DynamoDB splits a partition of more than 10 GB, even within the items of one partition key. But if the table has a local
   * secondary index, DynamoDB cannot split the items of one partition key, and rejects writes instead. A table with a local
   * secondary index therefore needs shards for its size, too.
   *
   * @default - synthesis does not count shards for the stored size
   */
  readonly storedSize?: Size;

  /**
   * The number of pages that callers request in a second. The plan assumes that all pages read the same value.
   *
   * @default 0
   */
  readonly pagesPerSecond?: number;
}
