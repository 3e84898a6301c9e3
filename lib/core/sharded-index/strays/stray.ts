import type { AttributeValue, DynamoDbItem } from '../../aws-client/attribute-value';

/**
 * Why an item is a stray.
 *
 * - `missing`: the item has a value but no shard attribute. If the item also lacks the sort key of an index with `sparse: true`,
 *   the item is not hidden until a writer sets the sort key.
 * - `malformed`: the shard attribute has another type or format than writers use.
 * - `otherValue`: the shard attribute contains another value than the item has. This reason occurs in the single-attribute
 *   layout, and in tables that are sharded by their own key and have a separate value attribute.
 * - `outOfRange`: readers do not query the shard, because its number is at least the read count of the value.
 * - `misplaced`: readers query the shard, but a writer would use another shard. The reason is that the number of the shard is
 *   not below the write count, or that the strategy `calculated` gives another shard.
 * - `leftOver`: the item has a shard attribute but no value.
 * - `invalidValue`: the value is not a non-empty string or a number. In a table that is sharded by its own key, an attribute
 *   that decides the shard is missing or cannot be a key.
 * - `noSortKey`: DynamoDB leaves the item out of the index. An attribute of the sort key of the index is missing, empty or of a
 *   type that cannot be a key. The shard attribute can be wrong, too. An index with `sparse: true` has no such strays.
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
 * An item that is not where a writer would put it. Its shard attribute is wrong. Or, in a table that is sharded by its own key,
 * its partition key is wrong. Or the item lacks the sort key of the index, so the index does not contain the item.
 */
export interface Stray {
  /** The table key of the item, as attribute values. */
  key: DynamoDbItem;
  /** Why the item is a stray. */
  reason: StrayReason;
  /** Whether queries for the value of the item miss the item. */
  hidden: boolean;
  /** The value of the item. Absent if the item has no value, or if the index has no value attribute. */
  value?: AttributeValue;
  /** The shard attribute of the item. Absent if the item has no shard attribute. */
  stored?: AttributeValue;
  /**
   * The shard attribute that a writer would give the item. Absent if the item belongs in no shard, or if only its sort key is missing.
   */
  expected?: AttributeValue;
}
