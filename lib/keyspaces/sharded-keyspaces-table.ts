import { type Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as cassandra from 'aws-cdk-lib/aws-cassandra';
import type { Construct } from 'constructs';
import { constructField } from '../construct/construct-field';
import { InvalidArgumentError } from '../core/foundation/errors';
import { CqlType } from './cql-type';
import { describeSharding, warnOfKeyspacesChange } from './deployed-keyspaces-sharding';
import type { IShardedKeyspacesTable } from './i-sharded-keyspaces-table';
import { KeyspacesBilling } from './keyspaces-billing';
import type { KeyspacesColumn } from './keyspaces-column';
import type { ShardedKeyspacesTableAttributes } from './sharded-keyspaces-table-attributes';
import { ShardedKeyspacesTableBase } from './sharded-keyspaces-table-base';
import type { ShardedKeyspacesTableProps } from './sharded-keyspaces-table-props';

/**
 * A table of Amazon Keyspaces (for Apache Cassandra) that spreads each of its partition key values over several shards: a
 * table keyed by a day is one hot partition every day, with 1,000 write units a second and no more.
 *
 * It is `PRIMARY KEY ((publish_date, shard), title)` where it would have been `PRIMARY KEY ((publish_date), title)`. Write
 * to it with `shardColumns` of `cdk-even-shards/keyspaces`, read it back with `selectRow` and `fanOutSelect`, or from
 * anywhere with a `KeyspacesQueryFunction`.
 *
 * The table is billed on demand, can be restored to a point in time, and is retained when it leaves the stack, unless its
 * properties say otherwise. Its key cannot change; its shard counts can, as `ShardCounts` says.
 *
 * Throws an error with the code `INVALID_TABLE_CONFIG` if the properties contradict each other, such as a shard column
 * that is also a clustering column, and `INVALID_ARGUMENT` if `defaultTimeToLive` is not in whole seconds or more than 20 years.
 *
 * @see https://docs.aws.amazon.com/keyspaces/latest/devguide/bp-partition-key-sharding.html
 *
 * @stateful
 */
export class ShardedKeyspacesTable extends ShardedKeyspacesTableBase {
  /**
   * A table that exists. Describe it as it is; nothing is created, changed or looked up.
   *
   * Throws an error with the code `INVALID_TABLE_CONFIG` if the attributes contradict each other.
   *
   * @param scope the construct to add the reference to, usually `this`
   * @param id its name within the scope
   * @param attributes the table
   */
  public static fromTableAttributes(
    scope: Construct,
    id: string,
    attributes: ShardedKeyspacesTableAttributes,
  ): IShardedKeyspacesTable {
    class ImportedTable extends ShardedKeyspacesTableBase {
      constructor() {
        super(scope, id, attributes, attributes.columnNames ?? [], attributes.encryptionKey);
      }
    }
    return new ImportedTable();
  }

  /**
   * A table with its shard column.
   *
   * @param scope the construct to add the table to, usually `this`
   * @param id the table's name within the scope
   * @param props the columns, the shards, and how the table is kept
   */
  constructor(scope: Construct, id: string, props: ShardedKeyspacesTableProps) {
    const { regularColumns = [], encryptionKey, defaultTimeToLive, changeStream } = props;
    super(
      scope,
      id,
      props,
      regularColumns.map(({ name }) => name),
      encryptionKey,
    );
    if (defaultTimeToLive) checkTimeToLive(constructField(this, 'defaultTimeToLive'), defaultTimeToLive);
    const table = new cassandra.CfnTable(this, 'Resource', {
      keyspaceName: props.keyspaceName,
      tableName: props.tableName,
      partitionKeyColumns: [...props.partitionKey, { name: this._config.shardColumn, cqlType: CqlType.INT }].map(
        columnOf,
      ),
      clusteringKeyColumns: props.clusteringColumns.map((column) => ({
        column: columnOf(column),
        orderBy: column.order ?? 'ASC',
      })),
      ...(regularColumns.length > 0 && { regularColumns: regularColumns.map(columnOf) }),
      ...(props.billing ?? KeyspacesBilling.onDemand())._props,
      pointInTimeRecoveryEnabled: props.pointInTimeRecovery ?? true,
      encryptionSpecification: encryptionKey
        ? { encryptionType: 'CUSTOMER_MANAGED_KMS_KEY', kmsKeyIdentifier: encryptionKey.keyArn }
        : { encryptionType: 'AWS_OWNED_KMS_KEY' },
      ...(defaultTimeToLive && { defaultTimeToLive: defaultTimeToLive.toSeconds() }),
      ...(props.clientSideTimestamps && { clientSideTimestampsEnabled: true }),
      ...(changeStream && { cdcSpecification: { status: 'ENABLED', viewType: changeStream } }),
    });
    table.applyRemovalPolicy(props.removalPolicy ?? RemovalPolicy.RETAIN);
    describeSharding(table, this._config);
    warnOfKeyspacesChange(this, this._config);
  }
}

/** Source: the CloudFormation reference, AWS::Cassandra::Table DefaultTimeToLive: 20 years. */
const MOST_SECONDS_TO_LIVE = 630_720_000;

function checkTimeToLive(field: string, timeToLive: Duration): void {
  if (timeToLive.isUnresolved()) return;
  const seconds = timeToLive.toSeconds({ integral: false });
  if (Number.isInteger(seconds) && seconds <= MOST_SECONDS_TO_LIVE) return;
  throw new InvalidArgumentError(
    field,
    `${seconds} s`,
    `whole seconds, at most ${MOST_SECONDS_TO_LIVE}, which are 20 years`,
  );
}

function columnOf({ name, cqlType }: KeyspacesColumn): cassandra.CfnTable.ColumnProperty {
  return { columnName: name, columnType: cqlType.cql };
}
