import { type Layout, type PageCost, pageCost } from './page-cost';
import { COMBINATIONS, type Combination, overFloor } from './read-units-tables';

/** The sizes of the reads in the first wave of a page, if the query does not know the item sizes. */
export const FIRST_WAVES: { name: string; items(share: number): number }[] = [
  { name: 'one item', items: () => 1 },
  { name: 'the share', items: (share) => Math.ceil(share) },
  { name: 'the share plus half its square root, as built', items: (share) => Math.ceil(share + Math.sqrt(share) / 2) },
  { name: 'the share plus its square root', items: (share) => Math.ceil(share + Math.sqrt(share)) },
  { name: 'the share plus twice its square root', items: (share) => Math.ceil(share + 2 * Math.sqrt(share)) },
];

export const FIRST_WAVE_HEADER = [
  'first wave',
  ...['at random', 'skewed', 'in runs'].flatMap((layout) => [`${layout}: waves`, 'highest multiple of the floor']),
];

/**
 * Pages with 1 to 5 items for each shard need the most waves, so the size of the first wave has the largest effect on
 * these pages.
 */
const MAX_SHARE = 5;

export const FEW_OF_EACH: Combination[] = COMBINATIONS.filter(
  ({ shards, limit }) => limit >= shards && limit <= MAX_SHARE * shards,
);

/**
 * The cost of a first page with this size of the first wave: the mean number of waves, and the largest number of read
 * units.
 */
export async function firstWaveRow({ name, items }: (typeof FIRST_WAVES)[number]): Promise<string[]> {
  const cells = async (layout: Layout): Promise<string[]> => {
    const costs: PageCost[] = [];
    for (const each of FEW_OF_EACH) costs.push(await pageCost(layout, false, each, items(each.limit / each.shards)));
    const waves = costs.reduce((sum, cost) => sum + cost.waves, 0) / costs.length;
    return [waves.toFixed(2), Math.max(...costs.map(overFloor)).toFixed(2)];
  };
  return [name, ...(await cells('uniform')), ...(await cells('skewed')), ...(await cells('runs'))];
}
