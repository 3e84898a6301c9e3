import { HashKeyOwners, type OwnerKey } from '../../../../lambda/producer/hash-key-owners';
import { OwnerKeyError } from '../../../../lambda/producer/owner-key-error';
import type { OwnedRecord } from '../../../../lambda/producer/record-input';

describe('HashKeyOwners', () => {
  const record = (hashKeyOwner?: string): OwnedRecord => {
    return { partitionKey: 'p', data: Buffer.from(''), ...(hashKeyOwner !== undefined && { hashKeyOwner }) };
  };
  let requests: string[][];
  let nowMs: number;
  let timeOfDayMs: number;
  let keyOf: (owner: string) => OwnerKey;
  let owners: HashKeyOwners;
  beforeEach(() => {
    requests = [];
    nowMs = 0;
    timeOfDayMs = 0;
    keyOf = (owner) => BigInt(owner.slice(1));
    const ask = async (names: string[]) => {
      requests.push(names);
      return names.map(keyOf);
    };
    owners = new HashKeyOwners(ask, () => ({ monotonicMs: nowMs, timeOfDayMs }));
  });
  const keysOf = async (...names: (string | undefined)[]) => {
    const records = names.map(record);
    await owners.resolve(records, new AbortController().signal);
    return records.map(({ explicitHashKey }) => explicitHashKey);
  };

  test('gives each record the hash key of its owner, and requests the hash key of each owner once', async () => {
    expect(await keysOf('o1', undefined, 'o2', 'o1')).toEqual([1n, undefined, 2n, 1n]);
    expect(await keysOf('o2', 'o3')).toEqual([2n, 3n]);
    expect(requests).toEqual([['o1', 'o2'], ['o3']]);
  });

  const DAY_MS = 86_400_000;
  test.each<[string, number, number, OwnerKey | undefined]>([
    ['not after less than a minute', 59_999, 2 * DAY_MS, 1n],
    ['after a minute, because the owner may have moved or may have been released', 60_000, 2 * DAY_MS, undefined],
    ['after a minute, even if the time of day jumps back', 60_000, DAY_MS, undefined],
    ['after a minute, even if the time of day jumps ahead', 60_000, 3 * DAY_MS, undefined],
    ['if the function was frozen for a minute', 0, 2 * DAY_MS + 60_000, undefined],
  ])('requests the hash key of an owner again: %s', async (_, laterMs, laterTimeOfDayMs, kept) => {
    timeOfDayMs = 2 * DAY_MS;
    await keysOf('o1');
    [nowMs, timeOfDayMs] = [laterMs, laterTimeOfDayMs];
    for (const now of [7n, null]) {
      keyOf = () => now;
      expect(await keysOf('o1')).toEqual([kept ?? now ?? undefined]);
      nowMs += kept === undefined ? 60_000 : 0;
    }
  });

  test('keeps the hash key of an owner for the whole event, even if the cache overflows', async () => {
    await keysOf('o1');
    const others = Array.from({ length: 100_000 }, (_, index) => `o${index + 2}`);
    expect((await keysOf(...others, 'o1')).at(-1)).toBe(1n);
  });

  test('if an owner has no hash key, gives no hash key to its records, and requests the hash key of the owner again', async () => {
    keyOf = () => null;
    expect(await keysOf('o1')).toEqual([undefined]);
    keyOf = () => 1n;
    expect(await keysOf('o1')).toEqual([1n]);
  });

  test('requests at most 1,000 owners in one call', async () => {
    await keysOf(...Array.from({ length: 2_500 }, (_, index) => `o${index}`));
    expect(requests.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
  });

  test('gives records the error of their owner, and requests the hash key of the owner again', async () => {
    const failure = new OwnerKeyError('REGISTRY_BUSY', 'busy', { isRetryable: true, summary: 'busy' });
    keyOf = (owner) => (owner === 'o1' ? failure : 2n);
    const records = [record('o1'), record('o2')];
    await owners.resolve(records, new AbortController().signal);
    expect(records).toMatchObject([{ ownerKeyError: failure }, { explicitHashKey: 2n }]);
    keyOf = () => 1n;
    expect(await keysOf('o1')).toEqual([1n]);
  });

  test('rejects the request when the invocation is aborted', async () => {
    const invocation = new AbortController();
    const ask = async (_: string[], abortSignal: AbortSignal) => abortSignal.throwIfAborted() ?? [];
    invocation.abort(new Error('out of time'));
    const resolved = new HashKeyOwners(ask).resolve([record('o1')], invocation.signal);
    await expect(resolved).rejects.toThrow('out of time');
  });

  test('makes no request if no record has an owner', async () => {
    await keysOf(undefined);
    expect(requests).toEqual([]);
  });
});
