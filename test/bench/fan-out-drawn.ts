import { type DrawnCost, drawCell, drawnCost } from '../support/tables/fan-out/drawn-cell';

/**
 * What pages cost that are drawn from everything that DynamoDB allows: the limit, the bytes, shards, sizes, layouts, orders,
 * conditions and filters. It prints the ten that cost most, as a multiple of what a reader would pay who knows all items.
 *
 *     npm run bench fan-out-drawn [pages] [first seed]
 */
async function main(pages: number, firstSeed: number): Promise<void> {
  const costs: DrawnCost[] = [];
  for (let seed = firstSeed; seed < firstSeed + pages; seed++) costs.push(await drawnCost(drawCell(seed)));
  const ratio = ({ units, floor }: DrawnCost): number => units / floor;
  const sorted = costs.toSorted((a, b) => ratio(b) - ratio(a));
  const above = costs.filter((cost) => ratio(cost) > 2.5);
  const explained = above.filter(({ units, floor, heads }) => units <= 2.5 * (floor + heads));
  console.log(`${pages} pages: ${above.length} above 2.5 floors, ${explained.length} of them by first items alone`);
  for (const cost of sorted.slice(0, 10)) {
    const { cell, items, units, floor, heads, requests, waves } = cost;
    const { seed, ...axes } = cell;
    const told = Object.entries(axes).map(([name, value]) => `${name} ${value ?? 'none'}`);
    console.log(`${ratio(cost).toFixed(2)} (${(units / (floor + heads)).toFixed(2)} with first items), seed ${seed}:`);
    console.log(`  ${told.join(', ')}`);
    console.log(`  ${items} items, ${units} units of ${floor} and ${heads}, ${requests} requests, ${waves} waves`);
  }
}

void main(Number(process.argv[2] ?? 300), Number(process.argv[3] ?? 0));
