import { readFileSync } from 'node:fs';
import type { KeyReport } from '../../../../bin/doctor/contributor-insights';
import { ADOPTION_CASES } from '../../../../bin/doctor/diagnosis';
import type { Traffic, UnshardedKey } from '../../../../bin/doctor/observations';
import type { AdviceOptions } from '../../../../bin/doctor/shown-keys';
import type { TableSample } from '../../../../bin/doctor/table-sample';
import { ofUnshardedKey } from '../../../../bin/doctor/unsharded-advice';

const HIDDEN: AdviceOptions = { showKeys: false, language: 'typescript' };
const SHOWN: AdviceOptions = { showKeys: true, language: 'typescript' };

const PARTITION = { name: 'tenant', type: 'S', role: 'partition' } as const;
const SORT = { name: 'at', type: 'N', role: 'sort' } as const;
const CALM: Traffic = { throttled: 0, byCause: {} };
const hotWrites = (peakUnits = 1_000, peakThrottled = 2_000): Traffic => ({
  ...{ peakUnits, peakThrottled, throttled: 60 * peakThrottled, byCause: { keyRange: 60 * peakThrottled } },
});

const unsharded = (changes: Partial<UnshardedKey> = {}, writes: Traffic = hotWrites()): UnshardedKey => ({
  path: 'Chat/Messages',
  tableName: 'messages',
  key: [PARTITION, SORT],
  table: { id: 'Messages', partitionKey: PARTITION, sortKey: SORT },
  owner: 'TableV2',
  throughput: { writes, reads: CALM },
  mustBeMeasured: true,
  itemKb: 1,
  ...changes,
});
const ofIndex = { path: 'Chat/Messages/byTenant', indexName: 'byTenant' };
const report = (counted: KeyReport['counted'], ...shares: number[]): KeyReport => ({
  counted,
  partitionKeys: shares.map((share, n) => ({ key: [`secret-${n}`], share })),
  items: [],
});
const DISABLED = { why: 'Contributor Insights are disabled', change: 'turn them on' };
const sampled = (values: number): TableSample => ({
  segments: Array.from({ length: 20 }, (_, n) => ({
    items: [{ tenant: { S: `secret-${n % values}` } }],
    isOfOneKey: false,
  })),
  ...{ isWhole: false, readUnits: 10 },
});

test.each<[string, Partial<UnshardedKey>, string, RegExp]>([
  ['most throttles are of one key of a table', { report: report('throttles', 0.6, 0.1) }, 'hotTableKey', /^yes, if/],
  [
    'most accesses are of one value of an index',
    { ...ofIndex, report: report('accesses', 0.9) },
    'hotIndexKey',
    /^yes\./,
  ],
  [
    'all keys of a table are equally throttled',
    { report: report('throttles', ...Array(25).fill(0.01)) },
    'fewPartitions',
    /^no\. No single/,
  ],
  [
    'all values of an index are equally accessed',
    { ...ofIndex, report: report('accesses', ...Array(25).fill(0.01)) },
    'fewPartitions',
    /^no\. No single/,
  ],
  ['the table has no sort key', { key: [PARTITION], report: report('throttles', 0.9) }, 'hotItem', /^no\. One item/],
  [
    'one item has all throttles of its key',
    { report: { ...report('throttles', 0.9), items: [{ key: ['secret-0', '1'], share: 0.89 }] } },
    'hotItem',
    /^no\. One item/,
  ],
  ['nothing tells the keys apart', { report: DISABLED }, 'hotPartition', /not measured/],
  ['the sample has one busy key', { report: DISABLED, sample: sampled(2) }, 'hotTableKey', /^yes, if/],
  [
    'the index has a value and a shard number',
    { ...ofIndex, key: [PARTITION, { ...SORT, role: 'partition' }], report: report('accesses', 0.9) },
    'hotPartition',
    /already has shards/,
  ],
  ['the sample has many keys', { sample: sampled(20) }, 'hotPartition', /not measured/],
])('doctor – %s – says whether shards help', (_, changes, id, helps) => {
  const found = ofUnshardedKey(unsharded(changes), HIDDEN);
  const [advice, ...missing] = found;
  expect(advice).toMatchObject({ id, weight: 'refused' });
  const line = advice!.measured!.find((each) => each.startsWith('do shards help: '))!;
  expect(line.slice('do shards help: '.length)).toMatch(helps);
  const isHelped = !/^do shards help: (no\.|the index already)/.test(line);
  expect(advice!.code !== undefined).toBe(isHelped);
  expect(advice!.measured!.some((each) => each.startsWith('the formula of AWS: '))).toBe(isHelped);
  // Each missing measurement is named, and no key is printed.
  expect(missing.map(({ id: of, what }) => [of, what])).toEqual(
    changes.report === DISABLED ? [['notMeasured', `the busiest keys: ${DISABLED.why}`]] : [],
  );
  expect(JSON.stringify(found)).not.toMatch(/secret-|undefined|NaN/);
  if (id === 'hotTableKey') expect(JSON.stringify(ofUnshardedKey(unsharded(changes), SHOWN))).toContain('secret-0');
});

test.each([1, 10, 1_000, 40_000, 300_000, 1e7])(
  'a demand of %p units a second – doctor gives a plan, or says that no index has enough shards',
  (demand) => {
    const load = { ...ofIndex, report: report('accesses', 0.5, 0.02) };
    const [advice] = ofUnshardedKey(unsharded(load, hotWrites(demand / 2, demand / 2)), HIDDEN);
    const text = advice!.measured!.join('\n');
    expect(advice!.code !== undefined).toBe(text.includes('this plan: '));
    expect(text.includes('needs more than 10,000 shards')).toBe(demand >= 300_000);
  },
);

test('the writes that an index throttles count for the value that fills a partition, not for the other values', () => {
  const accesses = { ...ofIndex, report: report('accesses', 1_000 / 1_600, 600 / 1_600) };
  const [advice] = ofUnshardedKey(unsharded(accesses, hotWrites(1_600, 2_400)), SHOWN);
  const counts = [...advice!.code!.join('\n').matchAll(/'secret-\d': (\d+),/g)].map(([, count]) => Number(count));
  // The demand of the first value is 3,400 writes a second, and that of the second value is 600.
  expect(counts[0]! / counts[1]!).toBeGreaterThan(4.5);
});

test.each([
  ['TableV2', 'same-app-and-same-id', 'same-app-not-convertible'],
  ['Table', 'same-app-not-convertible', 'same-app-not-convertible'],
  ['otherTemplate', 'another-owner', 'another-owner'],
  ['unknown', 'another-owner', 'another-owner'],
] as const)('doctor names the case of the guide for an owner %s', (owner, caseOfIndex, caseOfTable) => {
  const hot = { owner, report: report('throttles', 0.9) };
  expect(ofUnshardedKey(unsharded({ ...hot, ...ofIndex }), HIDDEN)[0]!.guide).toMatch(new RegExp(`#${caseOfIndex}$`));
  expect(ofUnshardedKey(unsharded(hot), HIDDEN)[0]!.guide).toMatch(new RegExp(`#${caseOfTable}$`));
  // Only the app of a TableV2 may declare the table. Any other code would create another, empty table.
  for (const language of ['typescript', 'python', 'java'] as const) {
    const code = ofUnshardedKey(unsharded({ ...hot, ...ofIndex }), { showKeys: false, language })[0]!.code!.join('\n');
    expect(/new ShardedTable|ShardedTable\(self|ShardedTable\.Builder/.test(code)).toBe(owner === 'TableV2');
    // The names of hidden keys are variables that the code does not declare.
    expect(code).toMatch(/\[key1\]: \d|^ +key1: \d|entry\(key1, \d/m);
  }
});

test('the guide adopt.md has each heading to which the advice links', () => {
  const headings = readFileSync('docs/guides/adopt.md', 'utf8').match(/^#+ .*$/gm) ?? [];
  const anchors = headings.map((heading) =>
    heading
      .replace(/^#+ /, '')
      .toLowerCase()
      .replace(/[^a-z0-9 -]/g, ''),
  );
  expect(anchors.map((anchor) => anchor.replaceAll(' ', '-'))).toEqual(expect.arrayContaining([...ADOPTION_CASES]));
});

test.each(['provisioned', 'onDemandMaximum', 'accountLimit'] as const)(
  'doctor – %s throttles an index of another construct – advises an option that this index has, and no shards',
  (cause) => {
    const writes: Traffic = { throttled: 5, byCause: { [cause]: 5 }, provisioned: 10, maximum: 10 };
    const [advice, ...more] = ofUnshardedKey(unsharded(ofIndex, writes), HIDDEN);
    expect(more).toEqual([]);
    expect(advice!.change).toContain('More shards do not help');
    expect(advice!.change).not.toMatch(/addShardedIndex|Shard[A-Z]/);
    expect(advice!.code).toBeUndefined();
  },
);
