import type { DynamoDbItem } from '../../aws-client/attribute-value';
import type { GatheredPage } from '../../fan-out/scatter-gather';
import { compareAttributeValues } from './attribute-order';
import { type CursorPosition, UNKNOWN_TIES } from './cursor';

/**
 * Computes the `ties` of the cursor after a page: one number for each sort key attribute. The number approximates how many
 * items before the end of the page have the same values as that end, in this attribute and in all earlier attributes.
 *
 * The next page would read these items again, including the items that a filter hides. So the number of visible items is
 * multiplied by the average number of items that were read per visible item. If the page ends at a hidden item, the number of
 * ties is unknown.
 *
 * @param before the cursor with which the page began
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
