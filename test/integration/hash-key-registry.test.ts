import { allocateWithCrashes } from './allocate-with-crashes';

/** `npm run soak registry` does it with 64 allocators and 2,000 owners. */
test('allocators that work at once and crash give each owner one key, no key twice, and hold ceil(m/k)', async () => {
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
