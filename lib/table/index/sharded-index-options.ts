import type { Size } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { ShardFormatOptions } from '../shard-format';
import type { ShardCounts } from './shard-counts';

/** What a sharded index is, whether it is added to a table or imported with one. */
export interface BaseShardedIndexOptions extends ShardFormatOptions {
  /**
   * The name of the index: 3 to 255 characters of a-z, A-Z, 0-9, underscore, hyphen and dot.
   *
   * To change the key of an index, add an index with another name: DynamoDB does not change a key, so a deployment that
   * changes it under the same name fails. A deployment that changes the name replaces the index, which fails too where it
   * adds and deletes indexes at once: add the new one, and delete the old one in a later deployment.
   */
  readonly indexName: string;

  /**
   * The attribute to query by, a string or a number, of which a few values hold most of the items: a status, a type, a
   * tenant. Items without it are not part of the index.
   *
   * It is part of the key: a deployment that changes it under the same `indexName` fails. In the single-attribute layout, it
   * succeeds, and queries miss every item until it is written again: change `indexName` and `shardAttribute`, too.
   *
   * @default - the index covers the whole table: every item that has a shard attribute
   */
  readonly valueAttribute?: dynamodb.Attribute;

  /**
   * The attribute that queries are ordered by and can be narrowed by, typically a time.
   *
   * It is part of the key: a deployment that changes it under the same `indexName` fails.
   *
   * @default - queries return items in no order
   */
  readonly sortKey?: dynamodb.Attribute;

  /**
   * Further attributes of the sort key, at most three, that order items whose sort key is equal. In the
   * multi-attribute layout only.
   *
   * They are part of the key: a deployment that changes them under the same `indexName` fails.
   *
   * @default - items with an equal sort key come in the order of their shards
   */
  readonly tieBreakers?: dynamodb.Attribute[];

  /**
   * Whether items without the sort key, or without one of the tie-breakers, may be missing from the index. DynamoDB leaves such items
   * out of an index without an error. If this is `true`, writers accept them, and `findStrays` does not count them.
   *
   * @default false - `shardAttributes` and `shardPut` reject an item that belongs in the index and lacks the sort key
   */
  readonly sparse?: boolean;

  /**
   * How many shards each value, or the whole table, is spread over.
   *
   * A deployment can change them, and DynamoDB knows nothing of it: change them in steps, with `ShardCounts.alsoReading`,
   * or queries miss items. `cdk diff` shows the change in the metadata of the table, and synthesis warns of a step that is
   * skipped if the context `even-shards:deployedAssembly` names a folder with the template that was deployed.
   */
  readonly shardCounts: ShardCounts;

  /**
   * The table that holds the counts of the values that have grown, with the partition key `index` and the sort key `value`,
   * both strings. Readers and writers overlook items if it is replaced by an empty one, of which synthesis warns as of `shardCounts`.
   *
   * @default - with `ShardCounts.adaptive`, one table that `ShardedTable` makes for all of its indexes; an imported index
   * must name it. None with fixed counts
   */
  readonly shardCountTable?: dynamodb.ITableV2;

  /**
   * The attribute that holds the shard: a number, or in the single-attribute layout the string "value#shard". Writers
   * set it, so it is no attribute of another key. Two indexes may share it if they have the same value attribute, layout,
   * shard counts, strategy and shard format.
   *
   * It is part of the key: a deployment that changes it under the same `indexName` fails.
   *
   * @default - the name of the index followed by "Shard", such as `byStatusShard`
   */
  readonly shardAttribute?: string;

  /**
   * How the index's key holds the value and the shard.
   *
   * A deployment that changes it under the same `indexName` fails, for DynamoDB does not change a key.
   *
   * @default KeyLayout.MULTI_ATTRIBUTE
   */
  readonly keyLayout?: KeyLayout;

  /**
   * How writers pick the shard of an item.
   *
   * @default ShardingStrategy.CALCULATED
   */
  readonly strategy?: ShardingStrategy;
}

/** Properties of an index added by `ShardedTable.addShardedIndex`. */
export interface ShardedIndexOptions extends BaseShardedIndexOptions {
  /**
   * Which attributes the index holds besides its own key and the table's. Fewer make every write and every query
   * cheaper.
   *
   * @default dynamodb.ProjectionType.ALL
   */
  readonly projectionType?: dynamodb.ProjectionType;

  /**
   * The attributes to hold, at most 100, when `projectionType` is `INCLUDE`.
   *
   * @default - the index holds what `projectionType` says
   */
  readonly nonKeyAttributes?: string[];

  /**
   * The read capacity of the index, of a table with provisioned billing. It is the index's own: it is not part of the
   * table's.
   *
   * @default - the index has the capacity of the table
   */
  readonly readCapacity?: dynamodb.Capacity;

  /**
   * The write capacity of the index, of a table with provisioned billing. Each shard of a value needs its share of it. An
   * index with too little holds up the writes to the table.
   *
   * @default - the index has the capacity of the table
   */
  readonly writeCapacity?: dynamodb.Capacity;

  /**
   * The most read units a second that the index may consume, of a table that is billed on demand.
   *
   * @default - only the quotas of the account limit the index
   */
  readonly maxReadRequestUnits?: number;

  /**
   * The most write units a second that the index may consume, of a table that is billed on demand. An index that has
   * reached it holds up the writes to the table.
   *
   * @default - only the quotas of the account limit the index
   */
  readonly maxWriteRequestUnits?: number;

  /**
   * The reads and writes, in units a second, that the index can serve at once, without growing to them first. An index has
   * a partition for each 1,000 write units and 3,000 read units of it, and a value with fewer shards uses fewer. It cannot
   * be decreased.
   *
   * @default - DynamoDB gives the index the throughput of a new index
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput.html
   */
  readonly warmThroughput?: dynamodb.WarmThroughput;

  /**
   * Whether Contributor Insights of CloudWatch show the keys of the index that are used most, or that are throttled, in the
   * region of the table. A replica takes it in its `globalSecondaryIndexOptions`. To find the keys of writes that the index
   * throttles, name those that are used most, with the mode `ACCESSED_AND_THROTTLED_KEYS`: throttled writes of an index are not
   * counted.
   *
   * @default - the index has the setting of the table: a `ShardedTable` shows the keys whose reads are throttled
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/contributorinsights_HowItWorks.html
   */
  readonly contributorInsightsSpecification?: dynamodb.ContributorInsightsSpecification;

  /**
   * The traffic that you expect. Synthesis warns if the index has too few shards for it, and says which counts to set. It
   * also warns of traffic that no count of shards can carry; the ids are `cdk-even-shards:ShardedIndex.tooFewShards` and
   * `cdk-even-shards:ShardedIndex.notFixedByShards`. It changes nothing that is deployed.
   *
   * @default - synthesis gives no advice
   */
  readonly expectedTraffic?: ExpectedIndexTraffic;
}

/** How the key of a sharded index holds the value and the shard. */
export enum KeyLayout {
  /**
   * The partition key is two attributes, the value and the shard: items stay readable, and the shard is a number.
   *
   * DynamoDB has multi-attribute keys for global secondary indexes since November 2025; tools and emulators may lag.
   *
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.DesignPattern.MultiAttributeKeys.html
   */
  MULTI_ATTRIBUTE = 'multi-attribute',

  /**
   * The partition key is one attribute that holds the string "value#shard", or the shard's number if the index covers
   * the whole table. Every tool understands it; it has no tie-breakers.
   */
  SINGLE_ATTRIBUTE = 'single-attribute',
}

/** How a writer picks the shard of an item. */
export enum ShardingStrategy {
  /**
   * The shard follows from the item's table key, by a hash: writing the same item again finds the same shard, and one
   * item can be looked up in one shard.
   */
  CALCULATED = 'calculated',

  /**
   * The shard is drawn for each write: the load is even whatever the table keys are. Writing an item again moves it to
   * another shard, in which readers see it a moment later.
   */
  RANDOM = 'random',

  /**
   * The shard is the product of the code points of a row's text, modulo the number of shards, as the guide of Amazon Keyspaces suggests.
   * For an imported table of Amazon Keyspaces that others have filled in this way, and for nothing else: new rows are put
   * beside the old ones, and one SELECT finds each. It crowds a few shards, so move the rows to calculated shards.
   */
  PRODUCT_OF_CODE_POINTS = 'product',
}

/** What a sharded index, or a table that is sharded by its own key, is expected to carry, in its busiest second. */
export interface ExpectedIndexTraffic {
  /**
   * Writes to the index or the table a second, above 0. An item that is inserted or deleted counts once. In an index, an
   * update that changes the value or the shard counts twice: the old entry goes, the new one comes.
   */
  readonly writesPerSecond: number;

  /**
   * The size of an item of the table, or of an index entry: its keys and what it projects. Above 0.
   *
   * @default - 1 KiB
   */
  readonly itemSize?: Size;

  /**
   * How many partitions there are: its warm write units over 1,000.
   *
   * @default - as many as keep them half busy, and at least 4, as a new on-demand index or table has
   */
  readonly partitions?: number;

  /**
   * Each value's share of the writes, in any unit.
   *
   * @default - the index covers the whole table, or one value has all writes
   */
  readonly shares?: { readonly [value: string]: number };

  /**
   * What it holds at most, divided among the values as the writes are. DynamoDB divides a partition of more than 10 GB, and the items of
   * one partition key with it. With a local secondary index it cannot, and rejects writes instead: so a table that has one needs
   * shards for its bytes, too.
   *
   * @default - the plan counts no shards for bytes
   */
  readonly storedSize?: Size;

  /**
   * Pages that are queried a second, of the same value if there are several.
   *
   * @default 0
   */
  readonly pagesPerSecond?: number;
}
