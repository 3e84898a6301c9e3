import type { DynamoDbItem } from '../../aws-client/attribute-value';

/** Removes the attributes that the query read only to order and identify items. */
export function projectedItem(item: DynamoDbItem, projection: string[] | undefined): DynamoDbItem {
  if (projection === undefined) return item;
  return Object.fromEntries(Object.entries(item).filter(([attribute]) => projection.includes(attribute)));
}
