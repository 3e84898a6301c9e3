import { parseArgs } from 'node:util';
import { textTable } from '../../../bin/text-table';
import { allocateWithCrashes } from '../../support/plays/allocate-with-crashes';

/**
 * Allocators that work in parallel on one registry of the emulator, and crash:
 *
 *     npm run soak registry -- --allocators 64 --owners 2000 --shards 24 --crashes 0.02 --seed 1
 */
const { values } = parseArgs({
  options: {
    allocators: { type: 'string', default: '64' },
    owners: { type: 'string', default: '2000' },
    shards: { type: 'string', default: '24' },
    crashes: { type: 'string', default: '0.02' },
    seed: { type: 'string', default: '1' },
  },
});
const ordeal = {
  allocators: Number(values.allocators),
  owners: Number(values.owners),
  shards: Number(values.shards),
  crashes: Number(values.crashes),
  seed: Number(values.seed),
};

async function main(): Promise<void> {
  const start = performance.now();
  const outcome = await allocateWithCrashes(ordeal);
  const seconds = Math.round((performance.now() - start) / 1000);
  console.log(textTable(['', ''], Object.entries({ ...ordeal, ...outcome, seconds })).join('\n'));
  const { ownersOfTwoKeys, keysOfTwoOwners, ownersLost, fullest, bound } = outcome;
  if (ownersOfTwoKeys + keysOfTwoOwners + ownersLost > 0 || fullest > bound) process.exitCode = 1;
}

void main();
