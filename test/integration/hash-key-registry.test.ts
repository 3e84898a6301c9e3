import { type LocalStack, startLocal } from '../../bin/local/run-local';
import { shardIndexOf } from '../../lib/core';
import { listOpenShards } from '../../lib/core/resharding/open-shards';
import { waitUntilActive } from '../support/active-stream';
import { PRODUCER, synthesizeReferenceApp } from '../support/reference-app';

describe('the registry of the reference app', () => {
  let stack: LocalStack;
  beforeAll(async () => {
    stack = await startLocal({ app: synthesizeReferenceApp() });
  }, 60_000);
  afterAll(() => stack?.stop());

  interface Owner {
    owner: string;
    hashKey: string;
    weight: number;
  }
  const REGISTRY = 'EvenShards/Accounts/Function';
  const call = (event: object) => stack.invoke(REGISTRY, event) as Promise<Record<string, unknown>>;
  const owners = async (event: object) => (await call(event)).owners as Owner[];

  test('allocates, gets, lists, moves and releases owners', async () => {
    const [a, b] = await owners({ action: 'allocate', owners: ['a', { owner: 'b', weight: 3 }] });
    expect(b).toEqual({ owner: 'b', hashKey: expect.stringMatching(/^\d+$/), weight: 3 });
    expect(await owners({ action: 'allocate', owners: ['b', 'a'] })).toEqual([b, a]);
    expect(await owners({ action: 'get', owners: ['a', 'nobody'] })).toEqual([a, null]);
    expect(await call({ action: 'list', limit: 1 })).toEqual({ owners: [a], cursor: 'a' });
    expect(await call({ action: 'list', cursor: 'a' })).toEqual({ owners: [b] });
    const move = { action: 'move', owner: 'a', fromHashKey: a!.hashKey, toHashKey: '5' };
    expect(await call(move)).toEqual({});
    expect(await owners({ action: 'get', owners: ['a'] })).toEqual([{ ...a, hashKey: '5' }]);
    await expect(call({ ...move, toHashKey: '6' })).rejects.toThrow('its key has changed');
    expect(await owners({ action: 'release', owners: ['a', 'b'] })).toEqual([{ ...a, hashKey: '5' }, b]);
    expect(await call({ action: 'list' })).toEqual({ owners: [] });
  });

  test('allows only the actions of an alias', async () => {
    const { arn } = stack.functions.find(({ path }) => path === REGISTRY)!;
    await stack.invoke(`${arn}:allocate`, { action: 'allocate', owners: ['by alias'] });
    const release = { action: 'release', owners: ['by alias'] };
    for (const alias of ['query', 'allocate']) {
      await expect(stack.invoke(`${arn}:${alias}`, release)).rejects.toThrow(/^.*\[ACTION_NOT_ALLOWED\] the alias/);
    }
    await expect(stack.invoke(`${arn}:query`, { action: 'allocate', owners: ['a'] })).rejects.toThrow(
      'allows get, list',
    );
    expect(await owners({ action: 'get', owners: ['by alias'] })).toEqual([
      expect.objectContaining({ owner: 'by alias' }),
    ]);
    expect(await stack.invoke(`${arn}:query`, { action: 'get', owners: ['a'] })).toEqual({ owners: [null] });
    await call(release);
  });

  test('spreads the owners of the producer evenly over the shards, and rebalances them after a split', async () => {
    const records = Array.from({ length: 30 }, (_, index) => {
      return { partitionKey: `p${index}`, data: 'x', hashKeyOwner: `account-${index % 15}` };
    });
    const response = (await stack.invoke(PRODUCER, { records })) as { records: { shardId: string }[] };
    const shardsOf = response.records.map(({ shardId }) => shardId);
    expect(shardsOf.slice(0, 15)).toEqual(shardsOf.slice(15));
    const counts = [...new Set(shardsOf)].map((shardId) => shardsOf.filter((other) => other === shardId).length / 2);
    expect(counts.sort()).toEqual([3, 4, 4, 4]);

    const StreamName = stack.streams[0]!.name;
    // The shards are not equal after one split, so the owners are uneven.
    const [first] = await listOpenShards(stack.clients.kinesis, StreamName);
    const NewStartingHashKey = `${(first!.startingHashKey + first!.endingHashKey + 1n) / 2n}`;
    await stack.clients.kinesis.splitShard({ StreamName, ShardToSplit: first!.shardId, NewStartingHashKey });
    await waitUntilActive(stack.clients.kinesis, StreamName);
    const ranges = await listOpenShards(stack.clients.kinesis, StreamName);
    expect(ranges).toHaveLength(5);
    expect(await call({ action: 'plan' })).toMatchObject({ bound: 3, heaviest: 4 });
    const { moves } = await call({ action: 'rebalance' });
    expect(moves).not.toEqual([]);
    const after = await owners({ action: 'list' });
    const loads = ranges.map((_, shard) =>
      after.filter(({ hashKey }) => shardIndexOf(BigInt(hashKey), ranges) === shard),
    );
    expect(Math.max(...loads.map(({ length }) => length))).toBe(3);
  }, 30_000);
});
