import { HashKeyNames } from '../../../../../bin/local/console/hash-key-names';
import type { RegistryEntry } from '../../../../../lib/core/registry/registry-store';

let nowMs = 0;
let readMs = 0;
let reads = 0;
let items: RegistryEntry[] = [];
let recent: RegistryEntry[] = [];

const entry = (owner: string, version: number, hashKey?: bigint): RegistryEntry => ({
  owner,
  version,
  hashKey,
  weight: 1,
});
const names = () =>
  new HashKeyNames(
    {
      readHead: async () => ({ version: 9, recent }),
      readEntries: async () => {
        reads += 1;
        nowMs += readMs;
        return items;
      },
    },
    () => nowMs,
  );

beforeEach(() => {
  [nowMs, readMs, reads] = [0, 0, 0];
  items = [];
  recent = [];
});

test('HashKeyNames returns the owner in the latest registry entry of a hash key, which is in its own item or in the head item', async () => {
  const known = names();
  items = [entry('a', 1, 10n), entry('b', 2, 20n), entry('c', 3, 30n)];
  // b has moved, c was released, and d is new. The items of these owners are not written yet.
  recent = [entry('b', 4, 25n), entry('c', 5), entry('d', 6, 30n), entry('a', 1, 10n)];
  await known.refresh([10n]);
  expect([10n, 20n, 25n, 30n].map((hashKey) => known.ownerOf(hashKey))).toEqual(['a', undefined, 'b', 'd']);
});

test('HashKeyNames reads the registry for at most a tenth of the time', async () => {
  const known = names();
  readMs = 700;
  while (nowMs < 100_000) {
    await known.refresh([1n]);
    nowMs += 50;
  }
  expect(reads * readMs).toBeLessThanOrEqual(0.1 * nowMs + readMs);
  expect(reads).toBeGreaterThan(10);
});
