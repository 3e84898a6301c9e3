import fc from 'fast-check';
import {
  BalancedKeyAllocator,
  HASH_KEY_SPACE,
  HashKeyLedger,
  type HashKeyOwner,
  type HashKeyRange,
  InvalidHashKeyError,
  PartialRebalanceError,
  RegistryBusyError,
  type RegistryStore,
  readOwners,
  StaleMoveError,
  shardIndexOf,
  uniformRanges,
} from '../../../../lib/core';
import { systemClock } from '../../../../lib/core/kernel/clock';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { CrashError, FakeRegistryTable, RandomSchedule } from '../../../support/fakes/fake-registry-store';
import { randomRuns } from '../../../support/random-runs';

/** Allocates hash keys for these owners, each with the weight 1. */
const allocate = (ledger: HashKeyLedger, owners: readonly string[], ranges: readonly HashKeyRange[]) =>
  ledger.allocate(
    owners.map((owner) => ({ owner })),
    ranges,
  );

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `owner-${index}`);
}

/** Runs all jobs of one process, and starts a new process after each crash. */
async function survive(start: () => HashKeyLedger, work: readonly ((ledger: HashKeyLedger) => Promise<unknown>)[]) {
  let ledger = start();
  for (const job of work) {
    for (;;) {
      try {
        await job(ledger);
        break;
      } catch (error) {
        const failure = error instanceof PartialRebalanceError ? error.cause : error;
        if (!(failure instanceof CrashError)) throw failure;
        ledger = start();
      }
    }
  }
}

/** Applies the commits one by one, and checks that no two owners have one key after a commit. */
function replay(table: FakeRegistryTable) {
  const owners = new Map<string, HashKeyOwner>();
  for (const { version, recent } of table.heads) {
    const commit = recent.filter((entry) => entry.version === version);
    expect(commit.length).toBeGreaterThan(0);
    for (const { owner } of commit) owners.delete(owner);
    for (const { owner, hashKey, weight } of commit) {
      if (hashKey !== undefined) owners.set(owner, { owner, hashKey, weight });
    }
    const keys = [...owners.values()].map(({ hashKey }) => String(hashKey));
    expect(new Set(keys).size).toBe(keys.length);
  }
  return owners;
}

function ownersPerShard(owners: Iterable<HashKeyOwner>, ranges: readonly HashKeyRange[]): number[] {
  const counts = new Array<number>(ranges.length).fill(0);
  for (const { hashKey } of owners) counts[shardIndexOf(hashKey, ranges)]! += 1;
  return counts;
}

describe('HashKeyLedger', () => {
  const schedule = { pause: async () => {}, random: () => 0.5 } as unknown as RandomSchedule;
  let table: FakeRegistryTable;
  let ledger: HashKeyLedger;
  const ranges = uniformRanges(4);
  const restarted = () => new HashKeyLedger(table.store(schedule, 0));
  beforeEach(() => {
    table = new FakeRegistryTable();
    ledger = restarted();
  });

  test('allocates the same keys as BalancedKeyAllocator with these ranges', async () => {
    const owners = await allocate(ledger, names(10), ranges);
    const allocator = new BalancedKeyAllocator({ ranges });
    expect(owners).toEqual(names(10).map((owner) => ({ owner, hashKey: allocator.allocate(), weight: 1 })));
  });

  test('returns the same key for the same owner, also after a restart', async () => {
    const [first] = await ledger.allocate([{ owner: 'a' }], ranges);
    await ledger.allocate([{ owner: 'b' }], ranges);
    expect(await ledger.allocate([{ owner: 'a' }], ranges)).toEqual([first]);
    expect(await restarted().allocate([{ owner: 'a' }], uniformRanges(7))).toEqual([first]);
    expect(table.heads).toHaveLength(2);
  });

  test('allocates the hash keys 64, 32 and 96 to three accounts, and returns the same hash key for both requests of account 1', async () => {
    const keys: bigint[] = [];
    for (const owner of ['Account: 1', 'Account: 1', 'Account: 2', 'Account: 3']) {
      keys.push((await ledger.allocate([{ owner }], uniformRanges(1)))[0]!.hashKey);
    }
    expect(keys).toEqual([64n, 64n, 32n, 96n].map((key) => key << 121n));
  });

  test('allocates the heaviest of several owners first', async () => {
    const requests = [1, 1, 2, 2, 3, 3].map((weight, index) => ({ owner: `${index}`, weight }));
    const owners = await ledger.allocate(requests, uniformRanges(3));
    expect(owners.map(({ owner, weight }) => ({ owner, weight }))).toEqual(requests);
    const loads = [0, 0, 0];
    for (const { hashKey, weight } of owners) loads[shardIndexOf(hashKey, uniformRanges(3))]! += weight;
    expect(loads).toEqual([4, 4, 4]);
  });

  test('reads all entries once, and after that only the commits of other processes', async () => {
    const store = table.store(schedule, 0);
    let reads = 0;
    const readEntries = () => {
      reads += 1;
      return store.readEntries();
    };
    const both = [0, 1].map(() => new HashKeyLedger({ ...store, readEntries }, { maxEntries: 1 }));
    for (const owner of names(8))
      for (const each of both) await each.allocate([{ owner: `${owner}-${reads}` }], ranges);
    expect(reads).toBe(2);
  });

  test('fails only the one call whose read of the head failed', async () => {
    const store = table.store(schedule, 0);
    let reads = 0;
    const readHead = () => (++reads === 1 ? Promise.reject(new Error('throttled')) : store.readHead());
    const unlucky = new HashKeyLedger({ ...store, readHead });
    const calls = await Promise.allSettled(['a', 'b'].map((owner) => unlucky.allocate([{ owner }], ranges)));
    expect(calls.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  test.each(['x', '\u{1f600}'])('accepts an owner of 256 characters such as %s', async (character) => {
    await expect(ledger.release([character.repeat(256)])).resolves.toEqual([undefined]);
    await expect(ledger.release([character.repeat(257)])).rejects.toThrow('owners[0] must be a string of 1 to 256');
  });

  test('stores a new weight, keeps the key, and uses the weight in plans', async () => {
    const [before] = await ledger.allocate([{ owner: 'a' }], ranges);
    expect(await ledger.allocate([{ owner: 'a', weight: 5 }], ranges)).toEqual([{ ...before, weight: 5 }]);
    expect(await ledger.allocate([{ owner: 'a' }], ranges)).toEqual([{ ...before, weight: 5 }]);
    expect((await restarted().plan(ranges)).heaviest).toBe(5);
  });

  test('releases owners and allocates their hash keys to other owners', async () => {
    const [a, b] = await ledger.allocate([{ owner: 'a' }, { owner: 'b' }], ranges);
    expect(await ledger.release(['a', 'nobody'])).toEqual([a, undefined]);
    expect(await ledger.release(['a'])).toEqual([undefined]);
    expect(await restarted().list()).toEqual([b]);
    expect((await restarted().allocate([{ owner: 'c' }], ranges))[0]!.hashKey).toBe(a!.hashKey);
  });

  test('returns the same results for simultaneous calls as for successive calls, with fewer commits', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), fc.integer({ min: 2, max: 8 }), async (seed, maxEntries) => {
        const random = seededRandom(seed);
        const keys = [0n, 1n, HASH_KEY_SPACE / 2n];
        const some = (): string[] => names(6).filter(() => random() < 0.3);
        const calls = Array.from({ length: 12 }, () => {
          const [kind, owners, ranges] = [
            random(),
            some().slice(0, maxEntries),
            uniformRanges(1 + Math.floor(random() * 3)),
          ];
          const [owner, fromHashKey, toHashKey] = [
            names(6)[Math.floor(random() * 6)]!,
            ...keys.toSorted(() => random() - 0.5),
          ];
          return (ledger: HashKeyLedger): Promise<unknown> => {
            if (kind < 0.5) return allocate(ledger, owners, ranges);
            if (kind < 0.8) return ledger.release(owners);
            return ledger.move({ owner, fromHashKey: fromHashKey!, toHashKey: toHashKey! });
          };
        });
        const [together, alone] = [new FakeRegistryTable(), new FakeRegistryTable()];
        const both = [together, alone].map((each) => new HashKeyLedger(each.store(schedule, 0), { maxEntries }));
        const atOnce = await Promise.allSettled(calls.map((call) => call(both[0]!)));
        const inTurn: PromiseSettledResult<unknown>[] = [];
        for (const call of calls) inTurn.push(...(await Promise.allSettled([call(both[1]!)])));
        expect(atOnce).toEqual(inTurn);
        expect(await both[0]!.list()).toEqual(await both[1]!.list());
        expect(together.heads.length).toBeLessThanOrEqual(alone.heads.length);
      }),
      { numRuns: randomRuns(200) },
    );
  });

  test('allocates the hash keys of 500 concurrent calls in as few commits as possible', async () => {
    const owners = await Promise.all(names(500).map((owner) => ledger.allocate([{ owner }], ranges)));
    expect(table.heads).toHaveLength(5);
    expect(ownersPerShard(owners.flat(), ranges)).toEqual([125, 125, 125, 125]);
  });

  test.each<[keyof RegistryStore, unknown, string]>([
    ['readHead', null, 'the response of readHead must contain a head or undefined'],
    ['writeHead', undefined, 'the response of writeHead must contain true, false or a head'],
    ['readEntries', undefined, 'the response of readEntries must contain an array of entries'],
  ])('rejects a store whose %s returns %p', async (method, answer, message) => {
    const store = { ...table.store(schedule, 0), [method]: async () => answer };
    await expect(new HashKeyLedger(store).allocate([{ owner: 'a' }], ranges)).rejects.toMatchObject({
      code: 'INCOMPLETE_ANSWER',
      message: expect.stringContaining(message),
    });
  });

  test.each([0, -1, 0.5, Number.NaN, Infinity, 'x'])('rejects %p as maxEntries', (maxEntries) => {
    const wrong = expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'maxEntries' });
    expect(() => new HashKeyLedger(table.store(schedule, 0), { maxEntries: maxEntries as number })).toThrow(wrong);
  });

  test('rejects a store without a required method', () => {
    const { writeHead: _, ...store } = table.store(schedule, 0);
    expect(() => new HashKeyLedger(store as RegistryStore)).toThrow('store must be a registry store, with readHead');
  });

  test('lists owners by name', async () => {
    await allocate(ledger, ['c', 'a', 'b'], ranges);
    expect((await ledger.list()).map(({ owner }) => owner)).toEqual(['a', 'b', 'c']);
  });

  test('plans the moves that new shards need, and makes at most the given number of moves', async () => {
    await allocate(ledger, names(12), uniformRanges(2));
    const plan = await ledger.plan(uniformRanges(3));
    expect(plan).toMatchObject({ bound: 4, heaviest: 5 });
    expect(await ledger.rebalance(uniformRanges(3), 1)).toEqual([plan.moves[0]]);
    await restarted().rebalance(uniformRanges(3), 1_000);
    expect(ownersPerShard(await ledger.list(), uniformRanges(3))).toEqual([4, 4, 4]);
    expect((await ledger.plan(uniformRanges(3))).moves).toEqual([]);
  });

  test('reports the moves that it made before a commit failed', async () => {
    for (const owner of names(12)) await ledger.allocate([{ owner }], uniformRanges(2));
    await ledger.release(names(12).filter((_, index) => index % 2 === 0));
    const { moves } = await ledger.plan(uniformRanges(3));
    expect(moves.length).toBeGreaterThan(1);
    const store = table.store(schedule, 0);
    let commits = 0;
    const writeHead: RegistryStore['writeHead'] = async (head, expected) => {
      if (++commits === moves.length) throw new Error('throttled');
      return store.writeHead(head, expected);
    };
    const failing = new HashKeyLedger({ ...store, writeHead }, { maxEntries: 1 });
    const failure = await failing.rebalance(uniformRanges(3), 1_000).catch((error) => error);
    expect(failure).toBeInstanceOf(PartialRebalanceError);
    expect(failure).toMatchObject({
      code: 'PARTIAL_REBALANCE',
      message: `[PARTIAL_REBALANCE] ${moves.length - 1} moves were made, and then a commit failed: throttled`,
    });
    const made: HashKeyOwner[] = await ledger.list();
    expect(failure.moves).toHaveLength(moves.length - 1);
    for (const { owner, toHashKey } of failure.moves)
      expect(made).toContainEqual({ owner, hashKey: toHashKey, weight: 1 });
  });

  test('makes the same move only once', async () => {
    const [owner] = await ledger.allocate([{ owner: 'a' }], ranges);
    const move = { owner: 'a', fromHashKey: owner!.hashKey, toHashKey: 7n };
    await ledger.move(move);
    await restarted().move(move);
    expect(await ledger.list()).toEqual([{ ...owner, hashKey: 7n }]);
    expect(table.heads).toHaveLength(2);
  });

  test('rejects a move if its owner has another hash key since the plan, or if its target now has another owner', async () => {
    const [a, b] = await ledger.allocate([{ owner: 'a' }, { owner: 'b' }], ranges);
    const move = (owner: string, fromHashKey: bigint, toHashKey: bigint) =>
      ledger.move({ owner, fromHashKey, toHashKey });
    await expect(move('a', a!.hashKey, b!.hashKey)).rejects.toThrow(StaleMoveError);
    await expect(move('a', 1n, 2n)).rejects.toThrow(
      'owner "a" was not moved because its key has changed; make a new plan',
    );
    await expect(move('nobody', 1n, 2n)).rejects.toThrow(StaleMoveError);
    expect(await ledger.list()).toEqual([a, b]);
  });

  test.each([-1n, 2n ** 128n, 7 as never])('rejects a move to the invalid hash key %s', async (toHashKey) => {
    const [a] = await ledger.allocate([{ owner: 'a' }], ranges);
    const move = ledger.move({ owner: 'a', fromHashKey: a!.hashKey, toHashKey });
    await expect(move).rejects.toThrow(InvalidHashKeyError);
    await expect(move).rejects.toThrow('toHashKey must be');
    expect(await restarted().allocate([{ owner: 'a' }], ranges)).toEqual([a]);
  });

  test('reads the entries again if a commit during the read appears neither in the entries nor in the head', async () => {
    const store = table.store(schedule, 0);
    const withoutEntries = { ...store, writeEntry: () => Promise.reject(new Error('not written')) };
    await new HashKeyLedger(withoutEntries).allocate([{ owner: 'a' }], ranges);
    const other = new HashKeyLedger(store, { maxEntries: 1 });
    let reads = 0;
    const readEntries = async () => {
      const entries = await store.readEntries();
      if (++reads === 1) await other.allocate([{ owner: 'b' }], ranges);
      return entries;
    };
    const owners = await new HashKeyLedger({ ...store, readEntries }).list();
    expect(owners.map(({ owner }) => owner)).toEqual(['a', 'b']);
    expect(reads).toBe(2);
  });

  test('throws RegistryBusyError if the commits of other processes come first 100 times', async () => {
    let writes = 0;
    const writeHead = async () => {
      writes += 1;
      return false;
    };
    const store = { ...table.store(schedule, 0), writeHead };
    const unlucky = new HashKeyLedger(store, { clock: { ...systemClock, sleep: async () => {} } });
    await expect(unlucky.allocate([{ owner: 'a' }], ranges)).rejects.toThrow(RegistryBusyError);
    expect(writes).toBe(100);
  });

  test('reads all entries again if the table was replaced with an earlier backup', async () => {
    const earlier = new FakeRegistryTable();
    const stores = [table.store(schedule, 0), earlier.store(schedule, 0)];
    const replaced = { ...stores[0]! };
    const warm = new HashKeyLedger(replaced);
    await new HashKeyLedger(stores[1]!).allocate([{ owner: 'a' }], ranges);
    for (const owner of names(5)) await warm.allocate([{ owner }], ranges);
    Object.assign(replaced, stores[1]);
    const [ownerThree] = await warm.allocate([{ owner: 'owner-3' }], ranges);
    expect(await new HashKeyLedger(stores[1]!).allocate([{ owner: 'owner-3' }], ranges)).toEqual([ownerThree]);
    expect((await warm.list()).map(({ owner }) => owner)).toEqual(['a', 'owner-3']);
    expect([...earlier.entries.keys()]).toEqual(['a', 'owner-3']);
  });

  test.each<[string, () => Promise<unknown>, string]>([
    ['an empty owner', () => ledger.allocate([{ owner: '' }], ranges), 'ARGUMENT] owners[0] must be a string of'],
    ['an owner twice', () => ledger.allocate([{ owner: 'a' }, { owner: 'a' }], ranges), 'ARGUMENT] owners[1]'],
    ['an invalid weight', () => ledger.allocate([{ owner: 'a', weight: 0 }], ranges), 'WEIGHT] owners[0].weight'],
    ['an empty owner to read', () => readOwners(table.store(schedule, 0), ['']), 'ARGUMENT] owners[0] must be'],
    ['ranges with a gap', () => ledger.allocate([{ owner: 'a' }], ranges.slice(1)), 'RANGES] ranges must be'],
    ['a plan for a part of the ranges', () => ledger.plan(ranges.slice(0, 3)), 'RANGES] ranges must be'],
    ['a negative number of moves', () => ledger.rebalance(ranges, -1), 'ARGUMENT] mostMoves must be'],
  ])('rejects %s and writes nothing', async (_, work, message) => {
    await expect(work()).rejects.toThrow(message);
    expect(table.heads).toEqual([]);
  });
});

describe('HashKeyLedger in several processes', () => {
  test('stores one order of allocations, releases, moves and shard changes, and every process reads the owners that this order results in', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const random = seededRandom(seed);
        const schedule = new RandomSchedule(random);
        const table = new FakeRegistryTable();
        const start = () =>
          new HashKeyLedger(table.store(schedule, 0.02), {
            clock: { ...systemClock, sleep: schedule.pause },
            random,
            maxEntries: 3 + (seed & 7),
          });
        const job = () => {
          const kind = random();
          const some = names(12).filter(() => random() < 0.25);
          const ranges = uniformRanges(1 + Math.floor(random() * 4));
          return async (ledger: HashKeyLedger) => {
            if (kind < 0.5)
              await ledger.allocate(
                some.map((owner) => ({ owner, weight: 1 + (seed & 3) })),
                ranges,
              );
            else if (kind < 0.8) await ledger.release(some);
            else await ledger.rebalance(ranges, 3);
          };
        };
        const work = Array.from({ length: 4 }, () => survive(start, Array.from({ length: 8 }, job)));
        await schedule.runUntil(Promise.all(work));

        const owners = replay(table);
        const reader = new HashKeyLedger(table.store(schedule, 0));
        const byName = [...owners.values()].sort((a, b) => (a.owner < b.owner ? -1 : 1));
        expect(await schedule.runUntil(reader.list())).toEqual(byName);
        const read = await schedule.runUntil(readOwners(table.store(schedule, 0), names(12)));
        expect(read).toEqual(names(12).map((name) => owners.get(name)));
      }),
      { numRuns: randomRuns(160) },
    );
  });
});
