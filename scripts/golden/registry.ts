import { balancedKey, DynamoDbRegistryStore, HashKeyLedger, type RegistryTableClient } from 'cdk-even-shards/registry';
import { ParkingTable } from '../../test/support/fakes/parking-table';
import type { Written } from './written';

/** The hash key ranges of four even shards. */
const RANGES = Array.from({ length: 4 }, (_, n) => ({
  startingHashKey: BigInt(n) * 2n ** 126n,
  endingHashKey: BigInt(n + 1) * 2n ** 126n - 1n,
}));

function clientOf(table: ParkingTable, changes: Partial<RegistryTableClient> = {}): RegistryTableClient {
  return {
    getItem: async (input) => structuredClone(table.getItem(input as never)),
    putItem: async (input) => table.putItem(structuredClone(input) as never),
    scan: async () => structuredClone(table.scan()),
    ...changes,
  };
}

export async function registry(): Promise<Written> {
  const heads: Record<string, unknown> = {};
  const entries: Record<string, unknown> = {};
  const table = new ParkingTable(['id']);
  const keep = async (name: string) => {
    const owners = await new HashKeyLedger(new DynamoDbRegistryStore(clientOf(table), 'Owners')).list();
    const [items, isHead] = [structuredClone(table.all), ({ id }: { id?: { S: string } }) => id!.S === 'head'];
    heads[name] = { ranges: RANGES, owners, table: items };
    entries[name] = { owners, items: items.filter((item) => !isHead(item)) };
  };
  const ledger = new HashKeyLedger(new DynamoDbRegistryStore(clientOf(table), 'Owners'), { maxEntries: 3 });
  await ledger.allocate([{ owner: 'ann' }, { owner: 'bob', weight: 2.5 }], RANGES);
  await keep('after its first commit');
  await ledger.allocate([{ owner: 'ann', weight: 4 }, { owner: 'größe/1' }], RANGES);
  await ledger.release(['bob']);
  const [ann] = await ledger.list();
  await ledger.move({ owner: 'ann', fromHashKey: ann!.hashKey, toHashKey: balancedKey(99) });
  await keep('after a release and a move, with a head that has only the latest commits');

  // The process ends after it has written the head, and before it writes the entry of the owner.
  const putItem: RegistryTableClient['putItem'] = async (input) => {
    if (input.Item.id.S === 'owner/eve') throw new Error('the process ends');
    return table.putItem(structuredClone(input) as never);
  };
  await new HashKeyLedger(new DynamoDbRegistryStore(clientOf(table, { putItem }), 'Owners')).allocate(
    [{ owner: 'eve' }],
    RANGES,
  );
  await keep('after a commit without the entry of its owner');
  return { 'registry head': heads, 'registry entry': entries };
}
