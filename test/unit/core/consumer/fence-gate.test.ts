import {
  type FencedMove,
  FenceGate,
  type FenceGateOptions,
  InvalidArgumentError,
  MemoryFenceStore,
  MoveInProgressError,
  parseFence,
} from '../../../../lib/core';
import { fenceData } from '../../../../lib/core/stream-format/fence';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';

interface TestRecord {
  partitionKey: string;
  data: Uint8Array;
}

/** Records like `a1`, and fences like `a:end m`. */
function records(...names: string[]): TestRecord[] {
  return names.map((name) => {
    const [, side, moveId] = /^.:(end|start) (.*)$/.exec(name) ?? [];
    const data = side ? fenceData({ side: side as 'end' | 'start', moveId: moveId! }) : Buffer.from(name);
    return { partitionKey: name[0]!, data };
  });
}
const namesOf = (run: readonly TestRecord[]): string[] => run.map(({ data }) => Buffer.from(data).toString());

describe('FenceGate', () => {
  let clock: VirtualClock;
  let store: MemoryFenceStore;
  let letGo: FencedMove[];
  beforeEach(() => {
    clock = new VirtualClock();
    store = new MemoryFenceStore();
    letGo = [];
  });
  const gate = (options: FenceGateOptions = {}) =>
    new FenceGate({ store, clock, random: () => 0.5, onLetGo: (move) => letGo.push(move), ...options });
  /** Reads batches of shards side by side, each from a time on and 1 s a run. Returns what was processed, in order. */
  const processed = async (...batches: { names: string[]; fromMs: number }[]): Promise<string[]> => {
    const seen: string[] = [];
    const reads = batches.map(async ({ names, fromMs }) => {
      await clock.sleep(fromMs);
      for await (const run of gate().runs(records(...names))) {
        await clock.sleep(1_000);
        seen.push(...namesOf(run));
      }
    });
    await clock.runUntil(Promise.all(reads));
    return seen;
  };
  const read = async (names: string[], reader = gate(), signal?: AbortSignal): Promise<string[][]> => {
    const runs: string[][] = [];
    for await (const run of reader.runs(records(...names), signal)) runs.push(namesOf(run));
    return runs;
  };

  test('gives a batch without fences as one run, and asks the store for nothing', async () => {
    const nothing = { end: () => expect(1).toBe(0), wait: () => expect(1).toBe(0) };
    expect(await read(['a1', 'b1', 'a2'], gate({ store: nothing as never }))).toEqual([['a1', 'b1', 'a2']]);
    expect(await read([])).toEqual([]);
  });

  test('takes out the fences of a move that has ended', async () => {
    expect(await read(['a1', 'a:end m'])).toEqual([['a1']]);
    expect(await read(['a:start m', 'a2'])).toEqual([['a2']]);
    expect(await read(['a3', 'a:end n', 'a:start n', 'a4'])).toEqual([['a3', 'a4']]);
  });

  test('leaves an end fence with a sequence in the run, for the history', async () => {
    const sequence = { producerId: 'p', sequenceNumber: 7n };
    const runsOf = async (...names: string[]): Promise<string[][]> => {
      const runs: string[][] = [];
      const batch = records(...names).map((record) => ({ ...record, sequence }));
      for await (const run of gate().runs(batch)) runs.push(run.map((record) => names[batch.indexOf(record)]!));
      return runs;
    };
    expect(await runsOf('a1', 'a:end m', 'a2', 'b:end m')).toEqual([['a1', 'a:end m', 'a2', 'b:end m']]);
    expect(await runsOf('a:end n')).toEqual([['a:end n']]);
    expect(await runsOf('a:start n', 'a3')).toEqual([['a3']]);
  });

  test('has not ended a move whose fence is in a run that was not processed', async () => {
    const alone = records('a:end m').map((record) => ({
      ...record,
      sequence: { producerId: 'p', sequenceNumber: 7n },
    }));
    for await (const _ of gate().runs(alone)) break;
    expect(await store.wait({ moveId: 'm', partitionKey: 'a' }, 0)).toMatchObject({ hasEnded: false });
  });

  test('holds the records of the moved key until the records in front of the end fence are processed', async () => {
    const moved = ['b1', 'a:start m', 'a2', 'b2', 'a3', 'a:end n', 'a:start n', 'a4'];
    const seen = await processed({ names: moved, fromMs: 0 }, { names: ['a1', 'a:end m', 'c1'], fromMs: 5_000 });
    expect(seen).toEqual(['b1', 'b2', 'a1', 'c1', 'a2', 'a3', 'a4']);
    expect(letGo).toEqual([]);
  });

  test('keeps the order of a key that leaves a shard and comes back within a batch', async () => {
    const seen = await processed(
      { names: ['a:start m', 'a2', 'a:end n', 'a:start o', 'a4'], fromMs: 0 },
      { names: ['a:start n', 'a3', 'a:end o'], fromMs: 0 },
      { names: ['a1', 'a:end m'], fromMs: 5_000 },
    );
    expect(seen).toEqual(['a1', 'a2', 'a3', 'a4']);
    expect(letGo).toEqual([]);
  });

  test('has ended no move when the loop is left in front of its end', async () => {
    for await (const _ of gate().runs(records('a1', 'a:end m'))) break;
    expect(await store.wait({ moveId: 'm', partitionKey: 'a' }, 0)).toEqual({ hasEnded: false, waitedMs: 0 });
  });

  test('goes on at once after a restart between the fences, if the store outlived it', async () => {
    await read(['a1', 'a:end m']);
    expect(await read(['a:start m', 'a2'], gate())).toEqual([['a2']]);
    expect(clock.now()).toBe(0);
  });

  test('lets a move go whose end fence does not come, once, after the time it was given', async () => {
    expect(await clock.runUntil(read(['b1', 'a:start m', 'a2', 'b2']))).toEqual([['b1', 'b2'], ['a2']]);
    expect(letGo).toEqual([{ moveId: 'm', partitionKey: 'a' }]);
    expect(clock.now()).toBeGreaterThanOrEqual(60_000);
    expect(clock.now()).toBeLessThan(63_000);
    expect(await read(['a:start m', 'a2'])).toEqual([['a2']]);
    expect(letGo).toHaveLength(1);
  });

  test('adds up the times of readers that had to stop, and leaves what waits to be read again', async () => {
    for (let reader = 1; reader <= 3; reader++) {
      const stop = new AbortController();
      clock.schedule(() => stop.abort(), 20_000);
      const stopped = clock.runUntil(read(['b1', 'a:start m', 'a2'], gate(), stop.signal));
      if (reader < 3) await expect(stopped).rejects.toThrow(MoveInProgressError);
      else expect(await stopped).toEqual([['b1'], ['a2']]);
    }
    expect(clock.now()).toBeLessThanOrEqual(60_000);
  });

  test('waits for all keys of a batch at the same time', async () => {
    const starts = Array.from('abcdefgh', (key) => `${key}:start m`);
    expect(await clock.runUntil(read([...starts, 'a1', 'h1']))).toEqual([['a1', 'h1']]);
    expect(letGo).toHaveLength(8);
    expect(clock.now()).toBeLessThan(63_000);
  });

  test('keeps moves of several keys and attempts apart', async () => {
    await read(['a:end m', 'b:end n']);
    expect(await clock.runUntil(read(['a:start n', 'a1', 'b:start n', 'b1'], gate({ maxWaitMs: 10 })))).toEqual([
      ['b1'],
      ['a1'],
    ]);
    expect(letGo).toEqual([{ moveId: 'n', partitionKey: 'a' }]);
  });

  test('remembers as many moves as its memory has room for', async () => {
    store = new MemoryFenceStore(1);
    await read(['a:end m', 'a:end n']);
    expect(await store.wait({ moveId: 'n', partitionKey: 'a' }, 0)).toMatchObject({ hasEnded: true });
    expect(await store.wait({ moveId: 'm', partitionKey: 'a' }, 0)).toMatchObject({ hasEnded: false });
  });

  test('waits for no time where it may not, and lets go', async () => {
    expect(await read(['a:start m', 'a1'], gate({ maxWaitMs: 0 }))).toEqual([['a1']]);
    expect(clock.now()).toBe(0);
  });

  test.each([-1, Number.NaN, Infinity])('refuses to wait for %d ms', (maxWaitMs) => {
    expect(() => new FenceGate({ maxWaitMs })).toThrow(InvalidArgumentError);
  });
});

describe('parseFence', () => {
  const fenceLike = (text: string) => Buffer.from(`\0even-shards-fence\0${text}`);

  test('reads what handOver writes', () => {
    expect(parseFence(fenceData({ moveId: 'm', side: 'end' }))).toEqual({ moveId: 'm', side: 'end' });
  });

  test.each([
    '',
    '{',
    'null',
    '7',
    '{}',
    '{"moveId":"m","side":"middle"}',
    '{"moveId":7,"side":"end"}',
    '{"side":"end"}',
  ])('takes data that begin as a fence and go on with %j for data', (text) => {
    expect(parseFence(fenceLike(text))).toBeUndefined();
  });

  test('takes data that begin almost as a fence for data, whatever follows', () => {
    const data = Buffer.from(fenceData({ moveId: 'm', side: 'end' }));
    for (const at of [0, 1, 18]) {
      expect(parseFence(data.map((byte, index) => (index === at ? byte + 1 : byte)))).toBeUndefined();
    }
  });

  test('takes a move with an id too long for a key of the store for data', () => {
    expect(parseFence(fenceLike(JSON.stringify({ moveId: 'm'.repeat(65), side: 'end' })))).toBeUndefined();
  });
});
