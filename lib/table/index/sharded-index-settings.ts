import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { IConstruct } from 'constructs';
import { constructField } from '../../construct/props';
import { checkShardNames } from '../../core/sharded-index/config/check-sharded-config';
import { haveSameSharding, type ShardedIndexConfig } from '../../core/sharded-index/config/sharded-index-config';
import { InvalidIndexConfigError, InvalidIndexValueError } from '../../core/sharded-index/config/sharded-index-errors';
import { checkCountTable } from '../declared-table';
import { shardFormatFrom } from '../shard-format';
import { ALLOWED_ATTRIBUTE, ALLOWED_NAME, isAttributeName, isName } from '../table-names';
import { type IndexWriters, longestWriteSeconds } from './index-writers';
import { itemStrategy } from './item-strategy';
import { requireShardCounts } from './shard-counts';
import { type BaseShardedIndexOptions, KeyLayout } from './sharded-index-options';

/** Source: the DynamoDB developer guide, "Multi-attribute keys": up to four attributes in each key. */
const MAX_SORT_ATTRIBUTES = 4;

/** The checked settings of an index, with defaults. DynamoDB, writers and readers use them unchanged. */
export interface ShardedIndexSettings {
  /** The configuration for functions and applications. */
  readonly config: ShardedIndexConfig;
  /** The attributes of the partition key, with their types. */
  readonly partitionKeys: readonly dynamodb.Attribute[];
  /** The attributes of the sort key, with their types. */
  readonly sortKeys: readonly dynamodb.Attribute[];
  /** The table that holds the increased counts. Undefined if the counts are fixed. */
  readonly shardCountTable?: dynamodb.ITableV2;
  /** The writers that the app knows. Undefined for an imported index, because other apps can write to it. */
  readonly writers?: IndexWriters;
}

/** The table of an index, with the properties of the table that are known. */
interface IndexedTable {
  readonly table: IConstruct & Pick<dynamodb.ITableV2, 'tableName'>;
  /** The names of the key attributes of the table. */
  readonly tableKey: readonly string[];
  readonly shardedIndexes: readonly ShardedIndexConfig[];
  /** The key attributes of the table and of all its indexes, sharded or not. */
  readonly keyAttributes: readonly string[];
  /** Returns the table of counts for an index with adaptive counts, if the options of the index do not name a table. */
  shardCountTable(): dynamodb.ITableV2 | undefined;
  /** The writers that the app knows. Undefined for an imported index. */
  readonly writers?: IndexWriters;
}

/**
 * Checks the options of an index and fills in the defaults.
 *
 * @throws InvalidShardCountError if `shardCounts` is missing
 * @throws InvalidIndexConfigError if the options contradict each other or the table
 * @throws InvalidIndexValueError if counts name a value that the value attribute cannot have
 */
export function shardedIndexSettings(indexed: IndexedTable, options: BaseShardedIndexOptions): ShardedIndexSettings {
  const { table, tableKey, writers } = indexed;
  const { indexName, valueAttribute, sortKey, tieBreakers = [], shardCounts } = options;
  requireShardCounts(constructField(table, `${indexName}.shardCounts`), shardCounts);
  const sortKeys = [...(sortKey ? [sortKey] : []), ...tieBreakers];
  const fixed: ShardedIndexConfig = {
    tableName: table.tableName,
    indexName,
    tableKey: [...tableKey],
    keyLayout: `${options.keyLayout ?? KeyLayout.MULTI_ATTRIBUTE}` as const,
    valueAttribute: valueAttribute?.name,
    shardAttribute: options.shardAttribute ?? `${indexName}Shard`,
    sortKeyAttributes: sortKeys.map(({ name }) => name),
    shards: shardCounts._config,
    strategy: itemStrategy(constructField(table, `${indexName}.strategy`), options.strategy),
    ...shardFormatFrom(table, `${indexName}.`, options),
    ...(options.sparse === true && { sparse: true }),
    ...(writers && { longestWriteSeconds: longestWriteSeconds(writers) }),
  };
  const checked: CheckedOptions = { indexed, options, config: fixed, throwIf: throwerFor(table) };
  const checks = [
    checkName,
    checkTableKey,
    checkCounts,
    checkTieBreakers,
    checkSparse,
    checkOwnKey,
    checkShardAttribute,
  ];
  for (const check of checks) check(checked);
  checkShardNames(fixed, constructField(table, indexName));
  const shardCountTable = countTable(checked);
  return {
    config: shardCountTable === undefined ? fixed : adaptive(fixed, shardCountTable, shardCounts._maximum!),
    partitionKeys: partitionKeys(fixed, valueAttribute),
    sortKeys,
    ...(shardCountTable && { shardCountTable }),
    ...(writers && { writers }),
  };
}

/** Version 2 makes readers that do not support adaptive counts reject the configuration. */
function adaptive(config: ShardedIndexConfig, { tableName }: dynamodb.ITableV2, maximum: number): ShardedIndexConfig {
  return { version: 2, ...config, adaptive: { tableName, maximum } };
}

function partitionKeys({ keyLayout, shardAttribute: name }: ShardedIndexConfig, value?: dynamodb.Attribute) {
  if (value === undefined) return [{ name, type: dynamodb.AttributeType.NUMBER }];
  return keyLayout === 'single-attribute'
    ? [{ name, type: dynamodb.AttributeType.STRING }]
    : [value, { name, type: dynamodb.AttributeType.NUMBER }];
}

/** The options of an index, and the configuration for these options with fixed counts. */
interface CheckedOptions {
  readonly indexed: IndexedTable;
  readonly options: BaseShardedIndexOptions;
  readonly config: ShardedIndexConfig;
  readonly throwIf: (wrong: boolean, property: string, received: unknown, allowed: string) => void;
}

function throwerFor(table: IConstruct): CheckedOptions['throwIf'] {
  return (wrong, property, received, allowed) => {
    if (wrong) throw new InvalidIndexConfigError(constructField(table, property), received, allowed);
  };
}

function checkName({ indexed: { shardedIndexes }, config: { indexName }, throwIf }: CheckedOptions): void {
  throwIf(!isName(indexName), 'indexName', indexName, ALLOWED_NAME);
  throwIf(
    shardedIndexes.some((other) => other.indexName === indexName),
    'indexName',
    indexName,
    'different from the names of all other indexes of the table',
  );
}

function checkTableKey({ config: { tableKey }, throwIf }: CheckedOptions): void {
  throwIf(!tableKey.every(isAttributeName), 'tableKey', tableKey, `attribute names, each ${ALLOWED_ATTRIBUTE}`);
}

function checkCounts({ indexed: { table }, options, config: { indexName, shards }, throwIf }: CheckedOptions): void {
  const { valueAttribute: value, shardCounts, shardCountTable } = options;
  const { byValue = {} } = shards;
  throwIf(
    value?.type === dynamodb.AttributeType.BINARY,
    `${indexName}.valueAttribute.type`,
    value?.type,
    'S (string) or N (number)',
  );
  throwIf(
    value === undefined && shards.byValue !== undefined,
    `${indexName}.shardCounts`,
    byValue,
    'ShardCounts.uniform for an index without a valueAttribute (counts by value need a valueAttribute)',
  );
  for (const counted of Object.keys(byValue)) {
    if (value?.type !== dynamodb.AttributeType.NUMBER || isNumber(counted)) continue;
    const field = constructField(table, `${indexName}.shardCounts.byValue`);
    const allowed = 'a finite number as JavaScript writes it, such as "7" (the value attribute is a number)';
    throw new InvalidIndexValueError(field, counted, allowed);
  }
  throwIf(
    [shards.default, ...Object.values(byValue)].some(({ since }) => since !== undefined),
    `${indexName}.shardCounts`,
    shards,
    'counts without since, which is only for tables that are sharded by their own key',
  );
  throwIf(
    shardCounts._maximum === undefined && shardCountTable !== undefined,
    `${indexName}.shardCountTable`,
    shardCountTable?.node.path,
    'absent with fixed shardCounts (only ShardCounts.adaptive has counts in a table)',
  );
}

function checkTieBreakers({ options, config, throwIf }: CheckedOptions): void {
  const { sortKey, tieBreakers = [] } = options;
  const throwForTieBreakers = (wrong: boolean, allowed: string) =>
    throwIf(wrong, `${config.indexName}.tieBreakers`, tieBreakers, allowed);
  const hasSome = tieBreakers.length > 0;
  throwForTieBreakers(hasSome && sortKey === undefined, 'absent without a sort key');
  throwForTieBreakers(
    hasSome && config.keyLayout === 'single-attribute',
    'absent in the single-attribute layout (only KeyLayout.MULTI_ATTRIBUTE has tie-breakers)',
  );
  throwForTieBreakers(
    config.sortKeyAttributes.length > MAX_SORT_ATTRIBUTES,
    `at most ${MAX_SORT_ATTRIBUTES - 1} attributes (DynamoDB allows ${MAX_SORT_ATTRIBUTES} in a sort key)`,
  );
}

function checkSparse({ options: { indexName, sortKey, sparse }, throwIf }: CheckedOptions): void {
  const allowed = 'absent without a sort key (the index contains every item that has a shard)';
  throwIf(sparse === true && sortKey === undefined, `${indexName}.sparse`, sparse, allowed);
}

function checkOwnKey({ indexed: { shardedIndexes }, options, config, throwIf }: CheckedOptions): void {
  const { indexName } = config;
  const ownKey = ownKeyOf(config);
  throwIf(
    new Set(ownKey).size < ownKey.length,
    `${indexName}.sortKey`,
    ownKey,
    'different from every other key attribute',
  );
  for (const { name, property } of keyProperties(options)) {
    throwIf(!isAttributeName(name), `${indexName}.${property}.name`, name, ALLOWED_ATTRIBUTE);
    const other = shardedIndexes.find((index) => index.shardAttribute === name);
    throwIf(
      other !== undefined,
      `${indexName}.${property}`,
      name,
      `another attribute than the shard attribute of ${other?.indexName}`,
    );
  }
}

function checkShardAttribute({
  indexed: { shardedIndexes, keyAttributes },
  options,
  config,
  throwIf,
}: CheckedOptions): void {
  const { shardAttribute, tableKey, indexName } = config;
  const throwForShardAttribute = (wrong: boolean, allowed: string) =>
    throwIf(wrong, `${indexName}.shardAttribute`, shardAttribute, allowed);
  throwForShardAttribute(!isAttributeName(shardAttribute), ALLOWED_ATTRIBUTE);
  const sharing = shardedIndexes.find((other) => other.shardAttribute === shardAttribute);
  throwForShardAttribute(
    [...ownKeyOf(config), ...tableKey].includes(shardAttribute) ||
      (sharing === undefined && keyAttributes.includes(shardAttribute)),
    'an attribute that is not part of the key of the table or of an index',
  );
  throwForShardAttribute(
    sharing !== undefined && (options.shardCounts._maximum !== undefined || !haveSameSharding(sharing, config)),
    `another attribute than the shard attribute of ${sharing?.indexName} (two indexes may share it only with the same valueAttribute, keyLayout, fixed shardCounts, strategy and shard format)`,
  );
}

/** Runs after all checks, so that an index with invalid options does not add a table of counts. */
function countTable({ indexed, options, config, throwIf }: CheckedOptions): dynamodb.ITableV2 | undefined {
  if (options.shardCounts._maximum === undefined) return undefined;
  const { shardCountTable: own } = options;
  if (own) checkCountTable(constructField(indexed.table, `${config.indexName}.shardCountTable`), own);
  const counts = own ?? indexed.shardCountTable();
  const allowed = 'the table of counts of an index that is imported with ShardCounts.adaptive';
  throwIf(counts === undefined, `${config.indexName}.shardCountTable`, undefined, allowed);
  return counts;
}

function ownKeyOf({ valueAttribute, sortKeyAttributes }: ShardedIndexConfig): string[] {
  return [valueAttribute, ...sortKeyAttributes].filter((name) => name !== undefined);
}

function keyProperties({ valueAttribute, sortKey, tieBreakers = [] }: BaseShardedIndexOptions) {
  return [
    ...(valueAttribute ? [{ name: valueAttribute.name, property: 'valueAttribute' }] : []),
    ...(sortKey ? [{ name: sortKey.name, property: 'sortKey' }] : []),
    ...tieBreakers.map(({ name }) => ({ name, property: 'tieBreakers' })),
  ];
}

/** Whether a text is a number in the form that writers and readers use: "7", never "07". */
function isNumber(text: string): boolean {
  return Number.isFinite(Number(text)) && String(Number(text)) === text;
}
