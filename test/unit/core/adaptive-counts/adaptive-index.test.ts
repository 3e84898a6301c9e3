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
    ['config.shards.default.write', {}],
    ['config.shards.default.read', { default: { write: 1 } }],
    ['config.shards.byValue["open"].write', { default: { write: 1, read: 1 }, byValue: { open: null } }],
  ])('is refused without %s', (field, shards) => {
    expect(() => make({}, { ...adaptiveConfig, shards } as never)).toThrow(InvalidShardCountError);
    expect(() => make({}, { ...adaptiveConfig, shards } as never)).toThrow(field);
  });

  test.each([[''], [5], [null], [{ toString: 'x' }]])('is refused with the table name %j', (tableName) => {
    expect(() => make({}, { ...adaptiveConfig, tableName } as never)).toThrow('config.tableName must be');
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

  test('a page with a deadline that is none asks for no counts', async () => {
    const page = fanOutQuery({ query: jest.fn() } as never, make(), { value: 'open' }, { clock, deadlineMs: -1 });
    await expect(page).rejects.toThrow('deadlineMs must be');
    expect(reads).toBe(0);
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
