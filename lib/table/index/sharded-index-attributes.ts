import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { BaseShardedIndexOptions } from './base-sharded-index-options';

/** A sharded index that exists, as `ShardedIndex.fromShardedIndexAttributes` takes it: described as it was added. */
export interface ShardedIndexAttributes extends BaseShardedIndexOptions {
  /**
   * The table the index belongs to, of this app or imported by `TableV2.fromTableName`, `fromTableArn` or
   * `fromTableAttributes`; import it with its `encryptionKey` if it has a customer-managed one. Functions and
   * applications look it up by its name, in their own account and region.
   */
  readonly table: dynamodb.ITableV2;

  /** The names of the attributes of the table's key: the partition key, then the sort key if the table has one. */
  readonly tableKey: string[];
}
