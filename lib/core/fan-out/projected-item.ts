import type { Item } from './query-client';

/** Drops the attributes that were read only to order the items, or to tell them apart. */
export function projectedItem(item: Item, projection: string[] | undefined): Item {
  if (projection === undefined) return item;
  return Object.fromEntries(Object.entries(item).filter(([attribute]) => projection.includes(attribute)));
}
