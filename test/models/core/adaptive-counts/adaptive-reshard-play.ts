import {
  AdaptiveIndex,
  type Clock,
  type DynamoDbItem,
  decreaseShardCount,
  EvenShardsError,
  endDrain,
  findStrays,
  InvalidCursorError,
  type ItemReshardClient,
  increaseShardCount,
  plainItem,
  reshardItems,
  type ShardedIndexConfig,
  shardAttributes,
} from '../../../../lib/core';
import { strayOf } from '../../../../lib/core/sharded-index/strays/stray-of';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { reshardWithCrashes, type Send, throttled } from '../../../support/fakes/crashing-reshard';
import { FakeCountTable } from '../../../support/fakes/fake-count-table';
import { FakeTable } from '../../../support/fakes/fake-table';
import { indexConfig } from '../../../support/index-config';

const KEYS = 24;
const WRITERS = 3;
const VALUES = ['open', 'paid'];
const MAXIMUM = 6;

/** A write arrives at most this time after its writer has read the counts. Late requests have the same limit. */
const LONGEST_WRITE_MS = 30_000;

/** Multiplies the network delay of `reshardWithCrashes`, so that a scan takes minutes. */
const SLOWNESS = 400;

/** How often each event happened in a case. A test checks that the cases include each event. */
export interface PlayedAdaptiveReshard {
  raises: number;
  drains: number;
  pages: number;
  moved: number;
  /** The number of items that the slow scan moved. */
  evened: number;
  crashes: number;
  /** The number of scans that started again, because their resume point was written with other counts. */
  refusedPoints: number;
}

/**
 * Runs one random case of an index whose counts increase and decrease, while processes scan its table and move items to balance or
 * to drain shards. Writers and readers have copies of the counts. The table of counts is unavailable from time to time.
 *
 * Throws if the counts that a reader has at the start of a page do not include a shard that has an item. Throws if a
 * complete scan after a decrease leaves an item in a shard to drain, or if a write is lost.
 */
export async function playAdaptiveReshard(seed: number): Promise<PlayedAdaptiveReshard> {
  const random = seededRandom(seed);
  const pick = (count: number): number => Math.floor(random() * count);
  const config = configOf(random);
  const clock = new VirtualClock();
  const counts = new FakeCountTable();
  const table = new FakeTable(config.tableKey, 1 + pick(10));
  const written = new Map<string, string>();
  const played: PlayedAdaptiveReshard = {
    raises: 0,
    drains: 0,
    pages: 0,
    moved: 0,
    evened: 0,
    crashes: 0,
    refusedPoints: 0,
  };
  let isOver = false;
  let stop = new AbortController();

  let isDown = false;
  const store = () =>
    counts.store(async () => {
      await clock.sleep(random() * 200);
      if (isDown) throw new Error('the table of counts is down');
    });
  const application = (): AdaptiveIndex =>
    new AdaptiveIndex(config, store(), { clock, random, timeOfDay: () => clock.now() });

  const outages = async (): Promise<void> => {
    while (!isOver) {
      await clock.sleep(random() * 120_000);
      isDown = random() < 0.3;
      await clock.sleep(random() * 40_000);
      isDown = false;
    }
  };

  const write = async (index: AdaptiveIndex, id: string, version: string, delayMs: number): Promise<void> => {
    const item = { id, status: VALUES[pick(VALUES.length)]!, version };
    const { shard } = shardAttributes(await index.forWriting(), item);
    await clock.sleep(delayMs);
    written.set(id, version);
    table.put({
      ...attributesOf(item),
      shard: typeof shard === 'number' ? { N: String(shard) } : { S: String(shard) },
    });
  };
  const writer = async (number: number): Promise<void> => {
    let index = application();
    for (let key = number; key < KEYS; key += WRITERS) await write(index, `k${key}`, 'first', random() * 100);
    for (let version = 0; !isOver; version++) {
      await clock.sleep(random() * 150_000);
      if (random() < 0.05) index = application();
      const key = number + WRITERS * pick(KEYS / WRITERS);
      await write(index, `k${key}`, String(version), random() * LONGEST_WRITE_MS * 0.9);
    }
  };

  const reader = async (): Promise<void> => {
    let index = application();
    while (!isOver) {
      await clock.sleep(random() * 15_000);
      if (random() < 0.05) index = application();
      const page = await index.forReading().catch(expected);
      if (page === undefined) continue;
      played.pages += 1;
      for (const item of table.items.values()) {
        if (!strayOf(page, item)?.hidden) continue;
        throw new Error(`seed ${seed}: at ${clock.now()} a reader does not query the shard of ${JSON.stringify(item)}`);
      }
    }
  };

  const raiser = async (value: string): Promise<void> => {
    while (!isOver) {
      const raise = { value, to: 2 + pick(MAXIMUM - 1), reason: 'busy', changedBy: 'a raiser' };
      if ((await increaseShardCount(config, store(), raise, { clock }).catch(expected)) !== undefined)
        played.raises += 1;
      await clock.sleep(random() * 900_000);
    }
  };

  /** Returns the resume point of a failed scan. Returns undefined if the point was written with other counts. */
  const goesOnFrom = (error: unknown): string | undefined => {
    expected(error);
    if (error instanceof InvalidCursorError) played.refusedPoints += 1;
    return Object(error).report?.resumePoint;
  };

  const slow = slowed(clock, SLOWNESS);
  /** Scans the whole table, with crashes. Each process has its own, possibly old, copy of the counts. */
  const walk = async (): Promise<void> => {
    const index = application();
    const { moved, crashes } = await reshardWithCrashes(
      { clock: slow, random },
      (fate) => (fate < 0.05 ? throttled() : undefined),
      async (send, options) => {
        const client = clientOf(table, send);
        for (let { resumeFrom, ...rest } = options; ; ) {
          try {
            return await reshardItems(client, index, { ...rest, ...(resumeFrom && { resumeFrom }) });
          } catch (error) {
            resumeFrom = goesOnFrom(error);
            await clock.sleep(1_000);
          }
        }
      },
    );
    played.moved += moved;
    played.crashes += crashes;
  };

  let evening: Promise<void> = Promise.resolve();
  /**
   * Scans the table in one slow process, so that counts decrease during the scan. The process is often stopped, and continues from
   * its resume point.
   */
  const even = async (): Promise<void> => {
    const index = application();
    const send: Send = async (request) => {
      await clock.sleep(random() * 1_000);
      if (random() < 0.9) return request();
      void clock.sleep(random() * LONGEST_WRITE_MS * 0.9).then(() => request().catch(() => undefined));
      throw throttled();
    };
    const options = { clock, random, concurrency: 1 + pick(4), writeUnitsPerSecond: 0.02 + random() / 10 };
    let resumeFrom: string | undefined;
    do {
      stop = new AbortController();
      const { signal } = stop;
      clock.schedule(() => stop.abort(), random() * 1_000_000);
      const stoppable = { ...options, signal, ...(resumeFrom && { resumeFrom }) };
      try {
        const { outcomes, resumePoint } = await reshardItems(clientOf(table, send), index, stoppable);
        played.evened += outcomes.moved;
        if (resumePoint === undefined) return;
        resumeFrom = resumePoint;
      } catch (error) {
        resumeFrom = goesOnFrom(error);
        await clock.sleep(1_000);
      }
    } while (!isOver);
  };
  const evener = async (): Promise<void> => {
    while (!isOver) {
      // `evening` includes the pause before the scan, so a drainer always finds an unfinished scan to wait for.
      evening = clock.sleep(random() * 10_000).then(even);
      await evening;
    }
  };

  const drainer = async (): Promise<void> => {
    for (let drain = 0; drain < 4; drain++) {
      await clock.sleep(60_000 + random() * 300_000);
      const value = VALUES[pick(VALUES.length)]!;
      const { write } = counts.of(value) ?? { write: 1 };
      if (write === 1) continue;
      const why = { value, reason: 'quiet', changedBy: 'a drainer' };
      const lowering = { ...why, to: 1 + pick(write - 1) };
      const options = { clock, longestWriteMs: LONGEST_WRITE_MS };
      const lowered = await decreaseShardCount(config, store(), lowering, options).catch(expected);
      if (lowered === undefined) continue;
      // Any scan that ends after the decrease is sufficient, because a scan that began before the decrease has started again.
      await (random() < 0.5 ? walk() : evening);
      const drained = await endDrain(config, store(), { ...why, version: lowered.version }).catch(expected);
      if (drained !== undefined) played.drains += 1;
    }
    isOver = true;
    stop.abort();
  };

  await clock.runUntil(
    Promise.all([
      outages(),
      reader(),
      reader(),
      reader(),
      ...VALUES.map(raiser),
      evener(),
      drainer(),
      ...Array.from({ length: WRITERS }, (_, number) => writer(number)),
    ]),
  );
  await clock.runOut();

  for (const [id, version] of written) {
    if (plainItem<{ version: string }>(table.read({ id: { S: id } })!).version === version) continue;
    throw new Error(`seed ${seed}: the write ${version} of ${id} is lost`);
  }
  const index = application();
  const left = clock.runUntil(reshardItems(table, index, { clock }).then(() => findStrays(table, index, { clock })));
  if (Object.values((await left).strays).some((count) => count > 0)) throw new Error(`seed ${seed}: strays are left`);
  return played;
}

/**
 * Ignores the errors after which a process tries again: the table of counts is unavailable, or another process has changed the
 * counts.
 */
function expected(error: unknown): undefined {
  const isOutage = error instanceof Error && error.message === 'the table of counts is down';
  if (!isOutage && !(error instanceof EvenShardsError)) throw error;
  return undefined;
}

function clientOf(table: FakeTable, send: Send): ItemReshardClient {
  return {
    scan: (input) => send(() => table.scan(input)),
    getItem: (input) => send(() => table.getItem(input)),
    updateItem: (input) => send(() => table.updateItem(input)),
  };
}

function slowed(clock: Clock, times: number): Clock {
  return {
    now: () => clock.now() / times,
    schedule: (callback, delayMs) => clock.schedule(callback, delayMs * times),
    sleep: (delayMs) => clock.sleep(delayMs * times),
  };
}

function attributesOf(item: Record<string, string>): DynamoDbItem {
  return Object.fromEntries(Object.entries(item).map(([name, text]) => [name, { S: text }]));
}

function configOf(random: () => number): ShardedIndexConfig {
  const first = 1 + Math.floor(random() * 2);
  return indexConfig({
    version: 2,
    tableName: 'Orders',
    tableKey: ['id'],
    keyLayout: random() < 0.5 ? 'multi-attribute' : 'single-attribute',
    sortKeyAttributes: [],
    shards: {
      default: { write: 1, read: 1 },
      ...(random() < 0.5 && { byValue: { paid: { write: first, read: first + 1 } } }),
    },
    adaptive: { tableName: 'counts', maximum: MAXIMUM },
    strategy: random() < 0.7 ? 'calculated' : 'random',
  });
}
