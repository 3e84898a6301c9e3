import { allocateWithCrashes } from '../../../support/plays/allocate-with-crashes';

/** `npm run soak registry` runs the same test with 64 allocators and 2,000 owners. */
test('parallel allocators that crash give each owner one key, use no key twice, and give each shard at most ceil(owners / shards) owners', async () => {
  const ordeal = { allocators: 8, owners: 60, shards: 7, crashes: 0.05, seed: 3 };
  expect(await allocateWithCrashes(ordeal)).toMatchObject({
    commits: 60,
    ownersOfTwoKeys: 0,
    keysOfTwoOwners: 0,
    ownersLost: 0,
    fullest: 9,
    bound: 9,
  });
}, 60_000);
