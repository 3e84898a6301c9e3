import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { KeyShardingOptions } from './key-sharding-options';

/** A table that exists, as `KeyShardedTable.fromKeyShardedTableAttributes` takes it: described as it was created. */
export interface KeyShardedTableAttributes extends KeyShardingOptions {
  /**
   * The table, of this app or imported by `TableV2.fromTableName`, `fromTableArn` or `fromTableAttributes`; import it with its
   * `encryptionKey` if it has a customer-managed one. Functions and applications look it up by its name, in their own account
   * and region.
   */
  readonly table: dynamodb.ITableV2;

  /** The names of the attributes of the table's key: the partition key, which is a string, then the sort key. */
  readonly tableKey: string[];

  /**
   * What the event of a `FanOutQueryFunction` calls the table.
   *
   * @default - the id of the construct of the table
   */
  readonly queryName?: string;
}
