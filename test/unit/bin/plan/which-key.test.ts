import { readFileSync } from 'node:fs';
import { plan } from '../../../../bin/plan';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { printed, sampleFolder } from '../../../support/command';

const samples = sampleFolder();

interface Comparison {
  candidates: {
    name: string;
    distinct: number;
    shareAtATime: number;
    bearsPerSecond: number;
    spread: { evenly: boolean; reason: string };
    order: { keeps: string[]; breaks: string[] };
  }[];
}

/**
 * The table of good and bad partition keys in "Designing Partition Keys to Distribute Your Workload Evenly", as
 * records of a sample.
 */
function records(count = 6_000): string[] {
  const random = seededRandom(5);
  return Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      id: `event-${n}`,
      userId: `user-${Math.floor(random() * 900)}`,
      status: ['pending', 'succeeded', 'failed'][n % 3],
      at: new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString(),
      evenDevice: `device-${n % 300}`,
      popularDevice: random() < 0.4 ? 'device-0' : `device-${Math.floor(random() * 300)}`,
      job: `job-${Math.floor(n / 100)}`,
      maybe: n === 7 ? undefined : 'there',
    }),
  );
}

const compared = async (file: string, ...args: string[]): Promise<Comparison> =>
  JSON.parse(await printed(plan, '--input', file, '--json', ...args));

describe('even-shards plan --input without --key', () => {
  let table: Comparison;
  beforeAll(async () => {
    table = await compared(samples.file('table.ndjson', records()));
  });

  test.each([
    ['userId', true, 'many values, used at relatively similar intervals'],
    ['status', false, 'only a few possible values'],
    ['at', false, 'a time: all new records have the same value, and no query reads a single point in time'],
    ['at by day', false, 'only a few'],
    ['evenDevice', true, 'many values, used at relatively similar intervals'],
    ['popularDevice', false, 'one value is much more popular than all others'],
    ['job', false, 'at any time, most new records have the same value'],
    ['id', true, 'an id: most records have a new value'],
  ])(
    'reports whether the records spread evenly by %s, by the rules of "Designing partition keys"',
    (name, evenly, reason) => {
      const { spread } = table.candidates.find((candidate) => candidate.name === name)!;
      expect(spread.evenly).toBe(evenly);
      if (name !== 'at by day') expect(spread.reason).toBe(reason);
    },
  );

  test('reports that a time spreads unevenly, even if it is rounded to the minute, the hour or the day', async () => {
    const lines = Array.from({ length: 6_000 }, (_, n) =>
      JSON.stringify({ id: n, at: new Date(Date.UTC(2026, 0, 1) + n * 20_000).toISOString() }),
    );
    const { candidates } = await compared(samples.file('rounded.ndjson', lines));
    const times = candidates.filter(({ name }) => name.startsWith('at'));
    expect(new Map(times.map(({ name, spread }) => [name, spread.evenly]))).toEqual(
      new Map(['at', 'at by minute', 'at by hour', 'at by day'].map((name) => [name, false])),
    );
  });

  test('compares a time rounded to the minute, the hour and the day if the rounded values differ', async () => {
    const namesOf = async (at: (n: number) => string) => {
      const lines = Array.from({ length: 200 }, (_, n) => JSON.stringify({ id: n, at: at(n) }));
      const { candidates } = await compared(samples.file('times.ndjson', lines));
      return candidates.map(({ name }) => name).filter((name) => name.startsWith('at'));
    };
    const second = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();
    expect(await namesOf(second)).toEqual(['at', 'at by minute', 'at by hour']);
    expect(await namesOf((n) => second(n * 86_400).slice(0, 10))).toEqual(['at']);
  });

  /** The events of "Order with Kinesis bulk puts": the creation, the commits and the destruction of each repository. */
  const events = Array.from({ length: 600 }, (_, n) => {
    const repository = `account-${n % 3}/project-${n % 12}`;
    const kind = n < 12 ? 'create' : n >= 588 ? 'destroy' : 'commit';
    return JSON.stringify({ at: n, commit: `c0ab1e5c${n}`, repository, account: repository.split('/')[0], kind });
  });

  test.each([
    ['commit', [], ['repository', 'account', 'kind']],
    ['repository', ['repository'], ['account', 'kind']],
    ['account', ['account', 'repository'], ['kind']],
    ['kind', ['kind'], ['repository', 'account']],
  ])('lists the fields whose records stay in order if the key is %s', async (name, keeps, breaks) => {
    const { candidates } = await compared(samples.file('events.ndjson', events));
    expect(candidates.find((candidate) => candidate.name === name)!.order).toEqual({ keeps, breaks });
  });

  test('reports how many records the table can have before the busiest value fills a partition of 10 GB', async () => {
    const lines = Array.from({ length: 100 }, (_, n) =>
      JSON.stringify({ id: `${100 + n}`, half: n % 2, pad: 'x'.repeat(967) }),
    );
    const file = samples.file('large.ndjson', lines);
    const [bytes] = [Buffer.byteLength(lines[0]!)];
    const { candidates } = await compared(file);
    const of = (field: string) =>
      candidates.find(({ name }) => name === field) as { fullAtRecords?: number } | undefined;
    expect(of('half')!.fullAtRecords).toBe(Math.floor(10e9 / (0.5 * bytes)));
    expect(of('id')!.fullAtRecords).toBeUndefined();
  });

  test('recommends no key, because the key that spreads most evenly keeps no order', async () => {
    const report = await printed(plan, '--input', samples.file('events.ndjson', events));
    expect(report).toMatch(/ {2}commit +evenly +nothing /);
    expect(report).toContain('keeps no order, because no two records share a value; loses the order of one repository');
    expect(report).toContain('No key is recommended: only you know which events must stay in order.');
    expect(report).not.toMatch(/\b(good|bad|best)\b/);
  });

  test('leaves out a field that some records lack, and adds pairs of fields that spread more evenly than each single field', async () => {
    const { candidates } = await compared(samples.file('table.ndjson', records()));
    const names = candidates.map(({ name }) => name);
    expect(names).not.toContain('maybe');
    expect(names).toContain('status + popularDevice');
    expect(names.filter((name) => name.includes(' + ')).length).toBeLessThanOrEqual(5);
  });

  test('with --records-per-second, reports the rate that each key supports, with the best key first; with --svg, draws the comparison', async () => {
    const file = samples.file('table.ndjson', records());
    const svg = samples.path('keys.svg');
    const report = await printed(plan, '--input', file, '--records-per-second', '4000', '--svg', svg);
    expect(report).toContain('which key? 6,000 records, at 4,000 a second');
    expect(report).toMatch(/ {2}status +unevenly +status, evenDevice +3 +\d+% +1,\d{3} +2,\d{3} +\d+M +none +2/);
    expect(readFileSync(svg, 'utf8')).toMatch(/^<svg xmlns=[\s\S]*status[\s\S]*<\/svg>\n$/);
    const { candidates } = await compared(file, '--records-per-second', '4000');
    for (const { shareAtATime, bearsPerSecond } of candidates) expect(shareAtATime * bearsPerSecond).toBeCloseTo(750);
    const shares = candidates.map(({ shareAtATime }) => shareAtATime);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  });

  test('does not depend on the order of the lines if the records have a time', async () => {
    const lines = records();
    const forwards = await compared(samples.file('forwards.ndjson', lines));
    const backwards = await compared(samples.file('backwards.ndjson', lines.toReversed()));
    const facts = ({ candidates }: Comparison) =>
      candidates.map(({ name, shareAtATime }) => `${name} ${shareAtATime.toFixed(6)}`).sort();
    expect(facts(backwards)).toEqual(facts(forwards));
  });

  test('compares a boolean, and accepts it with --key', async () => {
    const file = samples.file('booleans.ndjson', ['{ "isPaid": true }', '{ "isPaid": false }', '{ "isPaid": true }']);
    const { candidates } = await compared(file);
    expect(candidates).toEqual([expect.objectContaining({ name: 'isPaid', distinct: 2 })]);
    const { sample } = JSON.parse(await printed(plan, '--input', file, '--key', 'isPaid', '--json'));
    expect(sample).toMatchObject({ keys: 2, busiest: { key: 'true' } });
  });

  test.each([
    ['fields without a value', ['{ "id": null, "tags": ["a"], "name": "" }']],
    ['no fields', ['{}']],
    ['different fields', ['{ "id": 1 }', '{ "key": 1 }']],
    ['an export of items without attributes', ['{ "Item": {} }']],
    ['an export of items with null attributes', ['{ "Item": { "id": { "NULL": true } } }']],
  ])('rejects a sample of %s, because no field can be a key', async (name, lines) => {
    const file = samples.file(`${name}.ndjson`, lines);
    const rejected = expect(plan(['--input', file])).rejects;
    await rejected.toMatchObject({ code: 'INVALID_INPUT' });
    await rejected.toThrow(`${file}: no field has a non-empty text, a number or a boolean in every record`);
  });

  test.each([
    [['--svg', 'a'], '--svg draws the comparison of keys: give --input, and leave out --key'],
    [['--input', 'a', '--records-per-second', '0'], '--records-per-second must be above 0, got 0'],
  ])('rejects %j', async (args, problem) => {
    const given = args.map((arg) =>
      arg === 'a' && args[0] === '--input' ? samples.file('a.ndjson', records(10)) : arg,
    );
    await expect(plan(given)).rejects.toThrow(problem);
  });
});
