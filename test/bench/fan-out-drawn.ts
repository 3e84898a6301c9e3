import { tellDearest } from '../support/tables/fan-out/drawn-cell';

/**
 * What pages cost that are drawn from everything that DynamoDB allows: the limit, the bytes, shards, sizes, layouts, orders,
 * conditions and filters. It prints the ten that cost most, as a multiple of what a reader would pay who knows all items.
 *
 *     npm run bench fan-out-drawn [pages] [first seed]
 */
void tellDearest(Number(process.argv[2] ?? 300), Number(process.argv[3] ?? 0));
