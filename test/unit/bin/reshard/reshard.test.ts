import fc from 'fast-check';
import { UsageError } from '../../../../bin/flags';
import { reshard } from '../../../../bin/reshard';
import { shardCountsCode } from '../../../../bin/reshard/reshard-report';
import { ShardCounts } from '../../../../lib';
import { planIndexReshard, planTableReshard } from '../../../../lib/core';
import { printed as printedBy } from '../../../support/command';
import { randomRuns } from '../../../support/random-runs';

const printed = (...args: string[]) => printedBy(reshard, ...args);

describe('even-shards reshard', () => {
  test('prints the deployments that increase the shards of an index', async () => {
    expect(await printed('--from', '1', '--from', 'shipped=20', '--to', '1', '--to', 'shipped=40')).toContain(
      [
        '1. deploy: readers must query the new shards before writers use them',
        "   shardCounts: ShardCounts.byValue({ 'shipped': 20 }, 1).alsoReading(ShardCounts.byValue({ 'shipped': 40 }, 1))",
        '',
        '2. deploy: writers spread items over the new number of shards',
        "   shardCounts: ShardCounts.byValue({ 'shipped': 40 }, 1)",
        '',
      ].join('\n'),
    );
  });

  test('prints the shards to drain if the shard count of an index decreases', async () => {
    const text = await printed('--from', '10', '--from', 'a=3', '--to', '4', '--to', 'a=2');
    expect(text).toContain('   shards 4 to 9 of the table, or of every value without a count of its own\n');
    expect(text).toContain("   shard 2 of 'a'\n");
  });

  test.each([
    [[], 'wait another 90 minutes: '],
    [['--longest-write', '900'], 'wait another 15 minutes: '],
    [['--table', '--longest-write', '45'], 'wait another 45 seconds: '],
  ])('%j – prints how long to wait after a deployment', async (args, wait) => {
    expect(await printed('--from', '10', '--to', '4', ...args)).toContain(wait);
  });

  test('--from 10/20 – the plan has a single step – prints the wait after the deployment before this step, and no drain', async () => {
    const text = await printed('--from', '10/20', '--to', '20', '--longest-write', '900');
    expect(text).toContain(
      'After each deployment, also after the last deployment before step 1, wait another 15 minutes',
    );
    expect(text).not.toContain('drained');
  });

  test('rejects a --longest-write of more than a day', async () => {
    const args = ['--from', '10', '--to', '4', '--longest-write=86401'];
    await expect(reshard(args)).rejects.toThrow(UsageError);
    await expect(reshard(args)).rejects.toThrow('--longest-write must be');
  });

  test('continues an interrupted change of the shard count of an index', async () => {
    const text = await printed('--from', '10/20', '--to', '20');
    expect(text).toMatch(/^1\. deploy: writers spread .*\n {3}shardCounts: ShardCounts\.uniform\(20\)\n\nBegin/);
  });

  test('continues an interrupted change of the shard count of a table, from each step', async () => {
    const steps = planTableReshard({ default: { write: 5, read: 5 } }, { default: 6 });
    const json = async (from: string) => JSON.parse(await printed('--table', '--from', from, '--to', '6', '--json'));
    expect(await json('5')).toEqual(steps);
    expect(await json('5/6')).toEqual(steps.slice(1));
    expect(await json('6/6/5')).toEqual(steps.slice(2));
    expect(await printed('--table', '--from', '5', '--from', 'a=6/6/5', '--to', '5', '--to', 'a=6')).toMatch(
      /^1\. move/,
    );
  });

  test.each([
    [['--from', '6/6/5'], '--from must be N, VALUE=N, W/R or VALUE=W/R'],
    [['--table', '--from', '6/6/7'], '--from must be W/R/S with S at most W, got "6/6/7"'],
  ])('rejects %j', async (args, message) => {
    await expect(reshard([...args, '--to', '6'])).rejects.toThrow(UsageError);
    await expect(reshard([...args, '--to', '6'])).rejects.toThrow(message);
  });

  test('--adopt prints how to adopt an index on a table with items', async () => {
    expect(await printed('--adopt', '--to', '1', '--to', 'shipped=4')).toBe(
      [
        '1. deploy: writers must give new items a shard before the backfill begins',
        "   writers: shardCounts: ShardCounts.byValue({ 'shipped': 4 }, 1)",
        '',
        '2. backfill: existing items have no shard, and queries do not find them',
        '',
        '3. deploy: the index contains every item',
        "   readers: shardCounts: ShardCounts.byValue({ 'shipped': 4 }, 1)",
        '',
        'Begin a step when the step before it is complete everywhere: when a deployment has reached every reader and writer,',
        'and when reshardItems, or IndexItemMover, has read the whole table.',
        'After each deployment, also after the last deployment before step 1, wait another 90 minutes: an invocation that began before',
        'the deployment can use the earlier counts until then.',
        'To shorten the wait, give the longest timeout of your readers and writers as --longest-write SECONDS.',
      ].join('\n'),
    );
    expect(JSON.parse(await printed('--adopt', '--to', '3', '--json'))).toEqual(
      planIndexReshard(undefined, { default: 3 }),
    );
  });

  test('with --table, prints the deployments and the move of items for a table that is sharded by its own key', async () => {
    expect(await printed('--table', '--from', '5', '--to', '6')).toBe(
      [
        '1. deploy: every writer must know all places of an item before writers use another count',
        '   shardCounts: ShardCounts.uniform(5).alsoReading(ShardCounts.uniform(6))',
        '',
        '2. deploy: writers use the new number of shards',
        '   shardCounts: ShardCounts.uniform(6).since(ShardCounts.uniform(5))',
        '',
        '3. move: items stay at the places of earlier counts until reshardItems moves them',
        '',
        '4. deploy: each item has one place',
        '   shardCounts: ShardCounts.uniform(6)',
        '',
        'Begin a step when the step before it is complete everywhere: when a deployment has reached every reader and writer,',
        'and when reshardItems has read the whole table and has moved all items.',
        'After each deployment, also after the last deployment before step 1, wait another 90 minutes: an invocation that began before',
        'the deployment can use the earlier counts until then.',
        'To shorten the wait, give the longest timeout of your readers and writers as --longest-write SECONDS.',
      ].join('\n'),
    );
  });

  test('with --adaptive, prints the code of adaptive counts and their initial counts', async () => {
    const text = await printed('--adaptive', '128', '--from', '2', '--from', 'a=9', '--to', '4', '--to', 'a=3');
    expect(text).toContain(
      [
        "   shardCounts: ShardCounts.adaptive({ initial: 4, initialByValue: { 'a': 3 }, maximum: 128 }).alsoReading(" +
          "ShardCounts.byValue({ 'a': 9 }, 4))",
        '',
        '3. drain: the shards that writers no longer use still contain items',
        "   shards 3 to 8 of 'a'",
        '   for a value with a larger count, only the shards above that count',
        '',
        '4. deploy: readers query only the shards that writers use',
        "   shardCounts: ShardCounts.adaptive({ initial: 4, initialByValue: { 'a': 3 }, maximum: 128 })",
      ].join('\n'),
    );
    const adopted = await printed('--adopt', '--adaptive', '64', '--to', '1');
    expect(adopted).toContain('   writers: shardCounts: ShardCounts.adaptive({ initial: 1, maximum: 64 })\n');
  });

  test('prints that nothing changes if the counts are equal', async () => {
    expect(await printed('--from', '3', '--to', '3')).toBe('the counts are the same: no deployment is necessary');
  });

  test('prints the steps as JSON', async () => {
    const current = { default: { write: 2, read: 2 } };
    expect(JSON.parse(await printed('--from', '2', '--to', '5', '--to', 'a=7', '--json'))).toEqual(
      planIndexReshard(current, { default: 5, byValue: { a: 7 } }),
    );
  });

  const made = (code: string): ShardCounts => new Function('ShardCounts', `return ${code}`)(ShardCounts);

  test('prints code that creates the counts of each step', () => {
    const anyCount = fc.integer({ min: 1, max: 10_000 });
    const anyText = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom("it's", '"', '\\', '\n', '7', '__proto__'));
    const anyCounts = fc.record({
      default: anyCount,
      byValue: fc.dictionary(anyText, anyCount, { noNullPrototype: true }),
    });
    fc.assert(
      fc.property(anyCounts, anyCounts, (from, to) => {
        const counts = ShardCounts.byValue(from.byValue, from.default)._config;
        for (const step of [...planIndexReshard(counts, to), ...planTableReshard(counts, to)]) {
          if (step.action !== 'deploy') continue;
          expect(made(shardCountsCode(step.shards))._config).toEqual(step.shards);
        }
        for (const step of planIndexReshard(counts, to)) {
          if (step.action !== 'deploy') continue;
          const adaptive = made(shardCountsCode(step.shards, 10_000));
          expect([adaptive._config, adaptive._maximum]).toEqual([step.shards, 10_000]);
        }
      }),
      { numRuns: randomRuns(100) },
    );
  });

  test.each<[string[], string]>([
    [['--from', '3'], 'give --from and --to'],
    [['--adopt', '--from', '1', '--to', '3'], '--adopt is for a table without deployed counts: leave out --from'],
    [
      ['--adopt', '--table', '--to', '3'],
      '--adopt is for an index: the items of a table have their shards in their key',
    ],
    [
      ['--adaptive', '64', '--table', '--from', '1', '--to', '3'],
      '--adaptive is for an index: a table has no adaptive counts',
    ],
    [['--adaptive', '0', '--from', '1', '--to', '3'], '--adaptive must be a whole number from 1 to 10000, got 0'],
    [
      ['--adaptive', '4', '--from', '1', '--to', '1', '--to', 'a=5'],
      '--adaptive must be at least 5, the initial count of a value, got 4',
    ],
    [['--from', 'many', '--to', '3'], '--from must be N, VALUE=N, W/R or VALUE=W/R with whole numbers, got "many"'],
    [['--from', '3', '--to', '3/4'], '--to must be N or VALUE=N with whole numbers, got "3/4"'],
    [
      ['--from', '3', '--to', '10001'],
      '--to must be a whole number from 1 to 10000 (a query reads every shard for each page), got 10001',
    ],
    [['--from', '3/2', '--to', '3'], '--from must have at least as many shards for readers as for writers, got "3/2"'],
    [['--from', '3', '--from', 'a=1', '--from', 'a=2', '--to', '3'], '--from must have one count of a'],
    [['--from', '3', '--to', 'a=3'], '--to must have one count without a value (the count of all other values)'],
  ])('rejects %j', async (args, problem) => {
    const error = await reshard(args).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect(error.problem).toBe(`${problem}: see \`even-shards reshard --help\``);
  });
});
