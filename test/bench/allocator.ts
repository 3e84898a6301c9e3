import { benchEvenness } from '../support/tables/evenness';
import { benchNextKey } from './allocator/next-key';
import { benchRestarts } from './allocator/restarts';

/**
 * Compares the allocator of balanced keys with the tree of "Kinesis Hash Key Space Partitioning". Writes the table of decision 0008.
 *
 *     npm run bench allocator [part...]
 */
const PARTS: Record<string, () => void> = {
  'next-key': benchNextKey,
  restarts: benchRestarts,
  evenness: benchEvenness,
};

const names = process.argv.slice(2);
for (const name of names.length > 0 ? names : Object.keys(PARTS)) PARTS[name]!();
