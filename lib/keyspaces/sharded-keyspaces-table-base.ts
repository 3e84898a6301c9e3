import { Resource, Stack } from 'aws-cdk-lib';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { constructField } from '../construct/construct-field';
import { checkOwnEnvironment } from '../construct/own-environment';
import { refuseToken } from '../construct/refuse-token';
import { InvalidShardCountError } from '../core/foundation/errors';
import { checkShardedKeyspacesConfig, type ShardedKeyspacesConfig } from '../core/keyspaces/sharded-keyspaces-config';
import { bindConfig } from '../function/bind-config';
import { ShardingStrategy } from '../table/index/sharding-strategy';
import type { IShardedKeyspacesTable } from './i-sharded-keyspaces-table';
import type { KeyspacesTableBindingOptions } from './keyspaces-table-binding-options';
import { keyspacesTableArn, ShardedKeyspacesTableGrants } from './sharded-keyspaces-table-grants';
import type { ShardedKeyspacesTableOptions } from './sharded-keyspaces-table-options';

/** What created and imported tables have in common. */
export abstract class ShardedKeyspacesTableBase extends Resource implements IShardedKeyspacesTable {
  public readonly keyspaceName: string;
  public readonly tableName: string;
  public readonly tableArn: string;
  public readonly encryptionKey?: kms.IKey;
  public readonly grants: ShardedKeyspacesTableGrants;

  /** @internal */
  public readonly _config: ShardedKeyspacesConfig;

  /**
   * @param scope the construct to add the table to
   * @param id the table's name within the scope
   * @param options what the table is
   * @param columnNames the columns that are no part of its key
   * @param encryptionKey the key of yours that it is encrypted with
   */
  protected constructor(
    scope: Construct,
    id: string,
    options: ShardedKeyspacesTableOptions,
    columnNames: string[],
    encryptionKey?: kms.IKey,
  ) {
    super(scope, id);
    const { keyspaceName, tableName } = options;
    this._config = tableConfig(constructField(this, ''), options, columnNames);
    this.keyspaceName = keyspaceName;
    this.tableName = tableName;
    this.tableArn = keyspacesTableArn(this.stack, keyspaceName, tableName);
    this.encryptionKey = encryptionKey;
    this.grants = ShardedKeyspacesTableGrants.fromTable(this);
  }

  public bindWriter(writer: lambda.Function, binding: KeyspacesTableBindingOptions = {}): iam.Grant {
    this.bind('bindWriter', writer, binding);
    return this.grants.modifyRows(writer);
  }

  public bindReader(reader: lambda.Function, binding: KeyspacesTableBindingOptions = {}): iam.Grant {
    this.bind('bindReader', reader, binding);
    return this.grants.selectRows(reader);
  }

  public toConfigJson(): string {
    return this.stack.toJsonString(this._config);
  }

  private bind(method: string, bound: lambda.Function, { environmentVariable }: KeyspacesTableBindingOptions): void {
    const { tableName: name, _config: config } = this;
    checkOwnEnvironment(constructField(bound, method), `the table ${name}`, this, Stack.of(bound));
    bindConfig({ name, config, json: this.toConfigJson() }, bound, environmentVariable);
  }
}

/** What functions and applications read of a table, its defaults filled in, and checked. */
function tableConfig(prefix: string, options: ShardedKeyspacesTableOptions, columns: string[]): ShardedKeyspacesConfig {
  refuseToken(`${prefix}firstShard`, options.firstShard, 'a whole number');
  if (options.shardCounts._maximum !== undefined) {
    const allowed = 'fixed: a table of Amazon Keyspaces does not say which partition is throttled';
    throw new InvalidShardCountError(`${prefix}shardCounts`, 'ShardCounts.adaptive', allowed);
  }
  const config = {
    keyspaceName: options.keyspaceName,
    tableName: options.tableName,
    partitionKey: options.partitionKey.map(({ name, cqlType }) => ({ name, type: cqlType.cql })),
    shardColumn: options.shardColumn ?? 'shard',
    firstShard: options.firstShard ?? 0,
    clusteringColumns: options.clusteringColumns.map(({ name, cqlType, order }) => ({
      name,
      type: cqlType.cql,
      order: order ?? 'ASC',
    })),
    columns,
    shards: options.shardCounts._config,
    strategy: options.strategy ?? ShardingStrategy.CALCULATED,
    ...(options.calculatedFrom && { calculatedFrom: options.calculatedFrom }),
  } as ShardedKeyspacesConfig;
  checkShardedKeyspacesConfig(config, prefix);
  return config;
}
