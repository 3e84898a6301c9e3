import { Duration, Token } from 'aws-cdk-lib';
import { Props } from '../construct/props';
import { InvalidTableConfigError } from '../core/keyspaces/keyspaces-errors';
import { requireClusteringColumns } from '../core/keyspaces/sharded-keyspaces-config';
import { ShardingStrategy } from '../table/index/sharded-index-options';
import type { KeyspacesColumn, ShardedKeyspacesTableProps } from './sharded-keyspaces-table-options';

/** Source: the CloudFormation reference, AWS::Cassandra::Table, KeyspaceName and TableName. */
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_]{1,47}$/;

/** Source: the Amazon Keyspaces developer guide, "System keyspaces". */
const SYSTEM_KEYSPACES = ['system', 'system_schema', 'system_schema_mcs', 'system_multiregion_info'];

/**
 * The maximum number of regular columns that one INSERT can write, without and with a time to live. Source: the Amazon
 * Keyspaces developer guide, "Quotas".
 */
const MAX_COLUMNS = 225;
const MAX_COLUMNS_WITH_TIME_TO_LIVE = 166;

/** 20 years. Source: the CloudFormation reference, AWS::Cassandra::Table DefaultTimeToLive. */
const MAX_TIME_TO_LIVE = Duration.seconds(630_720_000);

/**
 * @throws an error if Amazon Keyspaces does not allow a table with these properties; `prefix` is the prefix of
 * property names in errors
 */
export function checkNewTable(prefix: string, props: ShardedKeyspacesTableProps): void {
  const { keyspaceName, tableName, regularColumns = [], defaultTimeToLive } = props;
  if (props.strategy === ShardingStrategy.PRODUCT_OF_CODE_POINTS) {
    const allowed =
      'CALCULATED or RANDOM (PRODUCT_OF_CODE_POINTS spreads rows unevenly and is only for imported tables)';
    throw new InvalidTableConfigError(`${prefix}strategy`, props.strategy, allowed);
  }
  requireClusteringColumns(props, prefix);
  checkName(`${prefix}keyspaceName`, keyspaceName);
  checkName(`${prefix}tableName`, tableName);
  if (SYSTEM_KEYSPACES.includes(keyspaceName.toLowerCase())) {
    throw new InvalidTableConfigError(
      `${prefix}keyspaceName`,
      keyspaceName,
      'the name of your own keyspace, not of a system keyspace',
    );
  }
  for (const column of regularColumns) checkType(`${prefix}regularColumns.${column.name}`, column);
  checkCounters(prefix, regularColumns, defaultTimeToLive);
  const most = defaultTimeToLive === undefined ? MAX_COLUMNS : MAX_COLUMNS_WITH_TIME_TO_LIVE;
  if (regularColumns.length > most) {
    const allowed = `at most ${most} columns (the maximum of one INSERT${defaultTimeToLive ? ' with a time to live' : ''})`;
    throw new InvalidTableConfigError(`${prefix}regularColumns`, regularColumns.length, allowed);
  }
  if (!defaultTimeToLive?.isUnresolved())
    Props.named(prefix, props).seconds('defaultTimeToLive', { max: MAX_TIME_TO_LIVE });
}

function checkName(field: string, name: string): void {
  if (Token.isUnresolved(name) || NAME.test(name)) return;
  throw new InvalidTableConfigError(
    field,
    name,
    '2 to 48 letters, digits and underscores, not starting with an underscore',
  );
}

const NATIVE_TYPES =
  `ascii bigint blob boolean counter date decimal double duration float inet int smallint text time timestamp
  timeuuid tinyint uuid varchar varint`.split(/\s+/);

const COLLECTION = /^(frozen|list|set|map|tuple)\s*<(.*)>$/s;

/** Source: the Amazon Keyspaces developer guide, "CQL elements": a user-defined type must be inside `frozen<...>`. */
function checkType(field: string, { cqlType: { cql } }: KeyspacesColumn): void {
  if (Token.isUnresolved(cql) || isType(cql.trim(), false)) return;
  throw new InvalidTableConfigError(
    field,
    cql,
    `${NATIVE_TYPES.join(', ')}, a list, set, map or tuple of these, or frozen<...> of one of them or of a user-defined type`,
  );
}

function isType(cql: string, isFrozen: boolean): boolean {
  if (NATIVE_TYPES.includes(cql.toLowerCase())) return true;
  const [, kind, inner] = COLLECTION.exec(cql) ?? [];
  if (kind === undefined) return isFrozen && /^(?:\w+|"[^"]+")$/.test(cql);
  const parts = separated(inner!);
  const most = { frozen: 1, list: 1, set: 1, map: 2 }[kind] ?? Number.POSITIVE_INFINITY;
  const isComplete = kind === 'map' ? parts.length === 2 : parts.length <= most;
  return isComplete && parts.every((part) => isType(part, isFrozen || kind === 'frozen'));
}

/** The parameters of a type, separated by commas outside of brackets. */
function separated(inner: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of inner) {
    depth += Number(character === '<') - Number(character === '>');
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}

/** Source: the Amazon Keyspaces developer guide, "Working with counters". */
function checkCounters(prefix: string, columns: readonly KeyspacesColumn[], timeToLive: Duration | undefined): void {
  const isCounter = ({ cqlType }: KeyspacesColumn) => cqlType.cql === 'counter';
  const counter = columns.find(isCounter);
  if (counter === undefined) return;
  const other = columns.find((column) => !isCounter(column));
  if (other !== undefined) {
    const allowed = `a counter like ${counter.name} (a table with counters has no other regular columns)`;
    throw new InvalidTableConfigError(`${prefix}regularColumns.${other.name}`, other.cqlType.cql, allowed);
  }
  if (timeToLive === undefined) return;
  const allowed = `absent from a table with counters, such as ${counter.name} (counters have no time to live)`;
  throw new InvalidTableConfigError(`${prefix}defaultTimeToLive`, timeToLive.toString(), allowed);
}
