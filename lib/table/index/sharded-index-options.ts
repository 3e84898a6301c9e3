import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { BaseShardedIndexOptions } from './base-sharded-index-options';
import type { ExpectedIndexTraffic } from './expected-index-traffic';

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
   * @default - none
   */
  readonly nonKeyAttributes?: string[];

  /**
   * The read capacity of the index, of a table with provisioned billing. It is the index's own: it is not part of the
   * table's.
   *
   * @default - that of the table
   */
  readonly readCapacity?: dynamodb.Capacity;

  /**
   * The write capacity of the index, of a table with provisioned billing. Each shard of a value needs its share of it. An
   * index with too little holds up the writes to the table.
   *
   * @default - that of the table
   */
  readonly writeCapacity?: dynamodb.Capacity;

  /**
   * The most read units a second that the index may consume, of a table that is billed on demand.
   *
   * @default - no limit but those of the account
   */
  readonly maxReadRequestUnits?: number;

  /**
   * The most write units a second that the index may consume, of a table that is billed on demand. An index that has
   * reached it holds up the writes to the table.
   *
   * @default - no limit but those of the account
   */
  readonly maxWriteRequestUnits?: number;

  /**
   * What the index is to serve at once, without growing to it first: units a second for reads and for writes. An index has
   * a partition for each 1,000 write units and 3,000 read units of it, and a value with fewer shards uses fewer. It cannot
   * be lowered.
   *
   * @default - what a new index has
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput.html
   */
  readonly warmThroughput?: dynamodb.WarmThroughput;

  /**
   * Whether CloudWatch names the keys of the index that are used most, or that are throttled, in the region of the table. A
   * replica takes it in its `globalSecondaryIndexOptions`. To find the keys of writes that the index refuses, name those that
   * are used most, with the mode `ACCESSED_AND_THROTTLED_KEYS`: refused writes of an index are not counted.
   *
   * @default - as for the table: a `ShardedTable` has the keys named whose reads are throttled
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/contributorinsights_HowItWorks.html
   */
  readonly contributorInsightsSpecification?: dynamodb.ContributorInsightsSpecification;

  /**
   * What the index is to carry. Synthesis warns if it has too few shards for that, with the counts to set, and of what no
   * count fixes; the ids are `cdk-even-shards:ShardedIndex.tooFewShards` and
   * `cdk-even-shards:ShardedIndex.notFixedByShards`. Nothing is deployed for it.
   *
   * @default - no advice
   */
  readonly expectedTraffic?: ExpectedIndexTraffic;
}
