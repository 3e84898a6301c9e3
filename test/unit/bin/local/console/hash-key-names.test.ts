import { HashKeyNames } from '../../../../../bin/local/console/hash-key-names';
import type { RegistryEntry } from '../../../../../lib/core/registry/registry-store';

let nowMs = 0;
let lookMs = 0;
let looks = 0;
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
        looks += 1;
        nowMs += lookMs;
        return items;
      },
    },
    () => nowMs,
  );

beforeEach(() => {
  [nowMs, lookMs, looks] = [0, 0, 0];
  items = [];
  recent = [];
});

test('a hash key has the owner that the latest entry gives it, whether in an item or in the head', async () => {
  const known = names();
  items = [entry('a', 1, 10n), entry('b', 2, 20n), entry('c', 3, 30n)];
  // b has moved, c was released, and d came: their items are not written yet.
  recent = [entry('b', 4, 25n), entry('c', 5), entry('d', 6, 30n), entry('a', 1, 10n)];
  await known.look([10n]);
  expect([10n, 20n, 25n, 30n].map((hashKey) => known.ownerOf(hashKey))).toEqual(['a', undefined, 'b', 'd']);
});

test('looks take a tenth of the time at most, however long each of them takes', async () => {
  const known = names();
  lookMs = 700;
  while (nowMs < 100_000) {
    await known.look([1n]);
    nowMs += 50;
  }
  expect(looks * lookMs).toBeLessThanOrEqual(0.1 * nowMs + lookMs);
  expect(looks).toBeGreaterThan(10);
});
