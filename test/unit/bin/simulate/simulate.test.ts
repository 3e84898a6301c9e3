import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../../../bin/flags';
import { InvalidInputError } from '../../../../bin/invalid-input-error';
import { simulate } from '../../../../bin/simulate';
import { events, printed, sampleFolder } from '../../../support/command';

const samples = sampleFolder();

interface Simulated {
  records: number;
  keys: number;
  shardCounts: number[];
  placements: { name: string; loads: number[][]; hottest: number[] }[];
}

async function simulated(...args: string[]) {
  const report: Simulated = JSON.parse(await printed(simulate, ...args, '--json'));
  return { ...report, of: (name: string) => report.placements.find((placement) => placement.name === name)! };
}

describe('even-shards simulate', () => {
  test.each([
    [14, '3 and 11'],
    [24, '9 and 15'],
    [49, '23 and 26'],
    [99, '45 and 54'],
  ])(
    'places the numbers from 1 to %i with the same result as "Kinesis Hash Key Space Partitioning": %s',
    async (keys, counts) => {
      const report = await printed(simulate, '--keys', String(keys), '--key-format', 'number', '--shards', '2');
      expect(report).toContain(`by partition key (MD5) the shards have, one after the other, ${counts} keys\n`);
    },
  );

  test('golden: --each prints the hash key and the shard of the keys 1 to 14 as the Python script of the article', async () => {
    const each = ['--each', '--keys', '14', '--key-format', 'number', '--shards', '2'];
    const printedLines = (await printed(simulate, ...each)).trimEnd().split('\n').slice(2);
    // Copied from "Kinesis Hash Key Space Partitioning". The article calls the shards shard1 and shard2.
    const article = [
      ['261578874264819908609102035485573088411', 1],
      ['266003691477286198901011725417809479212', 1],
      ['314755909755515592000481005244904880883', 1],
      ['223974724102701384270894320508706361900', 1],
      ['304197110536387568331823853743770900693', 1],
      ['29871468615243985478486908056489800412', 0],
      ['190188081314515644627836686569786975555', 1],
      ['268426020319259673719831598091001013101', 1],
      ['92737277766069325975379119957797678374', 0],
      ['281595222973318803755638905082365601824', 1],
      ['134349327668835346876933282647662472650', 0],
      ['257926471090385021762358474659294308112', 1],
      ['262007925198482523730006737380068994873', 1],
      ['226898901170458510997176709786703486038', 1],
    ];
    expect(printedLines.map((line) => line.trim().split(/ +/))).toEqual(
      article.map(([hashKey, shard], index) => [String(index + 1), hashKey, String(shard)]),
    );
    expect(JSON.parse(await printed(simulate, ...each, '--json'))).toEqual(
      article.map(([hashKey, shard], index) => ({ key: String(index + 1), hashKey, shard })),
    );
    await expect(printed(simulate, ...each, '--svg', 'a.svg')).rejects.toThrow(
      '--each prints no plots: leave out --svg',
    );
  });

  test('golden: MD5 puts 3 of the keys 1 to 14 into the lower half, and 11 into the upper half', async () => {
    const file = samples.file(
      'fourteen.ndjson',
      Array.from({ length: 14 }, (_, n) => JSON.stringify({ key: n + 1 })),
    );
    const { of } = await simulated('--input', file, '--key', 'key', '--shards', '2', '--doublings', '0');
    expect(of('partition-key').loads).toEqual([[3, 11]]);
    expect(of('balanced').loads).toEqual([[7, 7]]);
  });

  test('golden: the left-to-right order puts 15 of 23 keys into the left half, and the balanced order puts 12', async () => {
    const { of } = await simulated('--keys', '23', '--shards', '2', '--doublings', '0');
    expect(of('left-to-right').hottest[0]! * 11.5).toBeCloseTo(15);
    expect(of('balanced').hottest[0]! * 11.5).toBeCloseTo(12);
  });

  test.each([
    ['64', '8'],
    ['100', '10'],
    ['43', '7'],
  ])(
    'allocated keys put at most ceil(keys / shards) keys into each shard: %s keys on %s shards',
    async (keys, shards) => {
      const { of, shardCounts } = await simulated('--keys', keys, '--shards', shards);
      const most = of('allocator').hottest.map((multiple, level) => (multiple * Number(keys)) / shardCounts[level]!);
      expect(most.map((owners) => Math.round(owners))).toEqual(
        shardCounts.map((count) => Math.ceil(Number(keys) / count)),
      );
    },
  );

  test('every strategy places every record', async () => {
    const { records, placements, shardCounts } = await simulated('--keys', '500', '--skew', '1', '--shards', '6');
    expect(shardCounts).toEqual([6, 12, 24]);
    expect(placements.map(({ name }) => name)).toEqual([
      'partition-key',
      'left-to-right',
      'alternating',
      'balanced',
      'allocator',
      'allocator-by-weight',
      'random-suffix',
      'calculated-suffix',
      'product-suffix',
    ]);
    for (const { loads } of placements) {
      for (const load of loads) expect(load.reduce((sum, each) => sum + each, 0)).toBe(records);
    }
  });

  test('shows that the product of the code points, as AWS documents it, puts UUIDs into one shard', async () => {
    const { of } = await simulated('--keys', '5000', '--key-format', 'uuid', '--shards', '200', '--doublings', '0');
    expect(of('product-suffix').hottest[0]).toBeGreaterThan(100);
    expect(of('calculated-suffix').hottest[0]).toBeLessThan(2);
  });

  test('divides the shards among the values by their weights', async () => {
    const file = samples.file('values.ndjson', events(3_000, 7).concat(events(0, 7)));
    const { of } = await simulated('--input', file, '--key', 'account', '--id', 'id', '--shards', '10');
    expect(of('weighted-suffix').loads[0]!.length).toBeGreaterThan(10);
  });

  test('never reports a maximum below the mean, and names the strategy of the summary', async () => {
    for (const [busy, others] of [
      [3_000, 7],
      [0, 30],
      [500, 300],
      [1, 1],
    ] as const) {
      const file = samples.file(`mean-${busy}.ndjson`, events(busy, others));
      const { placements } = await simulated('--input', file, '--key', 'account', '--shards', '10');
      for (const { hottest } of placements) for (const multiple of hottest) expect(multiple).toBeGreaterThanOrEqual(1);
    }
    const equal = await printed(simulate, '--keys', '64');
    expect(equal).toContain('with balanced explicit hash keys (allocator) 1.00 times');
    const unequal = await printed(simulate, '--keys', '64', '--skew', '1');
    expect(unequal).toMatch(/with balanced explicit hash keys by weight \(allocator by weight\) \d\.\d\d times/);
  });

  test('warns in capitals if balanced keys without weights are worse than MD5', async () => {
    const lines = Array.from({ length: 40 }, (_, n) => n).flatMap((n) =>
      Array.from({ length: n % 8 === 0 ? 200 : 1 }, () => JSON.stringify({ key: `k${n}` })),
    );
    const file = samples.file('unequal.ndjson', lines);
    const { of } = await simulated('--input', file, '--key', 'key');
    const report = await printed(simulate, '--input', file, '--key', 'key');
    const isWorse = of('allocator').hottest[0]! > of('partition-key').hottest[0]!;
    expect(isWorse).toBe(true);
    expect(report).toContain('BALANCED KEYS WITHOUT WEIGHTS ARE WORSE THAN MD5 HERE');
    expect(await printed(simulate, '--keys', '64')).not.toContain('WORSE');
  });

  test('reports a key whose load no placement can spread', async () => {
    const file = samples.file('skewed.ndjson', events(300, 700));
    const report = await printed(simulate, '--input', file, '--key', 'account');
    expect(report).toContain('1,000 records of 701 keys on 8 shards; the busiest key, busy, has 30% of the records');
    expect(report).toContain('no placement of whole keys goes below 2.40 times: that is busy alone');
  });

  test('prints the same result if the seed is the same', async () => {
    const args = ['--keys', '100', '--shards', '5', '--json'];
    const first = await printed(simulate, ...args, '--seed', '7');
    expect(await printed(simulate, ...args, '--seed', '7')).toBe(first);
    expect(await printed(simulate, ...args, '--seed', '8')).not.toBe(first);
  });

  test('--svg writes XML without scripts and links', async () => {
    const file = samples.path('picture.svg');
    const input = samples.file('markup.ndjson', [JSON.stringify({ key: '<b>&"\'' })]);
    await printed(simulate, '--input', input, '--key', 'key', '--svg', file);
    const picture = readFileSync(file, 'utf8');
    expect(picture).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    expect(picture.match(/https?:/g)).toHaveLength(1);
    expect(picture).not.toMatch(/<script|<b>|NaN|undefined|Infinity/);
  });

  test('--svg draws the picture of the guide', async () => {
    const file = samples.path('guide.svg');
    await printed(simulate, '--keys', '100', '--skew', '0.5', '--shards', '16', '--svg', file);
    const guide = join(__dirname, '../../../../docs/guides/simulation.svg');
    expect(readFileSync(guide, 'utf8') === readFileSync(file, 'utf8')).toBe(true);
  });

  const commits = join(__dirname, '../../../../../shared/data/commits.ndjson.gz');
  (existsSync(commits) ? test : test.skip)(
    'reports the one of 43 repositories whose commits are too many for a shard',
    async () => {
      const args = ['--input', commits, '--key', 'repository', '--id', 'commit'];
      const { keys, of } = await simulated(...args);
      expect(keys).toBe(43);
      expect(of('allocator-by-weight').hottest[0]).toBeLessThan(of('partition-key').hottest[0]! - 0.4);
      expect(await printed(simulate, ...args)).toContain(
        'that is getmoto/moto alone, which only splitting the key fixes',
      );
    },
    60_000,
  );

  test.each([
    [['--input', 'a'], '--input needs --key'],
    [['--input', 'a', '--key', 'b', '--keys', '5'], '--input already contains the keys: leave out --keys'],
    [['--keys', '0'], '--keys must be a whole number from 1 to 10000000, got 0'],
    [['--shards', 'x'], '--shards must be a number, got "x"'],
    [['--skew', '3'], '--skew must be a number from 0 to 2, got 3'],
    [
      ['--shards', '5000'],
      '--shards after all doublings must be a whole number from 1 to 10000 (the most shards of a Kinesis stream), got 20000',
    ],
    [['--key-format', 'ulid'], '--key-format must be one of account, number, uuid, got "ulid"'],
  ])('rejects %j', async (args, problem) => {
    const error = await simulate(args).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect(error.problem).toBe(`${problem}: see \`even-shards simulate --help\``);
  });

  test('rejects a malformed line, and prints its line number', async () => {
    const file = samples.file('malformed.ndjson', ['{"key":"a"}', 'nonsense']);
    const run = simulate(['--input', file, '--key', 'key']);
    await expect(run).rejects.toThrow(InvalidInputError);
    await expect(run).rejects.toThrow(`${file}, line 2: must be a JSON object`);
  });
});
