import type { DynamoDbItem } from '../foundation/attribute-value';

/** Drops the attributes that were read only to order the items, or to tell them apart. */
export function projectedItem(item: DynamoDbItem, projection: string[] | undefined): DynamoDbItem {
  if (projection === undefined) return item;
  return Object.fromEntries(Object.entries(item).filter(([attribute]) => projection.includes(attribute)));
}
