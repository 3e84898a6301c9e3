import {
  type DynamoDbItem,
  findStrays,
  type ItemTransferClient,
  reshardItems,
  type ShardedTableConfig,
  shardAttributes,
  shardKeys,
  type TransactWrite,
  transactDelete,
  transactPut,
} from '../../../lib/core';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../lib/testing/virtual-clock';
import { type PlayedReshard, reshardWithCrashes, type Send, throttled } from './crashing-reshard';
import { FakeTable } from './fake-table';
import { typed, typedWrite } from './text-items';

const ITEMS = 60;
const WRITERS = 8;
const VALUES = ['7', '8', '9'];

/** An item without its shard. */
type Body = { invoice: string; sk: string; owner: string } & Record<string, string>;

/**
 * Runs one random case of the `move` step of a sharded table. `reshardItems` moves the items in segments, while eight
 * writers put, put if absent, delete and update items. The writers send only writes that decision 0031 allows. Faults
 * and crashes are the same as in `playReshard`.
 *
 * @throws an error unless the table contains exactly the written items at the end, each once and in its shard
 */
export async function playTableReshard(seed: number): Promise<PlayedReshard> {
  const random = seededRandom(seed);
  const pick = (count: number): number => Math.floor(random() * count);
  const config = configOf(random);
  const isRandom = config.strategy === 'random';
  const clock = new VirtualClock();
  const table = new FakeTable(config.tableKey, 1 + pick(20));
  /** The written items by their key without the shard. */
  const written = new Map<string, Body>();
  const versionAttribute = random() < 0.5 ? 'version' : null;
  let versions = 0;

  const identity = ({ invoice, sk, owner }: Body): string => [invoice, sk, owner].join('|');
  const bodyOf = (number: number): Body => ({
    invoice: VALUES[number % 3]!,
    sk: `t${isRandom ? number % 20 : number}`,
    owner: `o${isRandom ? number : number % 5}`,
    version: `v${versions++}`,
  });
  const transact = (writes: readonly TransactWrite[]): boolean => {
    try {
      table.transact(writes.map(typedWrite));
      return true;
    } catch (error) {
      if ((error as Error).name !== 'TransactionCanceledException') throw error;
      return false;
    }
  };

  // Stores each item at one of the places that it has with the counts of this change, or at its place with an earlier count.
  for (let number = 0; number < ITEMS; number++) {
    const body = bodyOf(number);
    written.set(identity(body), body);
    if (!isRandom) {
      const places = shardKeys(config, body.invoice, body);
      table.put(typed({ ...body, ...places[random() < 0.3 ? 0 : pick(places.length)] }));
      continue;
    }
    const { read } = config.shards.default;
    const free = Array.from({ length: read }, (_, shard) => `${body.invoice}-${1 + shard}`).filter(
      (pk) => table.read({ pk: { S: pk }, sk: { S: body.sk } }) === undefined,
    );
    if (free.length === 0) written.delete(identity(body));
    else table.put(typed({ ...body, pk: free[pick(free.length)] }));
  }

  /** The current shard of an item. */
  const find = (body: Body): DynamoDbItem | undefined =>
    [...table.items.values()].find((item) => identity(plain(item)) === identity(body));
  const writer = async (writes: number): Promise<void> => {
    for (let done = 0; done < writes; done++) {
      await clock.sleep(random() * 40);
      const body = bodyOf(pick(ITEMS));
      const kind = random();
      const there = find(body);
      if (kind < 0.4 && there !== undefined) {
        // Updates the item in the shard where a transactional read has found it. The update fails if the item has moved
        // after the read.
        await clock.sleep(random() * 20);
        const now = table.read({ pk: there.pk!, sk: there.sk! });
        if (now === undefined || identity(plain(now)) !== identity(body)) continue;
        const change = {
          version: body.version!,
          ...(versionAttribute !== null && { [`note${pick(4)}`]: body.version! }),
        };
        table.put({ ...now, ...typed(change) });
        written.set(identity(body), { ...written.get(identity(body))!, ...change });
      } else if (isRandom) {
        if (there !== undefined) continue;
        const Item = { ...body, ...shardAttributes(config, body) };
        if (table.read(typed({ pk: Item.pk, sk: Item.sk })) !== undefined) continue;
        table.put(typed(Item));
        written.set(identity(body), body);
      } else if (kind < 0.6) {
        transact(transactDelete(config, body.invoice, body));
        written.delete(identity(body));
      } else if (kind < 0.8) {
        const isNew = transact(transactPut(config, body, { ifAbsent: true }));
        if (isNew === written.has(identity(body)))
          throw new Error(`seed ${seed}: the result of the put of ${identity(body)} is wrong`);
        if (isNew) written.set(identity(body), body);
      } else {
        transact(transactPut(config, body));
        written.set(identity(body), body);
      }
    }
  };

  const resharding = reshardWithCrashes(
    { clock, random },
    (fate) => (fate < 0.04 ? throttled() : fate < 0.06 ? cancelled('None', 'TransactionConflict') : undefined),
    async (send, options) => {
      const reads: Send = async (request) => {
        for (;;) {
          try {
            return await send(request);
          } catch (error) {
            if ((error as Error).name !== 'TransactionCanceledException') throw error;
          }
        }
      };
      const client: ItemTransferClient = {
        scan: (input) => reads(() => table.scan(input)),
        getItem: (input) => reads(() => table.getItem(input)),
        transactWriteItems: (input) => send(() => table.transactWriteItems(input)),
      };
      const end = await reshardItems(client, config, { ...options, versionAttribute });
      if (end.outcomes.refused > 0 && !isRandom)
        throw new Error(`seed ${seed}: ${end.outcomes.refused} items were rejected`);
      return end;
    },
  );
  const writers = Array.from({ length: WRITERS }, () => writer(20));
  await clock.runUntil(Promise.all([resharding, ...writers]));
  await clock.runOut();

  const contents = (bodies: Iterable<Body>): string[] =>
    [...bodies].map((body) => JSON.stringify(Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();
  const [got, expected] = [contents([...table.items.values()].map(plain)), contents(written.values())];
  if (JSON.stringify(got) !== JSON.stringify(expected)) {
    throw new Error(`seed ${seed}: the table contains ${got.join(' ')}, but the writers wrote ${expected.join(' ')}`);
  }
  const { strays } = await findStrays(table, config);
  const remaining = Object.values(strays).reduce((sum, count) => sum + count, 0);
  if (remaining > 0 && !isRandom) throw new Error(`seed ${seed}: strays remain: ${JSON.stringify(strays)}`);
  return resharding;
}

function cancelled(...codes: string[]): Error {
  const CancellationReasons = codes.map((Code) => ({ Code }));
  return Object.assign(new Error('cancelled'), { name: 'TransactionCanceledException', CancellationReasons });
}

function plain({ pk: _, ...item }: DynamoDbItem): Body {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, (value as { S: string }).S])) as Body;
}

function configOf(random: () => number): ShardedTableConfig {
  const upTo = (count: number): number => 1 + Math.floor(random() * count);
  const [since, write, read] = [upTo(8), upTo(8), upTo(8)].sort((a, b) => a - b) as [number, number, number];
  const strategy = random() < 0.2 ? 'random' : 'calculated';
  return {
    tableName: 'Invoices',
    tableKey: ['pk', 'sk'],
    keyLayout: 'single-attribute',
    valueAttribute: 'invoice',
    shardAttribute: 'pk',
    sortKeyAttributes: ['sk'],
    shardedBy: strategy === 'random' ? [] : random() < 0.5 ? ['sk'] : ['owner'],
    separator: '-',
    firstShard: 1,
    shards: { default: { write, read, ...(strategy === 'calculated' && since < write && { since }) } },
    strategy,
  };
}
