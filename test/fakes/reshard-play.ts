import {
  type DynamoDbItem,
  findStrays,
  type ItemReshardClient,
  plainItem,
  reshardItems,
  type ShardedIndexConfig,
  type StrayReport,
  shardAttributes,
} from '../../lib/core';
import { seededRandom } from '../../lib/testing/seeded-random';
import { VirtualClock } from '../../lib/testing/virtual-clock';
import { FakeTable } from './fake-table';

const KEYS = 60;
const WRITERS = 8;
const VALUES = ['new', 'paid', 'sent', '7'];

/** What a case came to, for the tests that make sure that the cases are hard enough. */
export interface PlayedReshard {
  crashes: number;
  lostAnswers: number;
  settled: number;
  moved: number;
}

/**
 * Plays one random case: `reshardItems` goes over the segments of a table of strays, while eight writers put, update and
 * delete its items. Requests are throttled and lost, before or after the table has done them; some arrive late. The process
 * crashes at random moments, and another one goes on from the resume point that was saved last.
 *
 * @throws an error if in the end an item differs from what the writers wrote in anything but its shard, or is a stray
 */
export async function playReshard(seed: number): Promise<PlayedReshard> {
  const random = seededRandom(seed);
  const pick = (count: number): number => Math.floor(random() * count);
  const config = configOf(random);
  const clock = new VirtualClock();
  const table = new FakeTable(config.tableKey, 1 + pick(20));
  /** What the writers have written, without the shards. */
  const written = new Map<string, DynamoDbItem>();
  const played: PlayedReshard = { crashes: 0, lostAnswers: 0, settled: 0, moved: 0 };
  let versions = 0;

  const keyOf = (number: number): DynamoDbItem => ({ id: { S: `k${number}` }, part: { N: String(number) } });
  const bodyOf = (number: number): DynamoDbItem => ({
    ...keyOf(number),
    ...(random() < 0.85 && { status: attributeOf(VALUES[pick(VALUES.length)]!) }),
    version: { N: String(versions++) },
  });
  /** As a writer stores it that keeps the shards right, or as one that knows nothing of them. */
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
        // An update of another attribute leaves the shard as it is.
        const before = written.get(`k${number}`);
        if (before === undefined) continue;
        const version = { N: String(versions++) };
        written.set(`k${number}`, { ...before, version });
        table.put({ ...table.read(keyOf(number))!, version });
      }
    }
  };

  let alive = 0;
  /** The requests of one process. After its crash, none is answered any more, but some still arrive. */
  const clientOf = (life: number): ItemReshardClient => {
    const send = async <T>(request: () => Promise<T>): Promise<T> => {
      await clock.sleep(random() * 5);
      const fate = random();
      if (alive !== life && fate < 0.5) return forever();
      if (fate < 0.05) throw Object.assign(new Error('too fast'), { name: 'ThrottlingException' });
      if (fate < 0.1) throw Object.assign(new Error('lost'), { name: 'TimeoutError' });
      if (fate < 0.13) {
        // The client gives up, and the request arrives later.
        void clock.sleep(random() * 60).then(() => request().catch(() => undefined));
        throw Object.assign(new Error('late'), { name: 'TimeoutError' });
      }
      const answer = await request();
      await clock.sleep(random() * 5);
      if (fate < 0.2) {
        played.lostAnswers += 1;
        throw Object.assign(new Error('no answer'), { name: 'TimeoutError' });
      }
      return alive === life ? answer : forever();
    };
    return {
      scan: (input) => send(() => table.scan(input)),
      getItem: (input) => send(() => table.getItem(input)),
      updateItem: (input) => send(() => table.updateItem(input)),
    };
  };

  const totalSegments = 1 + pick(3);
  const resharding = async (): Promise<void> => {
    for (let segment = 0; segment < totalSegments; segment++) {
      let saved: StrayReport | undefined;
      do {
        const life = alive;
        const crashed = random() < 0.7 ? clock.sleep(random() * 150) : forever<void>();
        const run = reshardItems(clientOf(life), config, {
          segment,
          totalSegments,
          clock,
          random,
          attempts: 1_000,
          concurrency: 1 + pick(6),
          consistentRead: random() < 0.5,
          ...(saved?.resumePoint && { resumeFrom: saved.resumePoint }),
          onProgress: (report) => {
            if (alive === life) saved = report;
          },
        });
        const end = await Promise.race([run, crashed.then(() => 'crashed' as const)]);
        if (end !== 'crashed') {
          saved = end;
          played.moved += end.outcomes.moved;
          played.settled += end.outcomes.settled;
        } else {
          played.crashes += 1;
          alive += 1;
        }
      } while (saved === undefined || saved.resumePoint !== undefined);
    }
  };

  const writers = Array.from({ length: WRITERS }, () => writer(20));
  await clock.runUntil(Promise.all([resharding(), ...writers]));
  await clock.runOut();

  const without = (item: DynamoDbItem): string => {
    const { [config.shardAttribute]: _, ...body } = item;
    return JSON.stringify(Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  const contents = (items: Iterable<DynamoDbItem>): string[] => [...items].map(without).sort();
  const [got, expected] = [contents(table.items.values()), contents(written.values())];
  if (JSON.stringify(got) !== JSON.stringify(expected)) {
    throw new Error(`seed ${seed}: the table holds ${got.join(' ')}, and the writers wrote ${expected.join(' ')}`);
  }
  const { strays } = await findStrays(table, config);
  if (Object.values(strays).some((count) => count > 0)) {
    throw new Error(`seed ${seed}: strays are left: ${JSON.stringify(strays)}`);
  }
  return played;
}

function forever<T>(): Promise<T> {
  return new Promise(() => {});
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
