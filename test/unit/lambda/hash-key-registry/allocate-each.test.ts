import { allocateEach } from '../../../../lambda/hash-key-registry/allocate-each';
import { HashKeyLedger, type RegistryStore, uniformRanges } from '../../../../lib/core';
import { systemClock } from '../../../../lib/core/kernel/clock';
import { FakeRegistryTable, type RandomSchedule } from '../../../support/fakes/fake-registry-store';

const noSchedule = { pause: async () => {}, random: () => 0.5 } as unknown as RandomSchedule;
const owners = Array.from({ length: 5 }, (_, index) => ({ owner: `owner-${index}` }));

/**
 * Allocates keys with a ledger that commits two owners at a time. `laterWrites` replaces the write of the head from the
 * second commit on.
 */
function setUp(laterWrites: RegistryStore['writeHead']) {
  const table = new FakeRegistryTable();
  const store = table.store(noSchedule, 0);
  const writeHead: RegistryStore['writeHead'] = (head, expected) =>
    expected === 0 ? store.writeHead(head, expected) : laterWrites(head, expected);
  const ledger = new HashKeyLedger(
    { ...store, writeHead },
    { maxEntries: 2, clock: { ...systemClock, sleep: async () => {} } },
  );
  return allocateEach(ledger, store, owners, uniformRanges(2));
}

describe('allocateEach', () => {
  test('returns the hash keys of owners that were committed, and an error code for each other owner', async () => {
    const [first, second, ...others] = await setUp(async () => false);
    expect([first, second]).toEqual([
      { owner: 'owner-0', hashKey: expect.any(BigInt), weight: 1 },
      { owner: 'owner-1', hashKey: expect.any(BigInt), weight: 1 },
    ]);
    expect(others).toEqual(
      owners.slice(2).map(({ owner }) => ({
        owner,
        errorCode: 'REGISTRY_BUSY',
        errorMessage: expect.stringContaining('[REGISTRY_BUSY] the change was not written'),
        isRetryable: true,
      })),
    );
  });

  test('throws the error of the store', async () => {
    await expect(setUp(() => Promise.reject(new Error('throttled')))).rejects.toThrow('throttled');
  });
});
