import {
  type DynamoDbItem,
  findStrays,
  type ItemReshardClient,
  plainItem,
  reshardItems,
  type ShardedIndexConfig,
  shardAttributes,
} from '../../../lib/core';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../lib/testing/virtual-clock';
import { type PlayedReshard, reshardWithCrashes, throttled } from './crashing-reshard';
import { FakeTable } from './fake-table';

const KEYS = 60;
const WRITERS = 8;
const VALUES = ['new', 'paid', 'sent', '7'];

/**
 * Runs one random case. `reshardItems` moves the strays of a table in segments, while eight writers put, update and
 * delete items. A request can be throttled, late or lost, or its response can be lost. The process crashes at random
 * moments, and another process continues from the last saved resume point.
 *
 * @throws an error if an item at the end is a stray, or if an attribute other than the shard differs from the written item
 */
export async function playReshard(seed: number): Promise<PlayedReshard> {
  const random = seededRandom(seed);
  const pick = (count: number): number => Math.floor(random() * count);
  const config = configOf(random);
  const clock = new VirtualClock();
  const table = new FakeTable(config.tableKey, 1 + pick(20));
  /** The written items without their shards. */
  const written = new Map<string, DynamoDbItem>();
  let versions = 0;

  const keyOf = (number: number): DynamoDbItem => ({ id: { S: `k${number}` }, part: { N: String(number) } });
  const bodyOf = (number: number): DynamoDbItem => ({
    ...keyOf(number),
    ...(random() < 0.85 && { status: attributeOf(VALUES[pick(VALUES.length)]!) }),
    version: { N: String(versions++) },
  });
  /** An item with the correct shard, or an item of a writer that ignores shards. */
  const stored = (body: DynamoDbItem): DynamoDbItem => {
    const shard = shardAttributes(config, plainItem(body))[config.shardAttribute] as string | number | undefined;
    if (shard === undefined) return body;
    return { ...body, [config.shardAttribute]: typeof shard === 'number' ? { N: String(shard) } : { S: shard } };
  };
  const write = (body: DynamoDbItem, item: DynamoDbItem): void => {
    written.set((body.id as { S: string }).S, body);
    table.put(item);
  };

  for (let number = 0; number < KEYS; number++) {
    const body = bodyOf(number);
    const wrong: (DynamoDbItem[string] | undefined)[] = [
      undefined,
      { N: '3' },
      { N: '99' },
      { S: 'paid#1' },
      { S: 'x' },
    ];
    const shard = wrong[pick(wrong.length)];
    write(body, random() < 0.3 ? stored(body) : { ...body, ...(shard && { [config.shardAttribute]: shard }) });
  }

  const writer = async (writes: number): Promise<void> => {
    for (let done = 0; done < writes; done++) {
      await clock.sleep(random() * 40);
      const number = pick(KEYS);
      const kind = random();
      if (kind < 0.15) {
        table.delete(keyOf(number));
        written.delete(`k${number}`);
      } else if (kind < 0.6) {
        const body = bodyOf(number);
        write(body, stored(body));
      } else {
        // An update of another attribute does not change the shard.
        const before = written.get(`k${number}`);
        if (before === undefined) continue;
        const version = { N: String(versions++) };
        written.set(`k${number}`, { ...before, version });
        table.put({ ...table.read(keyOf(number))!, version });
      }
    }
  };

  const resharding = reshardWithCrashes(
    { clock, random },
    (fate) => (fate < 0.05 ? throttled() : undefined),
    (send, options) => {
      const client: ItemReshardClient = {
        scan: (input) => send(() => table.scan(input)),
        getItem: (input) => send(() => table.getItem(input)),
        updateItem: (input) => send(() => table.updateItem(input)),
      };
      return reshardItems(client, config, options);
    },
  );
  const writers = Array.from({ length: WRITERS }, () => writer(20));
  await clock.runUntil(Promise.all([resharding, ...writers]));
  await clock.runOut();

  const without = (item: DynamoDbItem): string => {
    const { [config.shardAttribute]: _, ...body } = item;
    return JSON.stringify(Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  const contents = (items: Iterable<DynamoDbItem>): string[] => [...items].map(without).sort();
  const [got, expected] = [contents(table.items.values()), contents(written.values())];
  if (JSON.stringify(got) !== JSON.stringify(expected)) {
    throw new Error(`seed ${seed}: the table contains ${got.join(' ')}, but the writers wrote ${expected.join(' ')}`);
  }
  const { strays } = await findStrays(table, config);
  if (Object.values(strays).some((count) => count > 0)) {
    throw new Error(`seed ${seed}: strays remain: ${JSON.stringify(strays)}`);
  }
  return resharding;
}

function attributeOf(value: string): DynamoDbItem[string] {
  return value === '7' ? { N: '7' } : { S: value };
}

function configOf(random: () => number): ShardedIndexConfig {
  const write = 1 + Math.floor(random() * 5);
  const byValue = random() < 0.5;
  return {
    tableName: 'Orders',
    indexName: 'byStatus',
    tableKey: random() < 0.5 ? ['id'] : ['id', 'part'],
    keyLayout: random() < 0.5 ? 'multi-attribute' : 'single-attribute',
    ...(random() < 0.8 && { valueAttribute: 'status' }),
    shardAttribute: 'shard',
    sortKeyAttributes: [],
    shards: {
      default: { write, read: write + Math.floor(random() * 4) },
      ...(byValue && { byValue: { paid: { write: 7, read: 9 }, 7: { write: 2, read: 2 } } }),
    },
    strategy: random() < 0.5 ? 'calculated' : 'random',
  };
}
