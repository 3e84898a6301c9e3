import { UsageError } from '../../../../bin/flags';
import { plan } from '../../../../bin/plan';
import { planHotItem } from '../../../../lib/core';
import { printed as printedBy } from '../../../support/command';

const printed = (...args: string[]) => printedBy(plan, 'item', ...args);

describe('even-shards plan item', () => {
  test('prints how far caches of one second reduce the reads of an item above 3,000 read units', async () => {
    const text = await printed('--reads-per-second', '50000', '--item-kb', '5', '--caches', '40');
    expect(text).toBe(
      [
        'one item, 50,000 eventually consistent reads of 5 KB a second',
        '',
        'without a cache: 50,000 read units a second, 1,667% of what its partition takes',
        'with 40 caches of 1 s: 40 read units a second at most',
        '',
        'use a cache: the item needs more than the 3,000 read units a second of its partition, and more shards do not help one item',
      ].join('\n'),
    );
  });

  test('prints that an item below 3,000 read units needs no cache', async () => {
    const text = await printed('--reads-per-second', '100', '--cache-seconds', '0.5');
    expect(text).toContain('without a cache: 50 read units a second, 1.7% of what its partition takes');
    expect(text).toContain('with 1 cache of 0.5 s: 1 read units a second at most');
    expect(text).toMatch(/the item needs at most the 3,000 read units a second of its partition$/);
  });

  test('with --consistent, prints that a cache has no effect', async () => {
    const text = await printed('--reads-per-second', '4000', '--consistent');
    expect(text).toContain('4,000 read units a second, 133%');
    expect(text).not.toContain('cache of');
    expect(text).toMatch(/use eventually consistent reads/);
  });

  test('prints the plan as JSON', async () => {
    const plan = planHotItem({ readsPerSecond: 7_000, caches: 3 });
    expect(JSON.parse(await printed('--reads-per-second', '7000', '--caches', '3', '--json'))).toEqual(plan);
  });

  test.each<[string[], string]>([
    [[], 'give --reads-per-second'],
    [['--reads-per-second', '0'], '--reads-per-second must be a number above 0'],
    [['--reads-per-second', '5', '--caches', '0'], '--caches must be a whole number from 1 to 100000'],
    [['--reads-per-second', '5', '--item-kb', '1025'], '--item-kb must be a number above 0 and at most 1024'],
    [['--reads-per-second', '5', '--shards', '3'], "unknown option '--shards'"],
  ])('rejects %j', async (args, problem) => {
    const error = await printed(...args).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect(error.problem).toContain(problem);
    expect(error.problem).toContain('see `even-shards plan item --help`');
  });
});
