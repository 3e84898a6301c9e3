import { Token } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { IConstruct } from 'constructs';
import { constructField } from '../../construct/construct-field';
import { type ShardedIndexConfig, shardCountOf } from '../../core/sharded-index/config/sharded-index-config';
import { InvalidIndexConfigError, InvalidIndexValueError } from '../../core/sharded-index/config/sharded-index-errors';
import type { BaseShardedIndexOptions } from './base-sharded-index-options';

/** Source: the DynamoDB API reference, GlobalSecondaryIndex: IndexName. */
const INDEX_NAME = /^[a-zA-Z0-9_.-]{3,255}$/;

/** Source: the DynamoDB developer guide, "Multi-attribute keys": up to four attributes in each key. */
const MAX_SORT_ATTRIBUTES = 4;

/** Source: the DynamoDB developer guide, "Naming rules": attributes of a secondary index's key, in UTF-8. */
const MAX_KEY_ATTRIBUTE_BYTES = 255;

/** What else is known of the table that an index belongs to. */
interface Surroundings {
  readonly shardedIndexes: readonly ShardedIndexConfig[];
  /** The key attributes of the table and of all its indexes, sharded or not. */
  readonly keyAttributes: readonly string[];
}

/** Of a table that was imported, nothing else is known. */
const UNKNOWN: Surroundings = { shardedIndexes: [], keyAttributes: [] };

/**
 * Throws an error with the code `INVALID_INDEX_CONFIG` or `INVALID_INDEX_VALUE` unless `table` can have the index that
 * `options` describe and `config` was derived from.
 */
export function checkShardedIndex(
  table: IConstruct,
  options: BaseShardedIndexOptions,
  config: ShardedIndexConfig,
  { shardedIndexes, keyAttributes }: Surroundings = UNKNOWN,
): void {
  const { indexName, keyLayout, shardAttribute, sortKeyAttributes, tableKey } = config;
  const { valueAttribute: value, sortKey, tieBreakers = [] } = options;
  const { byValue = {} } = config.shards;
  const refuseIf = (wrong: boolean, property: string, received: unknown, allowed: string) => {
    if (wrong) throw new InvalidIndexConfigError(constructField(table, property), received, allowed);
  };

  refuseIf(
    !Token.isUnresolved(indexName) && !INDEX_NAME.test(indexName),
    'indexName',
    indexName,
    '3 to 255 characters of a-z, A-Z, 0-9, underscore, hyphen and dot',
  );
  refuseIf(
    shardedIndexes.some((other) => other.indexName === indexName),
    'indexName',
    indexName,
    'different from the names of all other indexes of the table',
  );
  refuseIf(
    value?.type === dynamodb.AttributeType.BINARY,
    `${indexName}.valueAttribute.type`,
    value?.type,
    'S (string) or N (number)',
  );
  refuseIf(
    value === undefined && config.shards.byValue !== undefined,
    `${indexName}.shardCounts`,
    byValue,
    'ShardCounts.uniform for an index without a valueAttribute, give it one to have counts by value',
  );
  for (const counted of Object.keys(byValue)) {
    if (value?.type !== dynamodb.AttributeType.NUMBER || isNumber(counted)) continue;
    const field = constructField(table, `${indexName}.shardCounts.byValue`);
    throw new InvalidIndexValueError(
      field,
      counted,
      'a finite number as JavaScript writes it, such as "7", for the value attribute is a number',
    );
  }

  refuseIf(
    [config.shards.default, ...Object.values(byValue)].some(({ since }) => since !== undefined),
    `${indexName}.shardCounts`,
    config.shards,
    'counts without since, which is for tables that are sharded by their own key',
  );

  const { shardCounts, shardCountTable } = options;
  refuseIf(
    shardCounts._maximum === undefined && shardCountTable !== undefined,
    `${indexName}.shardCountTable`,
    shardCountTable?.node.path,
    'absent with fixed shardCounts, use ShardCounts.adaptive to have counts in a table',
  );
  refuseIf(
    shardCounts._maximum !== undefined && config.adaptive?.tableName === '',
    `${indexName}.shardCountTable`,
    undefined,
    'the table of counts of an index that is imported with ShardCounts.adaptive',
  );

  refuseIf(
    tieBreakers.length > 0 && sortKey === undefined,
    `${indexName}.tieBreakers`,
    tieBreakers,
    'absent without a sort key, whose ties they break',
  );
  refuseIf(
    tieBreakers.length > 0 && keyLayout === 'single-attribute',
    `${indexName}.tieBreakers`,
    tieBreakers,
    'absent in the single-attribute layout, use KeyLayout.MULTI_ATTRIBUTE to have them',
  );
  refuseIf(
    sortKeyAttributes.length > MAX_SORT_ATTRIBUTES,
    `${indexName}.tieBreakers`,
    tieBreakers,
    `at most ${MAX_SORT_ATTRIBUTES - 1} attributes, as DynamoDB allows ${MAX_SORT_ATTRIBUTES} in a sort key`,
  );
  const ownKey = [config.valueAttribute, ...sortKeyAttributes].filter((name) => name !== undefined);
  refuseIf(
    new Set(ownKey).size < ownKey.length,
    `${indexName}.sortKey`,
    ownKey,
    'different from every other key attribute',
  );
  for (const { name, property } of keyProperties(options)) {
    const other = shardedIndexes.find((index) => index.shardAttribute === name);
    refuseIf(
      other !== undefined,
      `${indexName}.${property}`,
      name,
      `another attribute than the one that holds the shards of ${other?.indexName}`,
    );
  }

  const nameBytes = Buffer.byteLength(shardAttribute);
  refuseIf(
    nameBytes < 1 || nameBytes > MAX_KEY_ATTRIBUTE_BYTES,
    `${indexName}.shardAttribute`,
    shardAttribute,
    `a name of 1 to ${MAX_KEY_ATTRIBUTE_BYTES} bytes`,
  );
  const sharing = shardedIndexes.find((other) => other.shardAttribute === shardAttribute);
  refuseIf(
    [...ownKey, ...tableKey].includes(shardAttribute) || (!sharing && keyAttributes.includes(shardAttribute)),
    `${indexName}.shardAttribute`,
    shardAttribute,
    'an attribute of its own, not one of the key of the table or of an index',
  );
  refuseIf(
    sharing !== undefined && !haveSameSharding(sharing, config),
    `${indexName}.shardAttribute`,
    shardAttribute,
    `another attribute than that of ${sharing?.indexName}, or have the same valueAttribute, keyLayout, fixed shardCounts and strategy`,
  );
}

/** Throws an error with the code `INVALID_INDEX_CONFIG` unless an imported table's key is one, as DynamoDB has it. */
export function checkTableKey(table: IConstruct, { indexName, tableKey }: ShardedIndexConfig): void {
  const named = tableKey.every((name) => name !== '');
  if (named && (tableKey.length === 1 || (tableKey.length === 2 && tableKey[0] !== tableKey[1]))) return;
  throw new InvalidIndexConfigError(
    constructField(table, `${indexName}.tableKey`),
    tableKey,
    'the name of the partition key, then that of the sort key if the table has one',
  );
}

function keyProperties({ valueAttribute, sortKey, tieBreakers = [] }: BaseShardedIndexOptions) {
  return [
    ...(valueAttribute ? [{ name: valueAttribute.name, property: 'valueAttribute' }] : []),
    ...(sortKey ? [{ name: sortKey.name, property: 'sortKey' }] : []),
    ...tieBreakers.map(({ name }) => ({ name, property: 'tieBreakers' })),
  ];
}

/** As writers and readers turn a number into text: "7", never "07". */
function isNumber(text: string): boolean {
  return Number.isFinite(Number(text)) && String(Number(text)) === text;
}

/** Whether writers put the same into the shard attributes of both. Fixed counts compare by what they mean for each value. */
function haveSameSharding(a: ShardedIndexConfig, b: ShardedIndexConfig): boolean {
  const values = [a, b].flatMap(({ shards }) => Object.keys(shards.byValue ?? {}));
  return (
    a.adaptive === undefined &&
    b.adaptive === undefined &&
    a.keyLayout === b.keyLayout &&
    a.valueAttribute === b.valueAttribute &&
    a.strategy === b.strategy &&
    [undefined, ...values].every((value) => {
      const [ofA, ofB] = [shardCountOf(a, value), shardCountOf(b, value)];
      return ofA.write === ofB.write && ofA.read === ofB.read;
    })
  );
}
