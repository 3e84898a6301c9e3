import { type Layout, type PageCost, pageCost } from './page-cost';

/** One case of the bench: the number of shards, the maximum number of items on a page, and the bytes of an item. */
export type Combination = Pick<PageCost, 'shards' | 'limit' | 'bytes'>;

const SHARD_COUNTS = [10, 20, 50, 100, 200];
const LIMITS = [25, 50, 100, 1_000];
const ITEM_BYTES = [200, 500, 1_000, 4_000];

export const COMBINATIONS: Combination[] = ITEM_BYTES.flatMap((bytes) =>
  SHARD_COUNTS.flatMap((shards) => LIMITS.map((limit) => ({ shards, limit, bytes }))),
);

/** The layouts with known and unknown sizes. Each pair is a row in decision 0048. */
export const SITUATIONS: { layout: Layout; warm: boolean; name: string; sizes: string }[] = [
  { layout: 'uniform', name: 'at random' },
  { layout: 'skewed', name: 'skewed' },
  { layout: 'runs', name: 'in runs' },
].flatMap(({ layout, name }) =>
  [true, false].map((warm) => ({ layout: layout as Layout, warm, name, sizes: warm ? 'known' : 'unknown' })),
);

export const PAGE_HEADER = ['shards', 'limit', 'item bytes', 'units', 'multiple of the floor', 'waves', 'L each costs'];

/** The combinations whose page cost is in decision 0048, with known item sizes and a uniform layout. */
export const SHOWN: Combination[] = [
  { shards: 10, limit: 50, bytes: 200 },
  { shards: 20, limit: 100, bytes: 200 },
  { shards: 200, limit: 1_000, bytes: 200 },
  { shards: 10, limit: 50, bytes: 1_000 },
  { shards: 50, limit: 50, bytes: 1_000 },
  { shards: 50, limit: 1_000, bytes: 1_000 },
  { shards: 20, limit: 25, bytes: 4_000 },
  { shards: 100, limit: 100, bytes: 4_000 },
  { shards: 200, limit: 25, bytes: 4_000 },
];

export async function pageRow(combination: Combination): Promise<string[]> {
  const { shards, limit, bytes, units, waves, naive, ...cost } = await pageCost('uniform', true, combination);
  return [
    ...[shards, limit, bytes].map((count) => count.toLocaleString('en')),
    units.toFixed(1),
    (units / cost.floor).toFixed(2),
    waves.toFixed(2),
    `${(naive / units).toFixed(1)}x`,
  ];
}

export const GROUP_HEADER = [
  'combinations',
  'number',
  'multiple of the floor: mean',
  'maximum',
  'waves: mean',
  'maximum',
];

/** The cost of the combinations of a group, with known item sizes and a uniform layout. */
export function groupRows(costs: readonly PageCost[]): string[][] {
  const row = (name: string, group: readonly PageCost[]): string[] => [
    name,
    String(group.length),
    mean(group, overFloor).toFixed(2),
    mostOf(group, overFloor),
    mean(group, ({ waves }) => waves).toFixed(2),
    mostOf(group, ({ waves }) => waves),
  ];
  return [
    row(
      'the share and two deviations fit a block',
      costs.filter(({ oneBlock }) => oneBlock),
    ),
    row(
      'the others',
      costs.filter(({ oneBlock }) => !oneBlock),
    ),
    row(
      'up to 20 shards',
      costs.filter(({ shards }) => shards <= 20),
    ),
  ];
}

export const SITUATION_HEADER = [
  'items in shards, sizes',
  'multiple of the floor: mean',
  'maximum',
  'waves: mean',
  'maximum',
  'requests for each shard',
];

export function situationRow({ name, sizes }: (typeof SITUATIONS)[number], costs: readonly PageCost[]): string[] {
  return [
    `${name}, ${sizes}`,
    mean(costs, overFloor).toFixed(2),
    mostOf(costs, overFloor),
    mean(costs, ({ waves }) => waves).toFixed(2),
    mostOf(costs, ({ waves }) => waves),
    mean(costs, ({ requests, shards }) => requests / shards).toFixed(2),
  ];
}

export function overFloor({ units, floor }: PageCost): number {
  return units / floor;
}

/** The largest value, with its combination, such as "2.34 (100 x 100 x 4,000)". */
function mostOf(costs: readonly PageCost[], of: (cost: PageCost) => number): string {
  const most = costs.reduce((a, b) => (of(b) > of(a) ? b : a));
  const { shards, limit, bytes } = most;
  const combination = [shards, limit, bytes].map((count) => count.toLocaleString('en')).join(' x ');
  return `${of(most).toFixed(2)} (${combination})`;
}

function mean(costs: readonly PageCost[], of: (cost: PageCost) => number): number {
  return costs.reduce((sum, cost) => sum + of(cost), 0) / costs.length;
}
