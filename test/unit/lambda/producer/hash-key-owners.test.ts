import { HashKeyOwners, type OwnerKey } from '../../../../lambda/producer/hash-key-owners';
import { OwnerKeyError } from '../../../../lambda/producer/owner-key-error';
import type { OwnedRecord } from '../../../../lambda/producer/record-input';

describe('HashKeyOwners', () => {
  const record = (hashKeyOwner?: string): OwnedRecord => {
    return { partitionKey: 'p', data: Buffer.from(''), ...(hashKeyOwner !== undefined && { hashKeyOwner }) };
  };
  let asked: string[][];
  let nowMs: number;
  let timeOfDayMs: number;
  let keyOf: (owner: string) => OwnerKey;
  let owners: HashKeyOwners;
  beforeEach(() => {
    asked = [];
    nowMs = 0;
    timeOfDayMs = 0;
    keyOf = (owner) => BigInt(owner.slice(1));
    const ask = async (names: string[]) => {
      asked.push(names);
      return names.map(keyOf);
    };
    owners = new HashKeyOwners(ask, () => ({ monotonicMs: nowMs, timeOfDayMs }));
  });
  const keysOf = async (...names: (string | undefined)[]) => {
    const records = names.map(record);
    await owners.resolve(records, new AbortController().signal);
    return records.map(({ explicitHashKey }) => explicitHashKey);
  };

  test('gives each record the key of its owner, and asks for each owner once', async () => {
    expect(await keysOf('o1', undefined, 'o2', 'o1')).toEqual([1n, undefined, 2n, 1n]);
    expect(await keysOf('o2', 'o3')).toEqual([2n, 3n]);
    expect(asked).toEqual([['o1', 'o2'], ['o3']]);
  });

  test('asks again after a minute, for the owner may have been moved', async () => {
    await keysOf('o1');
    keyOf = () => 7n;
    nowMs = 59_999;
    expect(await keysOf('o1')).toEqual([1n]);
    nowMs = 60_000;
    expect(await keysOf('o1')).toEqual([7n]);
  });

  test.each([-1, 1])('asks again after a minute if the time of day jumps by %d days meanwhile', async (days) => {
    timeOfDayMs = 2 * 86_400_000;
    await keysOf('o1');
    timeOfDayMs += days * 86_400_000;
    nowMs = 60_000;
    await keysOf('o1');
    expect(asked).toHaveLength(2);
  });

  test('asks again after a minute in which the function was frozen', async () => {
    await keysOf('o1');
    timeOfDayMs = 60_000;
    await keysOf('o1');
    expect(asked).toHaveLength(2);
  });

  test('answers for an owner whom it must forget for others of the same event', async () => {
    await keysOf('o1');
    const others = Array.from({ length: 100_000 }, (_, index) => `o${index + 2}`);
    expect((await keysOf(...others, 'o1')).at(-1)).toBe(1n);
  });

  test('leaves a record without a key if its owner has none, and asks again', async () => {
    keyOf = () => null;
    expect(await keysOf('o1')).toEqual([undefined]);
    keyOf = () => 1n;
    expect(await keysOf('o1')).toEqual([1n]);
  });

  test('forgets a key that its owner has lost', async () => {
    await keysOf('o1');
    keyOf = () => null;
    nowMs = 60_000;
    expect(await keysOf('o1')).toEqual([undefined]);
  });

  test('asks for no more owners at once than the registry answers for', async () => {
    await keysOf(...Array.from({ length: 2_500 }, (_, index) => `o${index}`));
    expect(asked.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
  });

  test('says of each record why its owner has no key, and asks again', async () => {
    const failure = new OwnerKeyError('REGISTRY_BUSY', 'busy', { isRetryable: true, summary: 'busy' });
    keyOf = (owner) => (owner === 'o1' ? failure : 2n);
    const records = [record('o1'), record('o2')];
    await owners.resolve(records, new AbortController().signal);
    expect(records).toMatchObject([{ ownerKeyError: failure }, { explicitHashKey: 2n }]);
    keyOf = () => 1n;
    expect(await keysOf('o1')).toEqual([1n]);
  });

  test('gives up with the invocation', async () => {
    const invocation = new AbortController();
    const ask = async (_: string[], abortSignal: AbortSignal) => abortSignal.throwIfAborted() ?? [];
    invocation.abort(new Error('out of time'));
    const resolved = new HashKeyOwners(ask).resolve([record('o1')], invocation.signal);
    await expect(resolved).rejects.toThrow('out of time');
  });

  test('asks for nobody if no record has an owner', async () => {
    await keysOf(undefined);
    expect(asked).toEqual([]);
  });
});
