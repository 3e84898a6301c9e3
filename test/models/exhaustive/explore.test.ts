import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { asTest, explore, replay, type Scenario } from './explore';
import type { World } from './world';

/** Processes that each increase a counter: read it, then write what was read and one more. */
function counters(
  processes: number,
  counterOf: (process: number) => string,
  { saysState = false } = {},
): Scenario & { ends: Set<string> } {
  const ends = new Set<string>();
  const play = async (world: World): Promise<void> => {
    const values = new Map<string, number>();
    const read = new Map<number, number>();
    if (saysState) world.says(() => JSON.stringify([[...values].sort(), [...read].sort()]));
    const increase = async (process: number): Promise<void> => {
      const counter = counterOf(process);
      await world.answer(`${process} reads`, { reads: [counter], writes: [`${process}`] });
      const value = values.get(counter) ?? 0;
      read.set(process, value);
      await world.answer(`${process} writes`, { reads: [`${process}`], writes: [counter] });
      values.set(counter, value + 1);
      read.delete(process);
    };
    await world.until(Promise.all(Array.from({ length: processes }, (_, process) => increase(process))));
    ends.add(JSON.stringify([...values].sort()));
    const total = [...values.values()].reduce((sum, value) => sum + value, 0);
    if (total < processes) throw new Error(`${processes - total} lost`);
  };
  return { name: 'counters', play, ends };
}

const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));

describe('explore', () => {
  test('plays every order of every step once', async () => {
    const scenario = counters(3, (process) => `own ${process}`);
    const expected = {
      runs: factorial(6) / 2 ** 3,
      pruned: 0,
      covered: factorial(6) / 2 ** 3,
      depth: 6,
      isComplete: true,
    };
    expect(await explore(scenario, { prune: false })).toEqual(expected);
  });

  test('leaves out orders of steps that commute', async () => {
    expect(await explore(counters(3, (process) => `own ${process}`))).toMatchObject({ runs: 1, isComplete: true });
  });

  test('comes to the same ends with and without pruning', async () => {
    for (const counterOf of [() => 'one', (process: number) => `${process % 2}`, (process: number) => `${process}`]) {
      const [pruning, whole] = [counters(4, counterOf), counters(4, counterOf)];
      // A failure would end the search for others: this one only collects.
      const collect = (scenario: typeof pruning): Scenario => ({
        name: 'collecting',
        play: (world) => scenario.play(world).catch(() => {}),
      });
      const [some, all] = [await explore(collect(pruning)), await explore(collect(whole), { prune: false })];
      expect(pruning.ends).toEqual(whole.ends);
      expect(some.runs).toBeLessThan(all.runs);
    }
  });

  test('goes on once from each state, and counts what it did not play again', async () => {
    for (const counterOf of [() => 'one', (process: number) => `${process % 2}`]) {
      const collect = (scenario: Scenario): Scenario => ({
        name: 'collecting',
        play: (world) => scenario.play(world).catch(() => {}),
      });
      const [once, each] = [counters(4, counterOf, { saysState: true }), counters(4, counterOf)];
      const [some, all] = [await explore(collect(once)), await explore(collect(each), { prune: false })];
      expect(once.ends).toEqual(each.ends);
      expect(some.runs).toBeLessThan(all.runs / 2);
      expect(some).toMatchObject({ covered: all.runs, depth: all.depth, isComplete: true });
    }
  });

  test('finds the shortest run that breaks a promise, whatever states it has seen', async () => {
    const [once, each] = [counters(3, () => 'one', { saysState: true }), counters(3, () => 'one')];
    const lengths = await Promise.all(
      [once, each].map(async (scenario) => (await explore(scenario)).failure!.decisions.length),
    );
    expect(lengths[0]).toBe(lengths[1]);
  });

  test('finds the shortest run that breaks a promise, and prints it as a test', async () => {
    const { failure } = await explore(counters(2, () => 'shared'));
    expect(failure!.decisions).toEqual(['0 reads', '1 reads', '0 writes', '1 writes']);
    expect(asTest('counters(2)', failure!)).toBe(
      [
        'test("1 lost", () =>',
        '  replay(counters(2), [',
        '    "0 reads",',
        '    "1 reads",',
        '    "0 writes",',
        '    "1 writes",',
        '  ]));',
      ].join('\n'),
    );
    await expect(
      replay(
        counters(2, () => 'shared'),
        failure!.decisions,
      ),
    ).rejects.toThrow('1 lost');
    await replay(
      counters(2, () => 'shared'),
      ['0 reads', '0 writes'],
    );
  });

  test('plays each option of a choice', async () => {
    const seen: string[] = [];
    const scenario: Scenario = {
      name: 'options',
      play: async (world) => {
        const first = world.choose('first', ['a', 'b']);
        seen.push(first + (first === 'a' ? world.choose('second', ['c', 'd']) : ''));
      },
    };
    expect(await explore(scenario)).toMatchObject({ runs: 3, isComplete: true });
    expect(seen).toEqual(['ac', 'ad', 'b']);
  });

  test('lets the earliest timer fire at any moment, and a later one never before it', async () => {
    const orders = new Set<string>();
    const scenario: Scenario = {
      name: 'timers',
      play: async (world) => {
        const order: string[] = [];
        const happens = [
          world.clock.sleep(20).then(() => order.push('late')),
          world.clock.sleep(10).then(() => order.push('early')),
          world.answer('answer', { writes: ['*'] }).then(() => order.push('answer')),
        ];
        await world.until(Promise.all(happens));
        orders.add(order.join(' '));
        expect(world.clock.now()).toBe(20);
      },
    };
    await explore(scenario);
    expect([...orders].sort()).toEqual(['answer early late', 'early answer late', 'early late answer']);
  });

  test('fails where nothing can happen any more', async () => {
    const scenario: Scenario = { name: 'hangs', play: (world) => world.until(new Promise<void>(() => {})) };
    expect((await explore(scenario)).failure!.error.message).toContain('nothing can happen any more');
  });

  test('says so when something else can happen the next time', async () => {
    let runs = 0;
    const scenario: Scenario = {
      name: 'growing',
      play: async (world) => {
        const names = runs++ === 0 ? ['first'] : ['first', 'second'];
        await world.until(
          Promise.all([
            ...names.map((name) => world.answer(name, { writes: ['*'] })),
            world.answer('last', { writes: [] }),
          ]),
        );
      },
    };
    expect((await explore(scenario)).failure!.error.message).toContain('not the same each time');
  });

  test('begins with everything that runs by itself, also in the turn in which a program starts', () => {
    const program = `
      import { explore } from './test/models/exhaustive/explore';
      const play = (world) => world.until((async () => {
        for (let turn = 0; turn < 20; turn++) await undefined;
        await Promise.all(['a', 'b'].map((name) => world.answer(name, { writes: ['*'] })));
      })());
      explore({ name: 'starting', play }).then(({ runs }) => console.log(runs));`;
    const outfile = join(mkdtempSync(join(tmpdir(), 'starting-')), 'program.js');
    const stdin = { contents: program, resolveDir: process.cwd(), loader: 'ts' } as const;
    buildSync({ stdin, bundle: true, platform: 'node', outfile });
    const { stdout } = spawnSync(process.execPath, [outfile], { encoding: 'utf8' });
    expect(stdout.trim()).toBe('2');
  });

  test('says so when a scenario is not the same each time', async () => {
    let runs = 0;
    const scenario: Scenario = {
      name: 'changing',
      play: async (world) => {
        const run = runs++;
        await world.until(
          Promise.all([1, 2].map((number) => world.answer(`${run === 0 ? '' : 'other '}${number}`, { writes: ['*'] }))),
        );
      },
    };
    expect((await explore(scenario)).failure!.error.message).toContain('not the same each time');
  });

  test('ends after as many runs as it is given', async () => {
    const scenario = { ...counters(3, () => 'shared'), name: 'many' };
    expect(await explore(scenario, { maxRuns: 1, prune: false })).toMatchObject({ runs: 1, isComplete: false });
  });
});
