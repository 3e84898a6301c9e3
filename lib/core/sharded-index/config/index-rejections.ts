import type { DynamoDbItem } from '../../aws-client/attribute-value';
import { attributeOf } from '../../aws-client/attribute-value';
import { itemBytes } from '../query/item-bytes';
import { MAX_KEY_BYTES } from './check-attribute-value';

/** The type of a key attribute: a string, a number or binary data. */
export type KeyAttributeType = 'S' | 'N' | 'B';

/** An attribute of the key of an index. */
export interface IndexKeyAttribute {
  readonly name: string;
  readonly type: KeyAttributeType;
  readonly role: 'partition' | 'sort';
}

/** Why an index rejects a key attribute of an item. */
export type RejectionReason = 'otherType' | 'null' | 'empty' | 'tooLong';

/** The items of a sample that an index with these key attributes would reject. */
interface IndexRejections {
  /** The number of items of the sample. */
  readonly items: number;
  /** The items that the index rejects because of any key attribute. */
  readonly rejected: number;
  /** The counts of each key attribute, in the order of the key. */
  readonly byAttribute: readonly AttributeRejections[];
}

/** The items of a sample that an index would reject because of one key attribute. */
export interface AttributeRejections {
  readonly attribute: IndexKeyAttribute;
  readonly rejected: number;
  /** The rejected items as a part of all items of the sample, from 0 to 1. 0 for an empty sample. */
  readonly share: number;
  /** The rejected items by reason. A reason without items is absent. */
  readonly byReason: Readonly<Partial<Record<RejectionReason, number>>>;
  /** Items without the attribute. The index accepts such items, and does not contain them. */
  readonly absent: number;
}

/**
 * Counts the items that an index with these key attributes would reject. From the creation of the index, DynamoDB rejects each
 * put of such an item, also of a writer that does not know the index.
 */
export function indexRejections(
  attributes: readonly IndexKeyAttribute[],
  items: readonly DynamoDbItem[],
): IndexRejections {
  const byAttribute = attributes.map((attribute): AttributeRejections => {
    const byReason: Partial<Record<RejectionReason, number>> = {};
    for (const item of items) {
      const reason = rejectionReasonOf(attribute, item);
      if (reason !== undefined) byReason[reason] = (byReason[reason] ?? 0) + 1;
    }
    const rejected = Object.values(byReason).reduce((sum, count) => sum + count, 0);
    return {
      attribute,
      rejected,
      share: items.length === 0 ? 0 : rejected / items.length,
      byReason,
      absent: items.filter((item) => attributeOf(item, attribute.name) === undefined).length,
    };
  });
  const isRejected = (item: DynamoDbItem) => attributes.some((each) => rejectionReasonOf(each, item) !== undefined);
  return { items: items.length, rejected: items.filter(isRejected).length, byAttribute };
}

/** Why an index with this key attribute rejects an item. Undefined if the index accepts the item, or does not contain it. */
export function rejectionReasonOf(
  { name, type, role }: IndexKeyAttribute,
  item: DynamoDbItem,
): RejectionReason | undefined {
  const value = attributeOf(item, name);
  if (value === undefined) return undefined;
  if ('NULL' in value) return 'null';
  if (!(type in value)) return 'otherType';
  if (type === 'N') return undefined;
  const bytes = itemBytes({ '': value });
  if (bytes === 0) return 'empty';
  return bytes > MAX_KEY_BYTES[role] ? 'tooLong' : undefined;
}
