import { Token } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { IConstruct } from 'constructs';
import { constructField } from '../construct-field';
import { InvalidIndexConfigError, InvalidIndexValueError } from '../core/errors';
import type { ShardedIndexConfig } from '../core/write-sharding/sharded-index-config';
import type { ShardedIndexProps } from './sharded-index-props';

/** Source: the DynamoDB API reference, GlobalSecondaryIndex: IndexName. */
const INDEX_NAME = /^[a-zA-Z0-9_.-]{3,255}$/;

/** Source: the DynamoDB developer guide, "Multi-attribute keys": up to four attributes of each kind. */
const MAX_SORT_ATTRIBUTES = 4;

/** Source: the DynamoDB developer guide, "Naming rules": key attributes of an index, in UTF-8. */
const MAX_KEY_ATTRIBUTE_BYTES = 255;

/**
 * Throws `InvalidIndexConfigError` or `InvalidIndexValueError` unless `table` can be given the index that `props`
 * describe and `config` was derived from.
 */
export function checkShardedIndex(
  table: IConstruct,
  props: ShardedIndexProps,
  config: ShardedIndexConfig,
  otherIndexes: readonly ShardedIndexConfig[],
): void {
  const { indexName, shardAttribute, valueAttribute, sortKeyAttributes, tableKey } = config;
  const fieldOf = (property: string) => constructField(table, `${indexName}.${property}`);

  if (!Token.isUnresolved(indexName) && !INDEX_NAME.test(indexName)) {
    throw new InvalidIndexConfigError(
      constructField(table, 'indexName'),
      indexName,
      '3 to 255 characters of a-z, A-Z, 0-9, underscore, hyphen and dot',
    );
  }
  if (otherIndexes.some((other) => other.indexName === indexName)) {
    throw new InvalidIndexConfigError(
      constructField(table, 'indexName'),
      indexName,
      'different from the names of all other indexes of the table',
    );
  }
  if (props.value?.type === dynamodb.AttributeType.BINARY) {
    throw new InvalidIndexConfigError(fieldOf('value.type'), props.value.type, 'S (string) or N (number)');
  }
  if (props.tieBreakers?.length && !props.sortKey) {
    throw new InvalidIndexConfigError(
      fieldOf('tieBreakers'),
      props.tieBreakers,
      'absent without a sort key, whose ties they break',
    );
  }
  if (props.tieBreakers?.length && config.keyLayout === 'single-attribute') {
    throw new InvalidIndexConfigError(
      fieldOf('tieBreakers'),
      props.tieBreakers,
      'absent in the single-attribute layout, use KeyLayout.MULTI_ATTRIBUTE to have them',
    );
  }
  if (sortKeyAttributes.length > MAX_SORT_ATTRIBUTES) {
    throw new InvalidIndexConfigError(
      fieldOf('tieBreakers'),
      props.tieBreakers,
      `at most ${MAX_SORT_ATTRIBUTES - 1} attributes, as DynamoDB allows ${MAX_SORT_ATTRIBUTES} in a sort key`,
    );
  }
  const bytes = Buffer.byteLength(shardAttribute);
  if (bytes < 1 || bytes > MAX_KEY_ATTRIBUTE_BYTES) {
    throw new InvalidIndexConfigError(
      fieldOf('shardAttribute'),
      shardAttribute,
      `a name of 1 to ${MAX_KEY_ATTRIBUTE_BYTES} bytes`,
    );
  }
  if ([valueAttribute, ...sortKeyAttributes, ...tableKey].includes(shardAttribute)) {
    throw new InvalidIndexConfigError(
      fieldOf('shardAttribute'),
      shardAttribute,
      'an attribute of its own, not one of the key of the table or the index',
    );
  }
  const keyAttributes = [...(valueAttribute === undefined ? [] : [valueAttribute]), ...sortKeyAttributes];
  if (new Set(keyAttributes).size < keyAttributes.length) {
    throw new InvalidIndexConfigError(fieldOf('sortKey'), keyAttributes, 'different from every other key attribute');
  }
  const { byValue } = config.shards;
  if (byValue !== undefined && props.value === undefined) {
    throw new InvalidIndexConfigError(
      fieldOf('shards'),
      byValue,
      'ShardCounts.uniform for an index without a value, give it a value to have counts by value',
    );
  }
  for (const value of Object.keys(byValue ?? {})) {
    if (props.value?.type === dynamodb.AttributeType.NUMBER && String(Number(value)) !== value) {
      throw new InvalidIndexValueError(fieldOf('shards.byValue'), value, 'a number, as the value attribute is one');
    }
  }
  const sharing = otherIndexes.find((other) => other.shardAttribute === shardAttribute);
  if (sharing !== undefined && shardingOf(sharing) !== shardingOf(config)) {
    throw new InvalidIndexConfigError(
      fieldOf('shardAttribute'),
      shardAttribute,
      `another attribute than that of ${sharing.indexName}, or have the same value, layout, shards and strategy`,
    );
  }
}

/** What decides on the content of the shard attribute. */
function shardingOf({ keyLayout, valueAttribute, shards, strategy }: ShardedIndexConfig): string {
  return JSON.stringify([keyLayout, valueAttribute, shards, strategy]);
}
