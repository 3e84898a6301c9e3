import {
  AdaptiveIndex,
  type AdaptiveIndexOptions,
  CorruptShardCountError,
  fanOutQuery,
  type GrownCount,
  InvalidShardCountError,
  type ShardCountReader,
  ShardCountsUnavailableError,
  type ShardedIndexConfig,
} from '../../../../lib/core';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { adaptiveConfig } from '../../../support/fakes/adaptive-config';

const grown = (value: string | undefined, write: number, read: number): GrownCount => ({
  value,
  write,
  read,
  version: 1,
  commit: 'a',
  changedBy: 'a test',
  changedAt: '2026-01-01T00:00:00.000Z',
  reason: 'to see',
});

let clock: VirtualClock;
let counts: GrownCount[];
let reads: number;
let answer: () => Promise<GrownCount[]>;
const store: ShardCountReader = {
  readCounts: () => {
    reads += 1;
    return answer();
  },
};
beforeEach(() => {
  clock = new VirtualClock();
  counts = [grown('open', 4, 4)];
  reads = 0;
  answer = async () => [...counts];
});

const make = (options: AdaptiveIndexOptions = {}, config = adaptiveConfig) =>
  new AdaptiveIndex(config, store, { clock, timeOfDay: () => 0, random: () => 0.5, ...options });
const advance = (ms: number) => clock.runUntil(new Promise<void>((resolve) => clock.schedule(resolve, ms)));
const openCount = (config: ShardedIndexConfig) => config.shards.byValue?.open ?? config.shards.default;
const down = async () => {
  throw new Error('down');
};

describe('the configuration of an AdaptiveIndex', () => {
  test.each<[string, object | undefined]>([
    ['config.shards.default.write', undefined],
    ['config.shards.byValue["open"].write', { default: { write: 1, read: 1 }, byValue: { open: null } }],
  ])('is rejected without %s', (field, shards) => {
    expect(() => make({}, { ...adaptiveConfig, shards } as never)).toThrow(InvalidShardCountError);
    expect(() => make({}, { ...adaptiveConfig, shards } as never)).toThrow(field);
  });

  test('is rejected if the maximum of the shard counts is invalid', () => {
    const none = { ...adaptiveConfig, adaptive: { tableName: 'counts', maximum: 0 } };
    expect(() => make({}, none)).toThrow('config.adaptive.maximum must be a whole number from 1 to 10000, got 0');
  });

  test('is rejected if its adaptive counts have an unknown field, which could change the counts', () => {
    const newer = { ...adaptiveConfig, adaptive: { ...adaptiveConfig.adaptive, minimum: 4 } };
    expect(() => make({}, newer as never)).toThrow(
      'config.adaptive must be made of tableName and maximum (update this package to read newer fields), got "minimum"',
    );
  });

  test('has the stored counts of the values as fixed counts', async () => {
    expect(await make().forReading()).toEqual({
      ...adaptiveConfig,
      version: undefined,
      adaptive: undefined,
      shards: { default: { write: 1, read: 1 }, byValue: { open: { write: 4, read: 4 } } },
    });
  });

  test('uses the initial count of a value if it is larger than the stored count', async () => {
    const byValue = { open: { write: 2, read: 9 }, paid: { write: 3, read: 3 } };
    const index = make({}, { ...adaptiveConfig, shards: { default: { write: 2, read: 2 }, byValue } });
    counts = [grown('open', 4, 4), grown('lost', 1, 3), grown('__proto__', 2, 2)];
    const { shards } = await index.forReading();
    expect(shards.default).toEqual({ write: 2, read: 2 });
    expect(Object.entries(shards.byValue!)).toEqual([
      ['open', { write: 4, read: 9 }],
      ['paid', { write: 3, read: 3 }],
      ['lost', { write: 2, read: 3 }],
      ['__proto__', { write: 2, read: 2 }],
    ]);
  });

  test('has the stored count of the whole table if the index has no value attribute', async () => {
    const { valueAttribute: _, ...config } = adaptiveConfig;
    counts = [grown(undefined, 4, 8)];
    expect((await make({}, config).forWriting()).shards).toEqual({ default: { write: 4, read: 8 } });
  });
});

describe('the cached counts', () => {
  test('are used for ten seconds without a read', async () => {
    const index = make();
    await index.forReading();
    await advance(9_999);
    await Promise.all([index.forReading(), index.forWriting()]);
    expect(reads).toBe(1);
  });

  test('are read again after ten seconds if they are still used, with one read at a time', async () => {
    const index = make();
    await index.forReading();
    counts = [grown('open', 4, 8)];
    await advance(10_000);
    const configs = await Promise.all([index.forReading(), index.forReading(), index.forWriting()]);
    expect(configs.map((config) => openCount(config).read)).toEqual([4, 4, 4]);
    await advance(0);
    expect(openCount(await index.forReading()).read).toBe(8);
    expect(reads).toBe(2);
  });

  test('are read once if several callers need them at the same time', async () => {
    const index = make();
    await Promise.all(Array.from({ length: 100 }, (_, nth) => (nth % 2 ? index.forReading() : index.forWriting())));
    expect(reads).toBe(1);
  });

  test('expire 30 seconds after the start of the read, not after its end', async () => {
    const index = make();
    answer = async () => {
      await clock.sleep(900);
      return counts;
    };
    await clock.runUntil(index.forReading());
    answer = down;
    await advance(29_099);
    expect(openCount(await index.forReading()).read).toBe(4);
    await advance(1);
    await expect(clock.runUntil(index.forReading())).rejects.toThrow(ShardCountsUnavailableError);
  });

  test('also expire when the time of day is 30 seconds later, because the monotonic clock of a frozen process stands still', async () => {
    let timeOfDay = 1_000_000;
    const index = make({ timeOfDay: () => timeOfDay });
    await index.forReading();
    counts = [grown('open', 4, 8)];
    timeOfDay += 30_000;
    expect(openCount(await index.forReading()).read).toBe(8);
  });

  test('expire after 30 seconds even if the time of day is set back', async () => {
    let timeOfDay = 1_000_000;
    const index = make({ timeOfDay: () => timeOfDay });
    await index.forReading();
    counts = [grown('open', 4, 8)];
    timeOfDay -= 3_600_000;
    await advance(30_000);
    expect(openCount(await index.forReading()).read).toBe(8);
  });

  test('are not used if they expire before the response arrives', async () => {
    const slow = { ...store, readCounts: () => clock.sleep(999).then(() => counts) };
    let timeOfDay = 0;
    const frozen = new AdaptiveIndex(adaptiveConfig, slow, { clock, timeOfDay: () => timeOfDay, random: () => 0.5 });
    const page = frozen.forReading();
    const write = frozen.forWriting();
    page.catch(() => {});
    timeOfDay = 30_000;
    await expect(clock.runUntil(page)).rejects.toThrow(ShardCountsUnavailableError);
    expect(openCount(await clock.runUntil(write)).write).toBe(1);
  });
});

describe('if the counts cannot be read', () => {
  test('readers and writers use the cached counts for 30 seconds; after that, readers fail and writers use the initial counts', async () => {
    const index = make();
    await index.forReading();
    answer = down;
    for (let second = 0; second < 29; second++) {
      await advance(1_000);
      expect(openCount(await index.forReading()).read).toBe(4);
      expect(openCount(await index.forWriting()).write).toBe(4);
    }
    await advance(1_000);
    await expect(clock.runUntil(index.forReading())).rejects.toThrow(ShardCountsUnavailableError);
    expect(openCount(await clock.runUntil(index.forWriting())).write).toBe(1);
    answer = async () => counts;
    await advance(1_000);
    expect(openCount(await index.forReading()).read).toBe(4);
  });

  test('a query fails at the deadline of its page, and other callers continue to wait for the counts', async () => {
    answer = () => new Promise((resolve) => clock.schedule(() => resolve(counts), 800));
    const client = { query: jest.fn() };
    const index = make();
    const others = index.forReading();
    const page = fanOutQuery(client as never, index, { value: 'open' }, { clock, deadlineMs: 500 });
    await expect(clock.runUntil(page)).rejects.toThrow(ShardCountsUnavailableError);
    expect(clock.now()).toBe(500);
    expect(client.query).not.toHaveBeenCalled();
    expect(openCount(await clock.runUntil(others))).toEqual({ write: 4, read: 4 });
    expect([clock.now(), reads]).toEqual([800, 1]);
  });

  test('an invalid stored count has the same effect as a failed read', async () => {
    counts = [grown('open', 4, 2)];
    const error = await clock.runUntil(make().forReading()).catch((caught) => caught);
    expect(error).toBeInstanceOf(ShardCountsUnavailableError);
    expect(error.cause).toBeInstanceOf(CorruptShardCountError);
  });
});

describe('an index with many stored counts', () => {
  const GROWN = 8_500;
  let pages: number;
  let values: (string | undefined)[];
  let latencyMs: number;
  let failures: number;
  const paged: ShardCountReader = {
    readCounts: () => Promise.reject(new Error('unexpected call')),
    readCountPage: async ({ from = 0, limit }) => {
      pages += 1;
      await clock.sleep(latencyMs);
      if (failures-- > 0) throw new Error('throttled');
      const next = Number(from) + limit;
      return { counts: counts.slice(Number(from), next), ...(next < counts.length && { next }) };
    },
    readCount: async (value) => {
      values.push(value);
      await clock.sleep(latencyMs);
      return counts.find((count) => count.value === value);
    },
  };
  beforeEach(() => {
    counts = Array.from({ length: GROWN }, (_, nth) => grown(`tenant-${nth}`, 2, 2));
    [pages, values, latencyMs, failures] = [0, [], 0, 0];
  });
  const large = (config = adaptiveConfig) =>
    new AdaptiveIndex(config, paged, { clock, timeOfDay: () => 0, random: () => 0.5 });
  const countOf = (config: ShardedIndexConfig, value: string) =>
    config.shards.byValue?.[value] ?? config.shards.default;

  test('reads all counts with one query if the table has 1,000 counts', async () => {
    counts.length = 1_000;
    const { shards } = await clock.runUntil(large().forReading(undefined, ['tenant-7']));
    expect([Object.keys(shards.byValue!).length, pages, values]).toEqual([1_000, 1, []]);
  });

  test('reads, for a page or a write, only the counts of the values that the page or the write needs', async () => {
    const index = large();
    latencyMs = 900;
    const page = await clock.runUntil(index.forReading(undefined, ['tenant-7', 'tenant-8000', 'rare']));
    expect(['tenant-7', 'tenant-8000', 'rare'].map((value) => countOf(page, value).read)).toEqual([2, 2, 1]);
    expect([clock.now(), pages, values]).toEqual([1_800, 1, ['tenant-7', 'tenant-8000', 'rare']]);
    expect(countOf(await clock.runUntil(index.forWriting('tenant-7')), 'tenant-7').write).toBe(2);
    await clock.runUntil(index.forWriting(['tenant-7', 'tenant-8']));
    expect([pages, values.slice(3)]).toEqual([1, ['tenant-8']]);
  });

  test('reads the counts of a value again if the value is used after ten seconds', async () => {
    const index = large();
    await clock.runUntil(index.forReading(undefined, ['tenant-7']));
    await clock.runUntil(index.forReading(undefined, ['tenant-8']));
    counts[7] = grown('tenant-7', 2, 9);
    await advance(10_000);
    expect(countOf(await clock.runUntil(index.forReading(undefined, ['tenant-7'])), 'tenant-7').read).toBe(2);
    await advance(0);
    expect(countOf(await clock.runUntil(index.forReading(undefined, ['tenant-7'])), 'tenant-7').read).toBe(9);
    expect([pages, values]).toEqual([1, ['tenant-7', 'tenant-8', 'tenant-7']]);
  });

  test('finds the count of a numeric value by its digits, and reads no count for a value that is too long for a key', async () => {
    const index = large();
    const long = 'x'.repeat(1_024);
    const longest = 'x'.repeat(1_023);
    counts.push(grown('1000000000000000000000', 3, 3));
    const { shards } = await clock.runUntil(index.forReading(undefined, [1e21, long, longest]));
    expect([shards.byValue, values]).toEqual([
      { '1000000000000000000000': { write: 3, read: 3 } },
      ['1000000000000000000000', longest],
    ]);
    expect(await clock.runUntil(index.forReading(undefined, [long]))).toEqual(index.initial);
  });

  test('uses the counts of the configuration for values without stored counts', async () => {
    const shards = { default: { write: 1, read: 1 }, byValue: { paid: { write: 3, read: 3 } } };
    const config = await clock.runUntil(large({ ...adaptiveConfig, shards }).forWriting('tenant-7'));
    expect(config.shards.byValue).toEqual({ paid: { write: 3, read: 3 }, 'tenant-7': { write: 2, read: 2 } });
  });

  test('reads all counts page by page for a request without values, with a time limit of one second for each page', async () => {
    const index = large();
    latencyMs = 900;
    const config = await clock.runUntil(index.forReading());
    expect([Object.keys(config.shards.byValue!).length, countOf(config, 'tenant-8000').read]).toEqual([GROWN, 2]);
    // The index reads one page, which shows that the table has more than 1,000 values. It then reads all nine pages.
    expect([pages, clock.now()]).toEqual([10, 10 * 900]);
    await clock.runUntil(index.forWriting());
    expect(pages).toBe(10);
  });

  test('ends a page at its deadline, even if the page reads the counts twice', async () => {
    latencyMs = 400;
    const page = fanOutQuery({ query: jest.fn() } as never, large(), { value: 'tenant-7' }, { clock, deadlineMs: 500 });
    await expect(clock.runUntil(page)).rejects.toThrow(ShardCountsUnavailableError);
    expect([clock.now(), values]).toEqual([500, ['tenant-7']]);
  });
});

describe('a refresh of the cached counts', () => {
  const replaced = async (change: () => void, config = adaptiveConfig) => {
    const index = make({}, config);
    const before = await index.forReading();
    change();
    await advance(10_000);
    await index.forReading();
    await advance(0);
    return { before, after: await index.forReading() };
  };

  test('keeps the configuration object if no count has changed, so no caller checks the configuration again', async () => {
    const { before, after } = await replaced(() => undefined);
    expect(after).toBe(before);
  });

  test('uses lower counts if the stored counts are lower', async () => {
    const { after } = await replaced(() => (counts = [grown('open', 2, 4)]));
    expect(after.shards.byValue).toEqual({ open: { write: 2, read: 4 } });
  });
});
