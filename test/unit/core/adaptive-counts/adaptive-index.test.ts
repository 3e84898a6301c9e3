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
const pass = (ms: number) => clock.runUntil(new Promise<void>((resolve) => clock.schedule(resolve, ms)));
const open = (config: ShardedIndexConfig) => config.shards.byValue?.open ?? config.shards.default;
const down = async () => {
  throw new Error('down');
};

describe('the configuration of an adaptive index', () => {
  test.each<[string, object | undefined]>([
    ['config.shards.default.write', undefined],
    ['config.shards.byValue["open"].write', { default: { write: 1, read: 1 }, byValue: { open: null } }],
  ])('is refused without %s', (field, shards) => {
    expect(() => make({}, { ...adaptiveConfig, shards } as never)).toThrow(InvalidShardCountError);
    expect(() => make({}, { ...adaptiveConfig, shards } as never)).toThrow(field);
  });

  test.each([['']])('is refused with the table name %j', (tableName) => {
    expect(() => make({}, { ...adaptiveConfig, tableName } as never)).toThrow('config.tableName must be');
  });

  test('is refused with a maximum that is none', () => {
    const none = { ...adaptiveConfig, adaptive: { tableName: 'counts', maximum: 0 } };
    expect(() => make({}, none)).toThrow('config.adaptive.maximum must be a whole number from 1 to 10000, got 0');
  });

  test('has fixed counts, those that values have grown to', async () => {
    expect(await make().forReading()).toEqual({
      ...adaptiveConfig,
      version: undefined,
      adaptive: undefined,
      shards: { default: { write: 1, read: 1 }, byValue: { open: { write: 4, read: 4 } } },
    });
  });

  test('has the counts of the configuration where those are larger', async () => {
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

  test('has the one count of an index that covers the whole table', async () => {
    const { valueAttribute: _, ...config } = adaptiveConfig;
    counts = [grown(undefined, 4, 8)];
    expect((await make({}, config).forWriting()).shards).toEqual({ default: { write: 4, read: 8 } });
  });
});

describe('a copy of the counts', () => {
  test('is used for ten seconds without a question', async () => {
    const index = make();
    await index.forReading();
    await pass(9_999);
    await Promise.all([index.forReading(), index.forWriting()]);
    expect(reads).toBe(1);
  });

  test('is replaced from then on while it is used, by one question at a time', async () => {
    const index = make();
    await index.forReading();
    counts = [grown('open', 4, 8)];
    await pass(10_000);
    const configs = await Promise.all([index.forReading(), index.forReading(), index.forWriting()]);
    expect(configs.map((config) => open(config).read)).toEqual([4, 4, 4]);
    await pass(0);
    expect(open(await index.forReading()).read).toBe(8);
    expect(reads).toBe(2);
  });

  test('is asked for once, however many wait for it', async () => {
    const index = make();
    await Promise.all(Array.from({ length: 100 }, (_, nth) => (nth % 2 ? index.forReading() : index.forWriting())));
    expect(reads).toBe(1);
  });

  test('lives for 30 seconds from the question, not from the answer', async () => {
    const index = make();
    answer = async () => {
      await clock.sleep(900);
      return counts;
    };
    await clock.runUntil(index.forReading());
    answer = down;
    await pass(29_099);
    expect(open(await index.forReading()).read).toBe(4);
    await pass(1);
    await expect(clock.runUntil(index.forReading())).rejects.toThrow(ShardCountsUnavailableError);
  });

  test('ages by the time of day, too: a clock may stand still while a process is frozen', async () => {
    let timeOfDay = 1_000_000;
    const index = make({ timeOfDay: () => timeOfDay });
    await index.forReading();
    counts = [grown('open', 4, 8)];
    timeOfDay += 30_000;
    expect(open(await index.forReading()).read).toBe(8);
  });

  test('grows no younger when the time of day is set back', async () => {
    let timeOfDay = 1_000_000;
    const index = make({ timeOfDay: () => timeOfDay });
    await index.forReading();
    counts = [grown('open', 4, 8)];
    timeOfDay -= 3_600_000;
    await pass(30_000);
    expect(open(await index.forReading()).read).toBe(8);
  });

  test('that is too old when the answer comes is not used', async () => {
    const slow = { ...store, readCounts: () => clock.sleep(999).then(() => counts) };
    let timeOfDay = 0;
    const frozen = new AdaptiveIndex(adaptiveConfig, slow, { clock, timeOfDay: () => timeOfDay, random: () => 0.5 });
    const page = frozen.forReading();
    const write = frozen.forWriting();
    page.catch(() => {});
    timeOfDay = 30_000;
    await expect(clock.runUntil(page)).rejects.toThrow(ShardCountsUnavailableError);
    expect(open(await clock.runUntil(write)).write).toBe(1);
  });
});

describe('while the counts cannot be read', () => {
  test('readers and writers go on for the life of the copy; then readers fail, and writers use the initial counts', async () => {
    const index = make();
    await index.forReading();
    answer = down;
    for (let second = 0; second < 29; second++) {
      await pass(1_000);
      expect(open(await index.forReading()).read).toBe(4);
      expect(open(await index.forWriting()).write).toBe(4);
    }
    await pass(1_000);
    await expect(clock.runUntil(index.forReading())).rejects.toThrow(ShardCountsUnavailableError);
    expect(open(await clock.runUntil(index.forWriting())).write).toBe(1);
    answer = async () => counts;
    await pass(1_000);
    expect(open(await index.forReading()).read).toBe(4);
  });

  test('three attempts are made, and then none for a second', async () => {
    clock.nowMs = 60_000;
    const index = make();
    answer = down;
    await expect(clock.runUntil(index.forReading())).rejects.toThrow(ShardCountsUnavailableError);
    await expect(index.forReading()).rejects.toThrow(ShardCountsUnavailableError);
    expect(await index.forWriting()).toEqual(index.initial);
    expect(reads).toBe(3);
    await pass(1_000);
    await expect(clock.runUntil(index.forReading())).rejects.toThrow(ShardCountsUnavailableError);
    expect(reads).toBe(6);
  });

  test('nobody waits for an answer that never comes', async () => {
    let aborted = 0;
    const silent: ShardCountReader = {
      readCounts: (options) => new Promise(() => options!.abortSignal!.addEventListener('abort', () => (aborted += 1))),
    };
    const deaf = new AdaptiveIndex(adaptiveConfig, silent, { clock, timeOfDay: () => 0, random: () => 0.5 });
    await expect(clock.runUntil(deaf.forReading())).rejects.toThrow(ShardCountsUnavailableError);
    expect(clock.now()).toBeLessThan(3_500);
    expect(aborted).toBe(3);
  });

  test('a page waits no longer than to its deadline, and others wait on', async () => {
    answer = () => new Promise((resolve) => clock.schedule(() => resolve(counts), 800));
    const client = { query: jest.fn() };
    const index = make();
    const others = index.forReading();
    const page = fanOutQuery(client as never, index, { value: 'open' }, { clock, deadlineMs: 500 });
    await expect(clock.runUntil(page)).rejects.toThrow(ShardCountsUnavailableError);
    expect(clock.now()).toBe(500);
    expect(client.query).not.toHaveBeenCalled();
    expect(open(await clock.runUntil(others))).toEqual({ write: 4, read: 4 });
    expect([clock.now(), reads]).toEqual([800, 1]);
  });

  test('the application is told why', async () => {
    const reasons: unknown[] = [];
    const index = make({ onUnavailable: (error) => reasons.push(error) });
    answer = down;
    await clock.runUntil(index.forWriting());
    expect(reasons).toEqual([new Error('down')]);
  });

  test('counts that nobody can have written are no counts', async () => {
    counts = [grown('open', 4, 2)];
    const error = await clock.runUntil(make().forReading()).catch((caught) => caught);
    expect(error).toBeInstanceOf(ShardCountsUnavailableError);
    expect(error.cause).toBeInstanceOf(CorruptShardCountError);
  });
});

describe('an index of which more than 1,000 values have grown', () => {
  const GROWN = 8_500;
  let pages: number;
  let asked: (string | undefined)[];
  let latencyMs: number;
  let failures: number;
  const paged: ShardCountReader = {
    readCounts: () => Promise.reject(new Error('all at once')),
    readCountPage: async ({ from = 0, limit }) => {
      pages += 1;
      await clock.sleep(latencyMs);
      if (failures-- > 0) throw new Error('throttled');
      const next = Number(from) + limit;
      return { counts: counts.slice(Number(from), next), ...(next < counts.length && { next }) };
    },
    readCount: async (value) => {
      asked.push(value);
      await clock.sleep(latencyMs);
      return counts.find((count) => count.value === value);
    },
  };
  beforeEach(() => {
    counts = Array.from({ length: GROWN }, (_, nth) => grown(`tenant-${nth}`, 2, 2));
    [pages, asked, latencyMs, failures] = [0, [], 0, 0];
  });
  const large = (config = adaptiveConfig) =>
    new AdaptiveIndex(config, paged, { clock, timeOfDay: () => 0, random: () => 0.5 });
  const countOf = (config: ShardedIndexConfig, value: string) =>
    config.shards.byValue?.[value] ?? config.shards.default;

  test('is read by one query for as long as no more have grown', async () => {
    counts.length = 1_000;
    const { shards } = await clock.runUntil(large().forReading(undefined, ['tenant-7']));
    expect([Object.keys(shards.byValue!).length, pages, asked]).toEqual([1_000, 1, []]);
  });

  test('asks for the counts of the values of a page and of a write, and for no others', async () => {
    const index = large();
    latencyMs = 900;
    const page = await clock.runUntil(index.forReading(undefined, ['tenant-7', 'tenant-8000', 'rare']));
    expect(['tenant-7', 'tenant-8000', 'rare'].map((value) => countOf(page, value).read)).toEqual([2, 2, 1]);
    expect([clock.now(), pages, asked]).toEqual([1_800, 1, ['tenant-7', 'tenant-8000', 'rare']]);
    expect(countOf(await clock.runUntil(index.forWriting('tenant-7')), 'tenant-7').write).toBe(2);
    await clock.runUntil(index.forWriting(['tenant-7', 'tenant-8']));
    expect([pages, asked.slice(3)]).toEqual([1, ['tenant-8']]);
  });

  test('asks anew for a value that is used, from the age of ten seconds on', async () => {
    const index = large();
    await clock.runUntil(index.forReading(undefined, ['tenant-7']));
    await clock.runUntil(index.forReading(undefined, ['tenant-8']));
    counts[7] = grown('tenant-7', 2, 9);
    await pass(10_000);
    expect(countOf(await clock.runUntil(index.forReading(undefined, ['tenant-7'])), 'tenant-7').read).toBe(2);
    await pass(0);
    expect(countOf(await clock.runUntil(index.forReading(undefined, ['tenant-7'])), 'tenant-7').read).toBe(9);
    expect([pages, asked]).toEqual([1, ['tenant-7', 'tenant-8', 'tenant-7']]);
  });

  test('names a number by its digits, and asks for no value that is too long to have counts', async () => {
    const index = large();
    const long = 'x'.repeat(1_024);
    const longest = 'x'.repeat(1_023);
    counts.push(grown('1000000000000000000000', 3, 3));
    const { shards } = await clock.runUntil(index.forReading(undefined, [1e21, long, longest]));
    expect([shards.byValue, asked]).toEqual([
      { '1000000000000000000000': { write: 3, read: 3 } },
      ['1000000000000000000000', longest],
    ]);
    expect(await clock.runUntil(index.forReading(undefined, [long]))).toEqual(index.initial);
  });

  test('has the counts of the configuration for every other value', async () => {
    const shards = { default: { write: 1, read: 1 }, byValue: { paid: { write: 3, read: 3 } } };
    const config = await clock.runUntil(large({ ...adaptiveConfig, shards }).forWriting('tenant-7'));
    expect(config.shards.byValue).toEqual({ paid: { write: 3, read: 3 }, 'tenant-7': { write: 2, read: 2 } });
  });

  test('is read page by page if no values are named, and each page has a second of its own', async () => {
    const index = large();
    latencyMs = 900;
    const config = await clock.runUntil(index.forReading());
    expect([Object.keys(config.shards.byValue!).length, countOf(config, 'tenant-8000').read]).toEqual([GROWN, 2]);
    // One page showed that they are many.
    expect([pages, clock.now()]).toEqual([10, 10 * 900]);
    await clock.runUntil(index.forWriting());
    expect(pages).toBe(10);
  });

  test('asks a page again that has failed, and none of those before it', async () => {
    const index = large();
    await clock.runUntil(index.forReading(undefined, ['tenant-7']));
    failures = 2;
    await clock.runUntil(index.forReading());
    expect(pages).toBe(1 + 9 + 2);
  });

  test('fails for the values alone whose counts cannot be read', async () => {
    const index = large();
    counts[7] = grown('tenant-7', 4, 2);
    await expect(clock.runUntil(index.forReading(undefined, ['tenant-7']))).rejects.toThrow(
      ShardCountsUnavailableError,
    );
    expect(countOf(await clock.runUntil(index.forReading(undefined, ['tenant-8'])), 'tenant-8').read).toBe(2);
    expect(await clock.runUntil(index.forWriting('tenant-7'))).toBe(index.initial);
  });

  test('is read in time for a page: both questions share its deadline', async () => {
    latencyMs = 400;
    const page = fanOutQuery({ query: jest.fn() } as never, large(), { value: 'tenant-7' }, { clock, deadlineMs: 500 });
    await expect(clock.runUntil(page)).rejects.toThrow(ShardCountsUnavailableError);
    expect([clock.now(), asked]).toEqual([500, ['tenant-7']]);
  });
});

describe('a copy that replaces another', () => {
  const replaced = async (change: () => void, config = adaptiveConfig) => {
    const index = make({}, config);
    const before = await index.forReading();
    change();
    await pass(10_000);
    await index.forReading();
    await pass(0);
    return { before, after: await index.forReading() };
  };

  test('is the same configuration if no count has changed, so it needs no check', async () => {
    const { before, after } = await replaced(() => undefined);
    expect(after).toBe(before);
  });

  test('holds the same counts of the values that have not changed', async () => {
    const { before, after } = await replaced(() => counts.push(grown('paid', 2, 2)));
    expect(after).not.toBe(before);
    expect(after.shards.byValue!.open).toBe(before.shards.byValue!.open);
    expect(after.shards.byValue!.paid).toEqual({ write: 2, read: 2 });
  });

  test('has lower counts where the counts have fallen', async () => {
    const { after } = await replaced(() => (counts = [grown('open', 2, 4)]));
    expect(after.shards.byValue).toEqual({ open: { write: 2, read: 4 } });
  });
});
