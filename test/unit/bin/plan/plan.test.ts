import { UsageError } from '../../../../bin/flags';
import { InvalidInputError } from '../../../../bin/invalid-input-error';
import { plan } from '../../../../bin/plan';
import { exampleIndex, indexSnippet } from '../../../../bin/plan/cdk-snippet';
import { events, printed, sampleFolder } from '../../../support/command';

const samples = sampleFolder();
const json = async (...args: string[]) => JSON.parse(await printed(plan, ...args, '--json'));

describe('even-shards plan', () => {
  test('plans a stream from its rates: prints the decisive rule, the limit that is reached first, and the code', async () => {
    const report = await printed(plan, '--records-per-second', '5000', '--bytes-per-second', '9e6', '--consumers', '3');
    expect(report).toContain('stream: 18 shards for 5,000 records a second, bound by bytes read by shared consumers');
    expect(report).toMatch(/what breaks first .*\n.*\n {2}bytes read from a shard by shared consumers +75%/);
    expect(report).toContain("new UniformStream(this, 'Stream', { shardCount: 18 });");
    expect(report).not.toContain('index:');
  });

  test('prints which limits AWS never increases, and which limits AWS increases on request', async () => {
    const rates = [
      '--records-per-second',
      '2000000',
      '--bytes-per-second',
      '4e6',
      '--enhanced-fan-out-consumers',
      '25',
    ];
    const report = await printed(plan, ...rates);
    expect(report).toContain(
      'this plan exceeds limits of AWS, so its price is only theoretical:\n  ! AWS allows 20 consumers',
    );
    expect(report).toContain(
      'AWS allows this only after you request a higher quota:\n  ! AWS allows 1,000 shards of an account in a Region (6,000',
    );
  });

  test('plans an index from its rates and shares: prints the cost of writes and reads, and the code', async () => {
    const shares = ['succeeded=35', 'ignored=35', 'pending=10', 'in_progress=10', 'failed=10'];
    const report = await printed(
      plan,
      ...['index', '--writes-per-second', '5000', '--pages-per-second', '20'],
      ...shares.flatMap((share) => ['--share', share]),
    );
    expect(report).toContain('index: 78 shards for 5,000 writes a second, bound by shards that share a partition');
    expect(report).toContain('a page of 27 shards takes 13.5 read units, of one shard 3.5');
    expect(report).toMatch(/partitions busy +partitions +shards +read units a page/);
    expect(report).toContain("        'succeeded': 27,\n        'ignored': 27,\n        'pending': 8,");
  });

  test('prints the number of AWS with its risk first, and then its own number with its cost', async () => {
    const report = await printed(plan, 'index', '--writes-per-second', '5000');
    expect(report.split('\n').slice(0, 4)).toEqual([
      'the formula of AWS: 5 shards; a page takes 5 read units',
      '  risk: the busiest shard uses 100% of its limit, and one of 10 partitions is overloaded with a probability of 70%',
      'index: 75 shards for 5,000 writes a second, bound by shards that share a partition',
      '  cost: a page of 75 shards takes 37.5 read units, of one shard 3.5',
    ]);
    // The plan is the formula itself, or both need one shard.
    for (const args of [
      ['5000', '--utilization', '1'],
      ['10', '--utilization', '0.5'],
    ]) {
      const alone = await printed(plan, 'index', '--writes-per-second', ...args);
      expect(alone).not.toContain('the formula of AWS:');
    }
  });

  test('--shards divides a given number of shards among the values of an index', async () => {
    const shares = ['succeeded=35', 'ignored=35', 'pending=10', 'in_progress=10', 'failed=10'];
    const args = ['index', '--shards', '100', ...shares.flatMap((share) => ['--share', share])];
    expect(await json(...args)).toEqual({
      shards: 100,
      byValue: { succeeded: 35, ignored: 35, pending: 10, in_progress: 10, failed: 10 },
    });
    const report = await printed(plan, ...args, '--share', 'rare=0');
    expect(report).toContain('101 shards of 6 values; each value gets at least one');
    expect(report).toContain("      'succeeded': 35,");
  });

  test.each([
    [['index', '--shards', '100'], '--shards needs index and --share'],
    [['table', '--shards', '100', '--share', 'a=1'], '--shards needs index and --share'],
    [
      ['index', '--shards', '100', '--share', 'a=1', '--writes-per-second', '5'],
      '--writes-per-second has no effect with --shards',
    ],
    [['index', '--shards', '0', '--share', 'a=1'], '--shards must be'],
    [[], 'give --input, --records-per-second or --writes-per-second'],
    [['--writes-per-second', '5', '--share', 'a= '], '--share must be VALUE=N with a number of at least 0, got "a= "'],
  ])('rejects %j', async (args, problem) => {
    await expect(plan(args)).rejects.toThrow(problem);
  });

  test('plans from an export of a table as from the same records, with the sizes of the items', async () => {
    const items = events(300, 700).map((line) => JSON.parse(line) as { account: string; id: string });
    const lines = items.map(({ account, id }, n) =>
      JSON.stringify({ Item: { account: { S: account }, id: { S: id }, n: { N: String(n) }, data: { B: 'AAAA' } } }),
    );
    const { index, sample } = await json('--input', samples.file('export.json.gz', lines), '--key', 'account');
    const plain = await json('--input', samples.file('plain.ndjson', events(300, 700)), '--key', 'account');
    expect(sample).toEqual(plain.sample);
    expect(index.plan.byValue).toEqual(plain.index.plan.byValue);
    // The names and the values of the item, without the types and the quotes of the file.
    expect(index.traffic.itemKb * 1_024).toBeGreaterThan(25);
    expect(index.traffic.itemKb * 1_024).toBeLessThan(50);
    const record = samples.file('record.ndjson', [JSON.stringify({ Item: { account: 'one' }, account: 'two' })]);
    expect((await json('--input', record, '--key', 'account')).sample.busiest.key).toBe('two');
  });

  test('plans a table of Amazon Keyspaces by the limits of its partitions, without the prices of DynamoDB', async () => {
    const args = ['index', '--keyspaces', '--writes-per-second', '5000', '--pages-per-second', '20'];
    const report = await printed(plan, ...args);
    expect(report).toContain('table of Amazon Keyspaces: 75 shards for 5,000 writes a second');
    expect(report).toContain('a partition takes 1,000 write units and 3,000 read units a second');
    expect(report).toContain('    shardCounts: ShardCounts.uniform(75),');
    expect(report).not.toContain('a month:');
    expect((await json(...args)).index.plan).not.toHaveProperty('monthlyCost');
    await expect(plan(['stream', '--keyspaces', '--records-per-second', '5'])).rejects.toThrow(
      '--keyspaces plans one table',
    );
  });

  test('plans a table that is sharded by its own key, by the formula of AWS if --utilization is 1', async () => {
    const report = await printed(plan, 'table', '--writes-per-second', '5000', '--utilization', '1');
    expect(report).toContain('table: 5 shards for 5,000 writes a second');
    expect(report).toContain("new KeyShardedTable(this, 'Table', {");
    expect(report).toContain('    shardCounts: ShardCounts.uniform(5),');
    expect(report).not.toMatch(/index|addShardedIndex/);
  });

  test('counts stored bytes, and adds shards for them if a local secondary index limits a key to 10 GB', async () => {
    const args = ['--writes-per-second', '500', '--stored-gb', '400'];
    const report = await printed(plan, 'table', ...args, '--local-index');
    expect(report).toContain('table: 80 shards for 500 writes a second, bound by bytes of a shard');
    expect(report).toContain('DynamoDB rejects writes to a shard of more than 10 GB');
    const index = await printed(plan, 'index', ...args);
    expect(index).toContain('stored: 400 GB on 40 partitions at least, 400 GB in the fullest shard');
    await expect(plan(['index', ...args, '--local-index'])).rejects.toThrow(
      '--local-index applies only to the stored bytes of a table',
    );
  });

  test('prints the shards in the given shard format, both in the report and in the code', async () => {
    const ofDocument = ['--writes-per-second', '5000', '--utilization', '1', '--first-shard', '1', '--separator', '-'];
    const report = await printed(plan, 'table', ...ofDocument);
    expect(report).toContain('\n  a query reads the shards VALUE-1 to VALUE-5\n');
    expect(report).toContain(
      "    shardCounts: ShardCounts.uniform(5),\n    firstShard: 1,\n    separator: '-',\n  });",
    );
    const shares = ['--share', 'USA=3', '--share', 'FRA=1', '--writes-per-second', '2000', '--first-shard', '1'];
    const beside = ['--shard-width', '2', '--shard-placement', 'prefix'];
    const index = await printed(plan, 'index', ...shares, ...beside, '--language', 'python');
    expect(index).toMatch(/\n {2}a query reads the shards 01#USA to \d\d#USA\n/);
    expect(index).toContain('from cdk_even_shards import KeyLayout, ShardCounts, ShardPlacement, ShardedTable');
    expect(index).toContain('    shard_width=2,\n      shard_placement=ShardPlacement.PREFIX,\n');
    expect(await printed(plan, 'index', '--keyspaces', '--writes-per-second', '5000', '--first-shard', '1')).toMatch(
      /reads the shards 1 to \d+\n/,
    );
    // The 50,000 items of 1 KB have 0.05 GB in total, so no partition is full.
    const { index: planned } = await json('table', ...ofDocument, '--stored-gb', '0.05', '--local-index');
    expect(planned).toMatchObject({
      shardFormat: { firstShard: 1, separator: '-' },
      plan: { shardNumbers: { first: 1, last: 5 }, stored: { gbOfShard: 0.01, partitions: 1 } },
    });
  });

  test('converts --overload to a utilization', async () => {
    const args = ['index', '--writes-per-second', '5000'];
    const { index } = await json(...args, '--overload', '0.25');
    expect(index.plan).toEqual((await json(...args, '--utilization', '0.8')).index.plan);
    const both = [...args, '--overload', '0.25', '--utilization', '0.8'];
    await expect(plan(both)).rejects.toThrow('--overload and --utilization set the same value: give only one');
  });

  test('plan overload reports the probability that a partition is overloaded if there are ten shards for each partition', async () => {
    const report = await printed(plan, 'overload', '--partitions', '10');
    expect(report).toContain('100 shards on 10 partitions; each partition can take 1.5 times its share');
    expect(report).toContain('some partition gets more: 36.4% of all placements\nfrom 274 shards on: less than 5%');
    expect(await printed(plan, 'overload', '--partitions', '10', '--overload', '0.2')).toContain('1,592 shards');
    const { probabilityOfOverload } = await json(
      'overload',
      '--partitions',
      '2',
      '--utilization',
      '0.7',
      '--shards',
      '2',
    );
    expect(probabilityOfOverload).toBe(0.5);
    expect(await printed(plan, 'overload', '--partitions', '1')).toMatch(
      /^10 shards on 1 partition;.*from 1 shard on:/s,
    );
    expect(await printed(plan, 'overload', '--partitions', '1363')).toContain('less than 5%');
    await expect(plan(['overload', '--partitions', '1364'])).rejects.toThrow('more than 100000 shards would be needed');
    await expect(plan(['overload'])).rejects.toThrow('give --partitions');
    await expect(plan(['overload', '--partitions', '0'])).rejects.toThrow('--partitions must be a whole number from 1');
  });

  test('plans a stream and an index from a sample of records, and reports the key that fills a shard', async () => {
    const file = samples.file('skewed.ndjson.gz', events(300, 700));
    const report = await printed(plan, '--input', file, '--key', 'account');
    expect(report).toContain('sample: 1,000 records, 701 keys by account\nthe busiest, busy, has 30% of the records');
    expect(report).toContain('no rate was given: 2,500 is the most that the busiest key allows with head-room');
    expect(report).toContain('busy alone fills a shard when the stream has 3,333 records a second');
    expect(report).toContain("'busy':");
    expect(report).toContain('index:');
  });

  test('reports a key whose load is too high for any number of shards', async () => {
    const file = samples.file('hot.ndjson', events(30, 70));
    const report = await printed(plan, 'stream', '--input', file, '--key', 'account', '--records-per-second', '10000');
    expect(report).toContain('but no number up to 1,000 leaves head-room: the busiest keys are too hot');
    expect(report).toContain('! one key takes 300% of a shard, and a key is in one shard');
    expect(report).toContain('by balanced explicit hash keys');
    expect(report).toContain('none up to 1,000');
  });

  test('reports the rate at which the bytes of large records of one key fill a shard', async () => {
    const record = (size: number) => JSON.stringify({ account: 'a', body: 'x'.repeat(size - 25) });
    const large = samples.file('large.ndjson', Array(4).fill(record(50_000)));
    const report = await printed(plan, 'stream', '--input', large, '--key', 'account');
    expect(report).toContain('no rate was given: 15 is the most that the busiest key allows with head-room');
    expect(report).toContain('a alone fills a shard when the stream has 20 records a second');

    const huge = samples.file('huge.ndjson', [record(1_000_000)]);
    expect(await printed(plan, '--input', huge, '--key', 'account')).toContain(
      'stream: 1 shard for 0.8 records a second',
    );
  });

  test.each([
    { flags: [], shards: 14, other: 'with a HashKeyRegistry 8 shards would do: see --balanced', registry: false },
    { flags: ['--balanced'], shards: 8, other: 'for keys with balanced explicit hash keys', registry: true },
  ])(
    'prints the shards, the limits and the code of a stream with the flags $flags',
    async ({ flags, shards, other, registry }) => {
      const args = ['--records-per-second', '5000', '--bytes-per-second', '4e6', '--consumers', '3', '--keys', '100'];
      const report = await printed(plan, ...args, ...flags);
      expect(report).toContain(`stream: ${shards} shards for`);
      expect(report).toContain(`new UniformStream(this, 'Stream', { shardCount: ${shards} });`);
      expect(report).toContain(other);
      expect(report.includes('new HashKeyRegistry(')).toBe(registry);
      expect(report).not.toMatch(/breaks at[\s\S]*\b(0\.\d+|1\.00?) times this traffic/);
    },
  );

  test.each([
    ['python', ['UniformStream(self, "Stream", shard_count=7)', 'shard_counts=ShardCounts.by_value({', '    "a": ']],
    ['java', ['UniformStream.Builder.create(this, "Stream").shardCount(7).build();', 'Map.entry("a", ']],
  ])('prints the code for %s', async (language, lines) => {
    const stream = ['--records-per-second', '5000', '--bytes-per-second', '1e6'];
    const index = ['--writes-per-second', '5000', '--share', 'a=70', '--share', 'b=30'];
    const report = await printed(plan, ...stream, ...index, '--language', language);
    for (const line of lines) expect(report).toContain(line);
    expect(report).not.toContain('import {');
  });

  test.each([
    [
      'typescript',
      "new AdaptiveShardCountController(this, 'Controller', { index });",
      'ShardCounts.adaptive({ maximum: 75 })',
    ],
    ['python', 'AdaptiveShardCountController(self, "Controller", index=index)', 'ShardCounts.adaptive(maximum=75)'],
    ['java', 'AdaptiveShardCountController.Builder.create(this, "Controller").index(index).build();', '.maximum(75)'],
  ])('recommends adaptive counts in %s if the command got no --shares', async (language, ...code) => {
    const args = ['index', '--writes-per-second', '5000', '--language', language];
    const report = await printed(plan, ...args);
    for (const line of ['whose shares you do not know', ...code]) expect(report).toContain(line);
    const known = await printed(plan, ...args, '--share', 'a=70', '--share', 'b=30');
    expect(known).not.toContain('AdaptiveShardCountController');
    expect(await printed(plan, 'index', '--writes-per-second', '1')).not.toContain('AdaptiveShardCountController');
  });

  test('prints every price with two decimals, a currency and a date', async () => {
    const report = await printed(plan, '--records-per-second', '5000', '--bytes-per-second', '1e6');
    expect(report).toMatch(/a month: \$\d+\.\d\d \(shards \$\d+\.\d\d, .*; prices of us-east-1, .*20\d\d\)/);
  });

  test('prints one JSON document', async () => {
    const file = samples.file('even.ndjson', events(1, 99));
    const planned = await json('--input', file, '--key', 'account', '--records-per-second', '3000');
    expect(planned).toMatchObject({
      sample: { keyField: 'account', records: 100, keys: 100, busiest: { key: 'busy', share: 0.01 } },
      stream: { plan: { shards: 5 }, placement: { shardsByHash: 5, shardsIfBalanced: 4 } },
      index: { plan: { shards: expect.any(Number) } },
    });
  });

  test('reads prices from the file that --prices names', async () => {
    const file = samples.file('prices.json', ['{ "shardHour": 1 }']);
    const { stream } = await json('--records-per-second', '1', '--bytes-per-second', '1', '--prices', file);
    expect(stream.plan.monthlyCost).toMatchObject({ shards: 730, prices: file });
  });

  test.each([
    ['queue', 'can plan a stream, an index, a table, an item or an overload, not "queue"'],
    ['table', 'a table needs --writes-per-second'],
    ['table --keyspaces --writes-per-second 5', '--keyspaces plans a table of Amazon Keyspaces: give index, not table'],
    ['--input a --key b --keys 5', '--input already contains the keys: leave out --keys'],
    ['--records-per-second 5 --item-kb 5', '--item-kb has no effect without a plan of the index'],
    ['--input a --share a=1', '--share has no effect in a comparison of keys: give --key to plan with one'],
    [
      'stream --records-per-second 5 --bytes-per-second 6 --writes-per-second 7',
      '--writes-per-second has no effect for a stream: its rate is --records-per-second',
    ],
    [
      'index --keyspaces --writes-per-second 5 --average-of-peak 0.5',
      '--average-of-peak has no effect with --keyspaces, whose cost the plan does not compute',
    ],
    ['table --writes-per-second 5 --first-shard -1', '--first-shard must be a whole number of at least 0, got -1'],
    ['table --writes-per-second 5 --separator 1', '--separator must be a non-empty text without digits, got "1"'],
    ['table --writes-per-second 5 --shard-placement left', '--shard-placement must be suffix or prefix, got "left"'],
    [
      'index --writes-per-second 5 --separator -',
      '--separator applies only if the shard and a value share an attribute, and this index has no value: give --share VALUE=N, or table',
    ],
    [
      'index --keyspaces --writes-per-second 5 --shard-width 2',
      '--shard-width has no effect with --keyspaces, because the shard has a separate column',
    ],
    ['--records-per-second many', '--records-per-second must be a number, got "many"'],
    ['--records-per-second=5', '--bytes-per-second is missing: it must be a number of at least 0'],
    ['--records-per-second=-5 --bytes-per-second=1', '--records-per-second must be a number above 0, got -5'],
    ['--writes-per-second 5 --share a=1 --share a=2', '--share names a twice'],
    ['--records-per-second 5 --language go', '--language must be one of typescript, python, java, got "go"'],
    [
      'index --writes-per-second 5 --item-kb 401',
      '--item-kb must be at most 400, the size of the largest item of DynamoDB, got 401',
    ],
    [
      'index --keyspaces --writes-per-second 5 --item-kb 1025',
      '--item-kb must be a number above 0 and at most 1024, got 1025',
    ],
    [
      'index --writes-per-second 1e9',
      '--writes-per-second must be traffic for at most 10000 shards (the rule "writes to a shard" needs more, and a query reads every shard for each page), got 1000000000',
    ],
    [
      'table --writes-per-second 5 --stored-gb 1e6 --local-index',
      '--stored-gb must be the gigabytes for at most 10000 shards (the rule "bytes of a shard" needs more, and a query reads every shard for each page), got 1000000',
    ],
    [
      'index --writes-per-second 5 --overload 20',
      '--overload must be a number from 0.053 to 19, or 0 for the formula of AWS, got 20',
    ],
    [
      'index --shards 10001 --share a=1',
      '--shards gives a 10001 shards, but a value has at most 10000: a query reads every shard for each page',
    ],
    [
      '--records-per-second 1 --bytes-per-second 10485761',
      '--bytes-per-second must be at most 10485760 bytes for each record, got 10485761',
    ],
    [
      '--records-per-second 1e6 --bytes-per-second 1e11',
      '--bytes-per-second must be traffic for at most 10000 shards (the rule "bytes written" needs 133334), got 100000000000',
    ],
    [
      '--writes-per-second 5 --utilization 2',
      '--utilization must be a number from 0.05 to 0.95, or 1 for the formula of AWS, got 2',
    ],
  ])('rejects %s', async (args, problem) => {
    const error = await plan(args.split(' ')).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect(error.problem).toBe(`${problem}: see \`even-shards plan --help\``);
  });

  test.each<[string, string[], string]>([
    ['an empty file', [], 'holds no event'],
    ['a file of empty lines', ['', ' '], 'holds no event'],
    ['a malformed line', ['{"account":"a"}', '', '{"account":'], 'line 3: must be a JSON object'],
    ['a line without the key', ['{"account":"a"}', '{"other":1}'], 'line 2: field account must be a non-empty string'],
  ])('rejects %s, and names the file and the line', async (name, lines, problem) => {
    const file = samples.file(`${name}.ndjson`, lines);
    const error = await plan(['--input', file, '--key', 'account']).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error.message).toContain(`${file}`);
    expect(error.message).toContain(problem);
  });

  test.each([
    ['no-such.json', undefined, 'cannot read prices from'],
    ['list.json', '[]', 'must hold a JSON object of prices'],
    ['empty.json', '{}', 'must hold a JSON object of prices'],
    ['no-price.json', '{ "asOf": "today" }', 'must hold a JSON object of prices'],
    ['null.json', '{ "shardHour": null }', 'prices.shardHour must be a number of at least 0, got null'],
    ['time.json', '{ "asOf": null, "shardHour": 1 }', 'asOf must be a text, got null'],
    ['negative.json', '{ "shardHour": -1 }', 'prices.shardHour must be a number of at least 0, got -1'],
    ['typo.json', '{ "shardHours": 1 }', 'unknown price shardHours, use some of asOf, shardHour'],
  ])('rejects a file with the prices of %s', async (name, content, problem) => {
    const file = content === undefined ? samples.path(name) : samples.file(name, [content]);
    const args = ['--records-per-second', '1', '--bytes-per-second', '1', '--prices', file];
    await expect(plan(args)).rejects.toThrow(problem);
  });
});

test('the code that plan prints gives a value with the name of a property of all objects its count', () => {
  const byValue = Object.fromEntries(['__proto__', 'constructor'].map((value) => [value, 3]));
  const code = indexSnippet({ shards: 3, byValue }, exampleIndex('status'), 'typescript').join('\n');
  const [, counts] = /ShardCounts\.byValue\((\s*\{[^}]*\})/.exec(code)!;
  expect(Object.entries(new Function(`return ${counts!.trim()}`)())).toEqual([
    ['__proto__', 3],
    ['constructor', 3],
  ]);
});
