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
   * What the index is to carry. Synthesis warns if it has too few shards for that, with the counts to set, and of what no
   * count fixes; the ids are `cdk-even-shards:ShardedIndex.tooFewShards` and
   * `cdk-even-shards:ShardedIndex.notFixedByShards`. Nothing is deployed for it.
   *
   * @default - no advice
   */
  readonly expectedTraffic?: ExpectedIndexTraffic;
}
