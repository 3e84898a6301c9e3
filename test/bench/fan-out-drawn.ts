import { coresToCompare } from '../support/core-at';
import { tellDearest } from '../support/tables/fan-out/drawn-cell';

/**
 * What pages cost that are drawn from everything that DynamoDB allows: the limit, the bytes, shards, sizes, layouts, orders,
 * conditions and filters. It prints the ten that cost most, as a multiple of what a reader would pay who knows all items.
 *
 *     npm run bench fan-out-drawn [pages] [first seed] [against REF]
 */
async function main([pages = '300', firstSeed = '0', ...others]: string[]): Promise<void> {
  await tellDearest(Number(pages), Number(firstSeed), await coresToCompare(others));
}

void main(process.argv.slice(2));
