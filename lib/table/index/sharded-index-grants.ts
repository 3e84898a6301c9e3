import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as iam from 'aws-cdk-lib/aws-iam';
import { TABLE_WRITE_KEY_ACTIONS } from '../../construct/kept-table';
import { constructField } from '../../construct/props';
import { reportsKey } from '../../core/adaptive-counts/shard-count-table';
import { InvalidIndexConfigError } from '../../core/sharded-index/config/sharded-index-errors';
import { grantOnTable, type TablePermission } from '../grant-on-table';
import { addWriter, type IndexWriters } from './index-writers';

/** What permissions on an index need to know of it. */
interface GrantedIndex {
  readonly table: dynamodb.ITableV2;
  readonly indexName: string;
  readonly indexArn: string;
  readonly shardCountTable?: dynamodb.ITableV2;
}

/**
 * The least permissions that queries of a sharded index need, and writers of its items, which are the items of its table.
 *
 * The grants of `TableV2` allow more: `readData` also scans and reads of the table, its streams and all its indexes;
 * `writeData` also `DeleteItem`, `BatchWriteItem`, which deletes as well, and `DescribeTable`. Grant them besides if an
 * application uses them.
 *
 * An index has them as its `grants`.
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
   * Allows `dynamodb:Query` on exactly this index, and `kms:Decrypt` on the table's customer-managed key if it has one. With
   * adaptive counts, the same on the table of counts.
   *
   * The permission is added to the grantee, and for a grantee of another account to the table's resource policy as well.
   * Where neither is possible, synthesis warns; the id is `cdk-even-shards:ShardedIndex.grantWithoutEffect`.
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
   * Allows `dynamodb:PutItem` and `dynamodb:UpdateItem` on exactly this table, also within transactions, and on the
   * table's customer-managed key, if it has one, what writing takes. With adaptive counts, also to query the table of counts.
   *
   * The permission is added to the grantee, and for a grantee of another account to the table's resource policy as well.
   * Where neither is possible, synthesis warns; the id is `cdk-even-shards:ShardedIndex.grantWithoutEffect`.
   *
   * The configuration of the index then names the longest timeout of its writers, for `decreaseShardCount`. A grantee other than a
   * function of this app has no known timeout: the configuration names none, and `decreaseShardCount` waits 90 minutes.
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
   * Allows `dynamodb:Scan`, `dynamodb:GetItem` and `dynamodb:UpdateItem` on exactly this table, which `findStrays` and
   * `reshardItems` need, and on the table's customer-managed key, if it has one, what writing takes. With adaptive counts, also
   * to query the table of counts.
   *
   * The permission is added to the grantee, and for a grantee of another account to the table's resource policy as well.
   * Where neither is possible, synthesis warns; the id is `cdk-even-shards:ShardedIndex.grantWithoutEffect`.
   *
   * @param grantee the role, function or other principal that looks for strays and moves them
   */
  public reshard(grantee: iam.IGrantable): iam.Grant {
    const actions = ['dynamodb:Scan', 'dynamodb:GetItem', 'dynamodb:UpdateItem'];
    const { table } = this.index;
    return this.withCounts(grantee, this.grant(grantee, table, actions, table.tableArn, TABLE_WRITE_KEY_ACTIONS));
  }

  /**
   * Allows `dynamodb:Query` and `dynamodb:PutItem` on exactly the table of counts, which `increaseShardCount`,
   * `decreaseShardCount` and `endDrain` need, and on its customer-managed key, if it has one, what writing takes.
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
   * Allows `dynamodb:UpdateItem` on the reports about this index in the table of counts, and on nothing else in it, which a
   * `WriteReporter` needs, and on its customer-managed key, if it has one, what writing takes.
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
    throw new InvalidIndexConfigError(field, 'fixed counts', 'ShardCounts.adaptive, whose counts can be changed');
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
