import {
  CorruptRegistryError,
  DynamoDbRegistryStore,
  HashKeyLedger,
  type RebalanceMove,
  type RegistryHead,
  type RegistryItem,
  type RegistryStore,
  type RegistryTableClient,
  UncertainCommitError,
  uniformRanges,
} from '../../../../lib/core';
import { systemClock } from '../../../../lib/core/kernel/clock';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { FakeRegistryTable, RandomSchedule } from '../../../support/fakes/fake-registry-store';

const noWait = { clock: { ...systemClock, sleep: async () => {} } };
const noSchedule = { pause: async () => {}, random: () => 0.5 } as unknown as RandomSchedule;
const names = (count: number) => Array.from({ length: count }, (_, index) => ({ owner: `owner-${index}` }));

type Fate = 'answered' | 'retried' | 'lost' | 'failed';

/**
 * A store behind an SDK that retries. If the first attempt has written a head, the second attempt of the same write is
 * rejected.
 */
function behindAnSdk(store: RegistryStore, fate: () => Fate, written: RegistryHead[]): RegistryStore {
  const writeHead: RegistryStore['writeHead'] = async (head, expected) => {
    const what = fate();
    if (what === 'failed') throw new Error('failed');
    const isWritten = await store.writeHead(head, expected);
    if (isWritten === true) written.push(head);
    if (what === 'lost') throw new Error('lost');
    return what === 'retried' ? store.writeHead(head, expected) : isWritten;
  };
  return { ...store, writeHead };
}

/** The changes that the written heads contain. */
const changesOf = (written: readonly RegistryHead[]) =>
  written.flatMap(({ version, recent }) => recent.filter((entry) => entry.version === version));

describe('HashKeyLedger with lost responses', () => {
  let table: FakeRegistryTable;
  beforeEach(async () => {
    table = new FakeRegistryTable();
    // Two of the four shards have twelve owners together. The other two shards have no owners.
    const first = new HashKeyLedger(table.store(noSchedule, 0));
    const owners = await first.allocate(names(24), uniformRanges(4));
    await first.release(owners.filter(({ hashKey }) => hashKey < 2n ** 127n).map(({ owner }) => owner));
  });

  test('commits its changes again after a commit by an earlier version of the library, whose heads contain no commit ids', async () => {
    const store = table.store(noSchedule, 0);
    let writes = 0;
    const writeHead = async (head: RegistryHead, expected: number) => {
      if (++writes > 1) return store.writeHead(head, expected);
      const { version, recent } = table.heads.at(-1)!;
      const earlier = { owner: 'earlier', version: version + 1, hashKey: 1n, weight: 1 };
      table.heads.push({ version: version + 1, recent: [...recent, earlier] });
      return false;
    };
    const slow = new HashKeyLedger({ ...store, writeHead }, noWait);
    const [owner] = await slow.allocate([{ owner: 'new' }], uniformRanges(4));
    expect(await new HashKeyLedger(store).list()).toEqual(
      expect.arrayContaining([owner, expect.objectContaining({ owner: 'earlier' })]),
    );
  });

  test('throws UncertainCommitError after too many commits of other processes', async () => {
    const other = new HashKeyLedger(table.store(noSchedule, 0));
    const store = table.store(noSchedule, 0);
    const writeHead = async (head: RegistryHead, expected: number) => {
      await store.writeHead(head, expected);
      for (const { owner } of names(70)) await other.allocate([{ owner: `other-${owner}` }], uniformRanges(4));
      return false;
    };
    const slow = new HashKeyLedger({ ...store, writeHead }, noWait);
    await expect(slow.allocate([{ owner: 'new' }], uniformRanges(4))).rejects.toThrow(UncertainCommitError);
  });

  test('reports exactly its own changes in random histories with other processes', async () => {
    const totals = { reports: 0, changes: 0, errors: 0 };
    for (let seed = 0; seed < 100; seed++) {
      const random = seededRandom(seed);
      const schedule = new RandomSchedule(random);
      const histories = new FakeRegistryTable();
      const work = Array.from({ length: 3 }, async () => {
        const applied: RegistryHead[] = [];
        const fate = (): Fate =>
          (['answered', 'answered', 'retried', 'lost', 'failed'] as const)[Math.floor(random() * 5)]!;
        const store = behindAnSdk(histories.store(schedule, 0), fate, applied);
        const rival = new HashKeyLedger(store, {
          clock: { ...systemClock, sleep: schedule.pause },
          random,
          maxEntries: 4,
        });
        for (let operation = 0; operation < 6; operation++) {
          applied.length = 0;
          const ranges = uniformRanges(1 + Math.floor(random() * 4));
          const some = names(10).filter(() => random() < 0.3);
          const kind = random();
          try {
            if (kind < 0.4) {
              const owners = await rival.allocate(some, ranges);
              const keys = new Map(owners.map(({ owner, hashKey }) => [owner, hashKey]));
              for (const { owner, hashKey } of changesOf(applied)) expect(keys.get(owner)).toBe(hashKey);
            } else if (kind < 0.6) {
              const released = await rival.release(some.map(({ owner }) => owner));
              const reported = released.flatMap((owner) => owner?.owner ?? []);
              expect(reported).toEqual(changesOf(applied).map(({ owner }) => owner));
            } else {
              const most = Math.floor(random() * 6);
              const moves: RebalanceMove[] = await rival.rebalance(ranges, most);
              expect(moves.length).toBeLessThanOrEqual(most);
              const changes = changesOf(applied).map(({ owner, hashKey }) => [owner, hashKey]);
              expect(moves.map(({ owner, toHashKey }) => [owner, toHashKey])).toEqual(changes);
            }
            totals.reports += 1;
            totals.changes += applied.length;
          } catch (error) {
            if ((error as Error).message !== 'failed' && (error as Error).message !== 'lost') {
              throw new Error(`seed ${seed}`, { cause: error });
            }
            totals.errors += 1;
          }
        }
      });
      await schedule.runUntil(Promise.all(work));
    }
    expect(Object.values(totals).every((total) => total > 100)).toBe(true);
  });
});

describe('a damaged registry', () => {
  const entry = { owner: 'a', version: 1, hashKey: 1n, weight: 1 };
  test.each<[string, RegistryHead]>([
    ['has an empty history', { version: 3, recent: [] }],
    ['has a history of another version', { version: 3, recent: [entry] }],
    ['has a history in descending order', { version: 1, recent: [{ ...entry, version: 2 }, entry] }],
    ['has no history', { version: 1, recent: undefined as never }],
    ['has more commits than versions', { version: 1, recent: [entry], commits: ['a', 'b'] }],
  ])('is rejected if its head %s', async (_, head) => {
    const table = new FakeRegistryTable();
    table.heads.push(head);
    await expect(new HashKeyLedger(table.store(noSchedule, 0)).list()).rejects.toThrow(CorruptRegistryError);
  });

  const client = (item: RegistryItem, page: object = {}): RegistryTableClient => ({
    getItem: async () => ({ Item: item }),
    putItem: async () => ({}),
    scan: async () => page,
  });
  const head = { id: { S: 'head' }, version: { N: '1' }, recent: { S: '[["a",1,"5",1]]' } };
  test.each([
    { recent: undefined },
    { recent: { S: '[null]' } },
    { recent: { S: '[["a",1,5,1]]' } },
    { recent: { S: '[["a",1,"x",1]]' } },
    { version: undefined },
    { commits: { S: '7' } },
  ])('is rejected if the item of its head contains %j', async (damage) => {
    const store = new DynamoDbRegistryStore(client({ ...head, ...damage }), 't');
    await expect(store.readHead()).rejects.toThrow(CorruptRegistryError);
  });

  test.each([[null], [{}], [{ id: { S: 'owner/a' }, version: { N: '1e400' }, weight: { N: '1' } }]])(
    'is rejected if it contains the invalid item %j',
    async (item) => {
      const store = new DynamoDbRegistryStore({ ...client(head), scan: async () => ({ Items: [item] }) as never }, 't');
      await expect(new HashKeyLedger(store).list()).rejects.toThrow(CorruptRegistryError);
    },
  );
});
