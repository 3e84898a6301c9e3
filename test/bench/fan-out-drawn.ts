import { coresToCompare } from '../support/core-at';
import { printMostExpensive } from '../support/tables/fan-out/drawn-cell';

/**
 * Measures pages with random limits, bytes, shards, sizes, layouts, orders, conditions and filters. Prints the ten
 * most expensive pages, and each cost as a multiple of the minimum: the cost of a query that knows all items in
 * advance.
 *
 *     npm run bench fan-out-drawn [pages] [first seed] [against REF]
 */
async function main([pages = '300', firstSeed = '0', ...others]: string[]): Promise<void> {
  await printMostExpensive(Number(pages), Number(firstSeed), await coresToCompare(others));
}

void main(process.argv.slice(2));
