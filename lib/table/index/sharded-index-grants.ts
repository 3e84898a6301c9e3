import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as iam from 'aws-cdk-lib/aws-iam';
import { TABLE_WRITE_KEY_ACTIONS } from '../../construct/grant-on-key';
import { grantOnTable, type TablePermission } from '../../construct/grant-on-table';
import { constructField } from '../../construct/props';
import { reportsKey } from '../../core/adaptive-counts/shard-count-table';
import { InvalidIndexConfigError } from '../../core/sharded-index/config/sharded-index-errors';
import { addWriter, type IndexWriters } from './index-writers';

/** The index that the permissions are for. */
interface GrantedIndex {
  readonly table: dynamodb.ITableV2;
  readonly indexName: string;
  readonly indexArn: string;
  readonly shardCountTable?: dynamodb.ITableV2;
}

/**
 * The minimum permissions for queries of a sharded index, and for writers of its items.
 *
 * The grants of `TableV2` allow more. `readData` also allows scans and reads of the table, its streams and all its indexes.
 * `writeData` also allows `DeleteItem`, `BatchWriteItem` (which can delete) and `DescribeTable`. If an application uses these
 * actions, also call the grants of `TableV2`.
 *
 * The property `grants` of an index has these permissions.
 */
export class ShardedIndexGrants {
  /** @internal */
  public static _of(index: GrantedIndex, writers?: IndexWriters): ShardedIndexGrants {
    return new ShardedIndexGrants(index, writers);
  }

  private constructor(
    private readonly index: GrantedIndex,
    private readonly writers?: IndexWriters,
  ) {}

  /**
   * Allows `dynamodb:Query` on this index only, and `kms:Decrypt` on the customer-managed key of the table, if it has one. With
   * adaptive counts, also allows both actions on the table of counts.
   *
   * The permission is added to the grantee. For a grantee of another account, it is also added to the resource policy of the
   * table. If neither is possible, synthesis warns with the id `cdk-even-shards:ShardedIndex.grantWithoutEffect`.
   *
   * @param grantee the role, function or other principal that queries
   */
  public query(grantee: iam.IGrantable): iam.Grant {
    return this.withCounts(
      grantee,
      this.grant(grantee, this.index.table, ['dynamodb:Query'], this.index.indexArn, ['kms:Decrypt']),
    );
  }

  /**
   * Allows `dynamodb:PutItem` and `dynamodb:UpdateItem` on this table only, also within transactions. Allows the actions that
   * writes need on the customer-managed key of the table, if it has one. With adaptive counts, also allows queries of the table
   * of counts.
   *
   * The permission is added to the grantee. For a grantee of another account, it is also added to the resource policy of the
   * table. If neither is possible, synthesis warns with the id `cdk-even-shards:ShardedIndex.grantWithoutEffect`.
   *
   * The configuration of the index then contains the longest timeout of its writers, for `decreaseShardCount`. If the grantee is
   * not a function of this app, its timeout is unknown. Then the configuration contains no timeout, and `decreaseShardCount`
   * waits 90 minutes.
   *
   * @param grantee the role, function or other principal that writes
   */
  public write(grantee: iam.IGrantable): iam.Grant {
    if (this.writers !== undefined) addWriter(this.writers, grantee);
    const actions = ['dynamodb:PutItem', 'dynamodb:UpdateItem'];
    const { table } = this.index;
    return this.withCounts(grantee, this.grant(grantee, table, actions, table.tableArn, TABLE_WRITE_KEY_ACTIONS));
  }

  /**
   * Allows `dynamodb:Scan`, `dynamodb:GetItem` and `dynamodb:UpdateItem` on this table only, for `findStrays` and `reshardItems`.
   * Allows the actions that writes need on the customer-managed key of the table, if it has one. With adaptive counts, also
   * allows queries of the table of counts.
   *
   * The permission is added to the grantee. For a grantee of another account, it is also added to the resource policy of the
   * table. If neither is possible, synthesis warns with the id `cdk-even-shards:ShardedIndex.grantWithoutEffect`.
   *
   * @param grantee the role, function or other principal that finds and moves strays
   */
  public reshard(grantee: iam.IGrantable): iam.Grant {
    const actions = ['dynamodb:Scan', 'dynamodb:GetItem', 'dynamodb:UpdateItem'];
    const { table } = this.index;
    return this.withCounts(grantee, this.grant(grantee, table, actions, table.tableArn, TABLE_WRITE_KEY_ACTIONS));
  }

  /**
   * Allows `dynamodb:Query` and `dynamodb:PutItem` on the table of counts only, for `increaseShardCount`, `decreaseShardCount`
   * and `endDrain`. Allows the actions that writes need on the customer-managed key of that table, if it has one.
   *
   * @param grantee the role, function or other principal that changes counts
   * @throws an error with the code `INVALID_INDEX_CONFIG` if the counts of the index are fixed
   */
  public changeShardCounts(grantee: iam.IGrantable): iam.Grant {
    const counts = this.countTable();
    const actions = ['dynamodb:Query', 'dynamodb:PutItem'];
    return this.grant(grantee, counts, actions, counts.tableArn, TABLE_WRITE_KEY_ACTIONS);
  }

  /**
   * Allows `dynamodb:UpdateItem` for a `WriteReporter`, only on the reports about this index in the table of counts. Allows the
   * actions that writes need on the customer-managed key of that table, if it has one.
   *
   * @param grantee the role, function or other principal that writes items
   * @throws an error with the code `INVALID_INDEX_CONFIG` if the counts of the index are fixed
   */
  public reportWrites(grantee: iam.IGrantable): iam.Grant {
    const counts = this.countTable();
    const { table, indexName } = this.index;
    const reports = reportsKey({ tableName: table.tableName, indexName });
    const conditions = { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [reports] } };
    return this.grant(grantee, counts, ['dynamodb:UpdateItem'], counts.tableArn, TABLE_WRITE_KEY_ACTIONS, conditions);
  }

  private countTable(): dynamodb.ITableV2 {
    const { shardCountTable, table, indexName } = this.index;
    if (shardCountTable !== undefined) return shardCountTable;
    const field = constructField(table, `${indexName}.shardCounts`);
    throw new InvalidIndexConfigError(
      field,
      'fixed counts',
      'ShardCounts.adaptive (only adaptive counts can change without a deployment)',
    );
  }

  private withCounts(grantee: iam.IGrantable, granted: iam.Grant): iam.Grant {
    const { shardCountTable: counts } = this.index;
    if (counts === undefined) return granted;
    return granted.combine(this.grant(grantee, counts, ['dynamodb:Query'], counts.tableArn, ['kms:Decrypt']));
  }

  private grant(
    grantee: iam.IGrantable,
    table: dynamodb.ITableV2,
    actions: string[],
    resourceArn: string,
    keyActions: string[],
    conditions?: TablePermission['conditions'],
  ): iam.Grant {
    const permission = { grantee, actions, resourceArn, keyActions, ...(conditions && { conditions }) };
    return grantOnTable(table, permission, { construct: 'ShardedIndex', name: this.index.indexName });
  }
}
