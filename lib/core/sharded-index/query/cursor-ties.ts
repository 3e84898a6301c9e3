import type { DynamoDbItem } from '../../aws-client/attribute-value';
import type { GatheredPage } from '../../fan-out/scatter-gather';
import { compareAttributeValues } from './attribute-order';
import { type CursorPosition, UNKNOWN_TIES } from './cursor';

/**
 * The `ties` of the cursor behind a page: for each sort key attribute, about how many items are before the end of the page
 * and share this attribute, and those before it, with the end. A filter hides items that a later page would read again too.
 * So each item that passes the filter counts as many times as items were read for it. If a page ends with hidden items, it
 * is not known how many of them tie.
 *
 * @param before the cursor of the page
 */
export function tiesBefore(
  sortKeyAttributes: readonly string[],
  { positions, end, stats }: Pick<GatheredPage<DynamoDbItem>, 'positions' | 'end' | 'stats'>,
  before: CursorPosition | undefined,
  filtered: boolean,
): number[] {
  if (end === undefined) return [];
  if (end !== positions.at(-1)) return sortKeyAttributes.map(() => UNKNOWN_TIES);
  const readForEach = filtered ? stats.itemsRead / positions.length : 1;
  return sortKeyAttributes.map((_, column) => {
    const attributes = sortKeyAttributes.slice(0, column + 1);
    const shares = (item: DynamoDbItem): boolean =>
      attributes.every((attribute) => {
        const value = item[attribute];
        return value !== undefined && compareAttributeValues(value, end.item[attribute]!) === 0;
      });
    let run = 1;
    while (run < positions.length && shares(positions[positions.length - 1 - run]!.item)) run += 1;
    const onPage = Math.ceil(run * readForEach) - 1;
    if (run < positions.length || before === undefined || !shares(before.item)) return onPage;
    const earlier = before.ties[column]!;
    return earlier === UNKNOWN_TIES ? UNKNOWN_TIES : onPage + earlier + 1;
  });
}
