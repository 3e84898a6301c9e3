import {
  DynamoDbRegistryStore,
  HashKeyLedger,
  type HashKeyOwner,
  type HashKeyRange,
  type RegistryItem,
  type RegistryTableClient,
  readOwners,
} from '../../../../lib/core/registry';
import { ParkingTable } from '../../../support/fakes/parking-table';
import { goldenValues } from '../../../support/golden/golden-values';

function registryOf(items: readonly RegistryItem[]) {
  const table = new ParkingTable(['id']);
  for (const item of items) table.put(structuredClone(item));
  const client: RegistryTableClient = {
    getItem: async (input) => structuredClone(table.getItem(input as never)),
    putItem: async (input) => table.putItem(structuredClone(input) as never),
    scan: async () => structuredClone(table.scan()),
  };
  const store = new DynamoDbRegistryStore(client, 'Owners');
  return { store, ledger: new HashKeyLedger(store), head: () => table.all.find(({ id }) => id.S === 'head')! };
}

interface Golden {
  ranges: HashKeyRange[];
  owners: HashKeyOwner[];
  table: RegistryItem[];
}
const heads = goldenValues<Golden>('registry-head');

test.each(heads)('golden registry head %s – the ledger has the same owners', async (_, { owners, table }) => {
  const { ledger, store } = registryOf(table);
  expect(await ledger.list()).toEqual(owners);
  const names = owners.map(({ owner }) => owner);
  expect(await readOwners(store, [...names, 'nobody'])).toEqual([...owners, undefined]);
});

test.each(heads)(
  'golden registry head %s – the ledger continues: owners keep their keys, and a new owner gets a free key',
  async (_, golden) => {
    const { ranges, owners, table } = golden;
    const { ledger, head } = registryOf(table);
    const before = Number(head().version.N);
    const requests = [...owners.map(({ owner }) => ({ owner })), { owner: 'new' }];
    const allocated = await ledger.allocate(requests, ranges);
    expect(allocated.slice(0, -1)).toEqual(owners);
    expect(new Set(allocated.map(({ hashKey }) => hashKey)).size).toBe(owners.length + 1);
    expect(Number(head().version.N)).toBe(before + 1);
    expect(await registryOf([head(), ...table.filter(({ id }) => id.S !== 'head')]).ledger.list()).toHaveLength(
      owners.length + 1,
    );
  },
);

test.each(heads)(
  'golden registry head %s – a commit keeps attributes and elements of a later release',
  async (_, golden) => {
    const { ranges, table } = golden;
    const changed = table.map((item) => {
      if (item.id.S !== 'head') return item;
      const recent = JSON.parse(item.recent.S).map((entry: unknown[]) => [...entry, 'later', 7]);
      return { ...item, recent: { S: JSON.stringify(recent) }, color: { S: 'red' } };
    });
    const { ledger, head } = registryOf(changed);
    await ledger.allocate([{ owner: 'new' }], ranges);
    expect(head().color).toEqual({ S: 'red' });
    const entries: unknown[][] = JSON.parse(head().recent.S);
    expect(entries.filter(([owner]) => owner !== 'new').every((entry) => entry[5] === 7)).toBe(true);
    expect(entries.at(-1)).toEqual(['new', expect.any(Number), expect.any(String), 1]);
  },
);

test.each(goldenValues<{ owners: HashKeyOwner[]; items: RegistryItem[] }>('registry-entry'))(
  'golden registry entry %s – the store reads the same owner',
  async (_, { owners, items }) => {
    const entries = await registryOf(items).store.readEntries();
    for (const { owner, hashKey, weight } of entries) {
      const current = owners.find((each) => each.owner === owner);
      expect([hashKey, weight]).toEqual(
        current === undefined ? [undefined, expect.any(Number)] : [current.hashKey, current.weight],
      );
    }
    expect(entries).toHaveLength(items.length);
  },
);
