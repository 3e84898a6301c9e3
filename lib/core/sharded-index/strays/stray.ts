import type { AttributeValue, DynamoDbItem } from '../../aws-client/attribute-value';

/**
 * Why an item is a stray.
 *
 * - `missing`: the item has a value and no shard attribute.
 * - `malformed`: the shard attribute has another type or another format than writers give it.
 * - `otherValue`: the shard attribute names another value than the item has. Single-attribute layout, and tables that are sharded
 *   by their own key and have a value attribute of their own.
 * - `outOfRange`: readers do not ask the shard, for its number is at least the read count of the value.
 * - `misplaced`: readers ask the shard, but a writer would not put the item there. The number is at least the write count,
 *   or the strategy is `calculated` and gives another shard.
 * - `leftOver`: the item has no value any more, but still a shard attribute.
 * - `invalidValue`: the value is neither a non-empty string nor a number, so the item has no place in the index. In a table that
 *   is sharded by its own key, an attribute that decides the shard is missing, or can be no key.
 * - `noSortKey`: an attribute of the sort key of the index is missing, empty or of a type that no key has, so DynamoDB leaves the item
 *   out of the index. The shard attribute can be wrong, too. An index with `sparse: true` has no such strays.
 */
export type StrayReason =
  | 'missing'
  | 'malformed'
  | 'otherValue'
  | 'outOfRange'
  | 'misplaced'
  | 'leftOver'
  | 'invalidValue'
  | 'noSortKey';

/**
 * An item whose shard attribute, or place in a table that is sharded by its own key, is not what a writer would give it. Or an item that
 * an index does not contain because the item lacks the sort key.
 */
export interface Stray {
  /** The table key of the item, as attribute values. */
  key: DynamoDbItem;
  /** What is wrong. */
  reason: StrayReason;
  /** Whether queries for the value of the item should find the item and do not. */
  hidden: boolean;
  /** The value of the item. Absent if the item has none, or if the index covers the whole table. */
  value?: AttributeValue;
  /** The shard attribute of the item. Absent if the item has none. */
  stored?: AttributeValue;
  /**
   * The shard attribute that a writer would give the item. Absent if the item belongs in no shard, or if only its sort key is missing.
   */
  expected?: AttributeValue;
}
