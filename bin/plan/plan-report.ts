import type { PlanRule } from '../../lib/core/planning/plan';
import type { IndexPlan, IndexTraffic } from '../../lib/core/planning/plan-index';
import type { StreamPlan, StreamTraffic } from '../../lib/core/planning/plan-stream';
import { textTable } from '../local/sample/text-table';
import { indexSnippet, keyspacesSnippet, streamSnippet } from './cdk-snippet';
import type { SamplePlacement } from './sample-placement';

/** What was found in a sample. */
export interface SampleSummary {
  keyField: string;
  records: number;
  keys: number;
  busiest: { key: string; share: number };
}

/** An index with its partitions less or more busy. */
export interface TradeOff {
  utilisation: number;
  partitions: number;
  shards: number;
  readUnitsPerPage: number;
}

/** All that `even-shards plan` has to say. */
export interface Planned {
  sample?: SampleSummary;
  stream?: { traffic: StreamTraffic; rateIsLimit: boolean; plan: StreamPlan; placement?: SamplePlacement };
  index?: { traffic: IndexTraffic; plan: IndexPlan; tradeOffs: TradeOff[]; keyspaces: boolean };
}

/** A plan for people to read, line by line. */
export function planReport({ sample, stream, index }: Planned): string[] {
  return [
    ...(sample ? [...sampleLines(sample), ''] : []),
    ...(stream ? streamLines(stream, sample) : []),
    ...(stream && index ? ['', ''] : []),
    ...(index ? (index.keyspaces ? keyspacesLines(index) : indexLines(index, sample)) : []),
  ];
}

function sampleLines({ records, keys, keyField, busiest }: SampleSummary): string[] {
  return [
    `sample: ${whole(records)} records, ${whole(keys)} keys by ${keyField}`,
    `the busiest, ${busiest.key}, has ${percent(busiest.share)} of the records`,
  ];
}

function streamLines(
  { traffic, rateIsLimit, plan, placement }: NonNullable<Planned['stream']>,
  sample: SampleSummary | undefined,
): string[] {
  const { shards, boundBy, rules, limits, monthlyCost, notFixed, shardsIfBalanced } = plan;
  const rate = whole(traffic.recordsPerSecond);
  return [
    `stream: ${counted(shards, 'shard')} for ${rate} records a second, bound by ${boundBy}`,
    ...(rateIsLimit ? [`  no rate was given: ${rate} is the most that the busiest key allows with head-room`] : []),
    ...(placement && placement.shardsByHash !== shards ? [placementAdvice(placement)] : []),
    ...(shardsIfBalanced < shards
      ? [`  with balanced explicit hash keys ${counted(shardsIfBalanced, 'shard')} would do`]
      : []),
    '',
    ...rulesTable(rules),
    '',
    ...limitsTable(limits),
    ...(placement ? ['', ...placementLines(shards, placement)] : []),
    '',
    `  a month: ${dollars(monthlyCost.total)} (shards ${dollars(monthlyCost.shards)}, records ` +
      `${dollars(monthlyCost.records)}, enhanced fan-out ${dollars(monthlyCost.fanOut)}; ${monthlyCost.prices})`,
    ...packedLines(monthlyCost),
    ...notFixedLines([...notFixed, ...(sample && placement ? [ceiling(sample, placement)] : [])]),
    '',
    ...streamSnippet(placement?.shardsIfBalanced ?? shards),
  ];
}

/** What packs save, where that is worth a line. */
function packedLines({ records, recordsPacked }: StreamPlan['monthlyCost']): string[] {
  if (recordsPacked > records / 2) return [];
  return [
    `  in full packs (aggregation: 'packed') the records cost ${dollars(recordsPacked)} instead of ${dollars(records)}`,
  ];
}

/** At which rate one key alone fills a shard. */
function ceiling({ busiest }: SampleSummary, { busiestKeyFillsShardAt }: SamplePlacement): string {
  const rate = whole(busiestKeyFillsShardAt);
  return `${busiest.key} alone fills a shard when the stream has ${rate} records a second: beyond that, split this key`;
}

function placementAdvice({ shardsByHash, shardsIfBalanced, tried }: SamplePlacement): string {
  if (shardsIfBalanced === undefined)
    return `  but no number of shards up to ${whole(tried)} leaves head-room: the busiest keys are too hot`;
  const byHash = shardsByHash === undefined ? `no number up to ${whole(tried)} is enough` : `it takes ${shardsByHash}`;
  const ifBalanced = counted(shardsIfBalanced, 'shard');
  return `  but by partition keys alone ${byHash}; with balanced explicit hash keys (BalancedKeyAllocator) ${ifBalanced}`;
}

function placementLines(shards: number, placement: SamplePlacement): string[] {
  const { busiestByHash, busiestIfBalanced, shardsByHash, shardsIfBalanced, tried } = placement;
  const fewest = (count: number | undefined) => (count === undefined ? `none up to ${whole(tried)}` : String(count));
  return [
    ...textTable(
      ['the keys of the sample, placed', `busiest of ${counted(shards, 'shard')}`, 'shards that keep the head-room'],
      [
        ['by partition key (MD5)', `${percent(busiestByHash)} used`, fewest(shardsByHash)],
        ['by balanced explicit hash keys', `${percent(busiestIfBalanced)} used`, fewest(shardsIfBalanced)],
      ],
    ),
  ];
}

function indexLines(
  { traffic, plan, tradeOffs }: NonNullable<Planned['index']>,
  sample: SampleSummary | undefined,
): string[] {
  const { shards, boundBy, rules, limits, page, partitions, overloadProbability, monthlyCost, notFixed } = plan;
  return [
    `index: ${counted(shards, 'shard')} for ${whole(traffic.writesPerSecond)} writes a second, bound by ${boundBy}`,
    `  on ${partitions} partitions, one of which is overloaded with a probability of ${percent(overloadProbability)}`,
    '',
    ...rulesTable(rules),
    '',
    ...limitsTable(limits),
    '',
    `  both sides of the price: a page of ${page.shards === 1 ? 'one shard' : `${page.shards} shards`} takes ` +
      `${page.readUnits} read units, of one shard ${page.readUnitsUnsharded}`,
    ...textTable(
      ['partitions busy', 'partitions', 'shards', 'read units a page'],
      tradeOffs.map((each) => [percent(each.utilisation), each.partitions, each.shards, each.readUnitsPerPage]),
    ),
    '  (fewer shards need more partitions: raise the warm throughput of the index to 1,000 write units for each)',
    '',
    `  a month: ${dollars(monthlyCost.total)} (writes ${dollars(monthlyCost.writes)}, pages ` +
      `${dollars(monthlyCost.pages)}; ${monthlyCost.prices})`,
    ...notFixedLines(notFixed),
    '',
    ...indexSnippet(plan, sample?.keyField ?? (plan.byValue ? 'value' : undefined)),
  ];
}

/** A table of Amazon Keyspaces: its partitions have the limits of DynamoDB's, and prices of their own. */
function keyspacesLines({ traffic, plan }: NonNullable<Planned['index']>): string[] {
  const { shards, boundBy, rules, limits, page, notFixed } = plan;
  return [
    `table of Amazon Keyspaces: ${counted(shards, 'shard')} for ${whole(traffic.writesPerSecond)} writes a second, bound by ${boundBy}`,
    '  a partition takes 1,000 write units and 3,000 read units a second',
    '',
    ...rulesTable(rules),
    '',
    ...limitsTable(limits),
    '',
    `  a page of ${counted(page.shards, 'shard')} takes ${page.readUnits} read units at LOCAL_ONE, twice as many at LOCAL_QUORUM`,
    ...notFixedLines(notFixed),
    '',
    ...keyspacesSnippet(plan),
  ];
}

function rulesTable(rules: readonly PlanRule<string>[]): string[] {
  return textTable(
    ['rule', 'shards'],
    rules.map(({ rule, shards }) => [rule, shards]),
  );
}

function limitsTable(limits: StreamPlan['limits'] | IndexPlan['limits']): string[] {
  return textTable(
    ['what breaks first', 'used', 'breaks at'],
    limits.map(({ limit, used }) => [
      limit,
      percent(used),
      used > 0 ? `${growth(1 / used)} times this traffic` : 'never',
    ]),
  );
}

function growth(multiple: number): string {
  return multiple < 10 ? multiple.toFixed(1) : whole(Math.round(multiple));
}

function notFixedLines(sentences: readonly string[]): string[] {
  if (sentences.length === 0) return [];
  return ['', '  what no number of shards fixes:', ...sentences.map((sentence) => `  ! ${sentence}`)];
}

function counted(count: number, what: string): string {
  return `${whole(count)} ${what}${count === 1 ? '' : 's'}`;
}

function whole(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 1 });
}

function percent(part: number): string {
  const percents = part * 100;
  return `${percents >= 10 || percents === 0 ? Math.round(percents) : Number(percents.toPrecision(2))}%`;
}

function dollars(amount: number): string {
  return `$${amount.toLocaleString('en', { maximumFractionDigits: amount < 100 ? 2 : 0 })}`;
}
