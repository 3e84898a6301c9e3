import { HashKeyOwners } from '../../../lambda/producer/hash-key-owners';
import type { OwnedRecord } from '../../../lambda/producer/record-input';

describe('HashKeyOwners', () => {
  const record = (hashKeyOwner?: string): OwnedRecord => {
    return { partitionKey: 'p', data: Buffer.from(''), ...(hashKeyOwner !== undefined && { hashKeyOwner }) };
  };
  let asked: string[][];
  let nowMs: number;
  let keyOf: (owner: string) => { hashKey: string } | null;
  let owners: HashKeyOwners;
  beforeEach(() => {
    asked = [];
    nowMs = 0;
    keyOf = (owner) => ({ hashKey: owner.slice(1) });
    const ask = async (names: string[]) => {
      asked.push(names);
      return names.map(keyOf);
    };
    owners = new HashKeyOwners(ask, () => nowMs);
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
    keyOf = () => ({ hashKey: '7' });
    nowMs = 59_999;
    expect(await keysOf('o1')).toEqual([1n]);
    nowMs = 60_000;
    expect(await keysOf('o1')).toEqual([7n]);
  });

  test('leaves a record without a key if its owner has none, and asks again', async () => {
    keyOf = () => null;
    expect(await keysOf('o1')).toEqual([undefined]);
    keyOf = () => ({ hashKey: '1' });
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
