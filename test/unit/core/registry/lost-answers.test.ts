import {
  CorruptRegistryError,
  DynamoDbRegistryStore,
  HashKeyLedger,
  type RegistryHead,
  type RegistryItem,
  type RegistryTableClient,
  UncertainCommitError,
  uniformRanges,
} from '../../../../lib/core';
import { systemClock } from '../../../../lib/core/kernel/clock';
import { FakeRegistryTable, type RandomSchedule } from '../../../support/fakes/fake-registry-store';

const noWait = { clock: { ...systemClock, sleep: async () => {} } };
const noSchedule = { pause: async () => {}, random: () => 0.5 } as unknown as RandomSchedule;
const names = (count: number) => Array.from({ length: count }, (_, index) => ({ owner: `owner-${index}` }));

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
