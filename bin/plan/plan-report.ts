import type { PlanRule } from '../../lib/core/planning/plan';
import type { IndexLimit, IndexPlan, IndexTraffic } from '../../lib/core/planning/plan-index';
import type { StreamPlan, StreamTraffic } from '../../lib/core/planning/plan-stream';
import { describeExceeded, type ExceededServiceLimit } from '../../lib/core/planning/service-limits';
import { besideValue, type ShardFormat } from '../../lib/core/sharding/shard-format';
import { counted, dollars, roughPercent } from '../plain-text';
import { textTable } from '../text-table';
import {
  adaptiveIndexSnippet,
  exampleIndex,
  exampleTable,
  indexSnippet,
  isInOneAttribute,
  keyspacesSnippet,
  streamSnippet,
  tableSnippet,
} from './cdk-snippet';
import type { Language } from './code-language';
import type { SamplePlacement } from './sample-placement';
import { type FormulaNumber, formulaLines } from './shard-numbers';

/** The statistics of a sample. */
export interface SampleSummary {
  keyField: string;
  records: number;
  keys: number;
  busiest: { key: string; share: number };
}

/** The plan of the same index with another utilization of its partitions. */
export interface TradeOff {
  utilization: number;
  partitions: number;
  shards: number;
  readUnitsPerPage: number;
}

/** The kind of the sharded resource: an index, a table by its own key, or a table of Amazon Keyspaces. */
export type PlannedKind = 'index' | 'table' | 'keyspaces';

/** The results of `even-shards plan`. */
interface Planned {
  sample?: SampleSummary;
  stream?: {
    traffic: StreamTraffic;
    rateIsLimit: boolean;
    /** Whether the design uses balanced explicit hash keys of a registry. */
    balanced: boolean;
    plan: StreamPlan;
    placement?: SamplePlacement;
  };
  index?: {
    traffic: IndexTraffic;
    shardFormat: ShardFormat;
    plan: IndexPlan;
    /** Absent if the plan itself uses the formula of AWS. */
    formula?: FormulaNumber;
    tradeOffs: TradeOff[];
    kind: PlannedKind;
  };
}

/** The lines of a plan's report. */
export function planReport({ sample, stream, index }: Planned, language: Language): string[] {
  return [
    ...(sample ? [...sampleLines(sample), ''] : []),
    ...(stream ? streamLines(stream, sample, language) : []),
    ...(stream && index ? ['', ''] : []),
    ...(index
      ? index.kind === 'keyspaces'
        ? keyspacesLines(index, language)
        : indexLines(index, sample, language)
      : []),
  ];
}

function sampleLines({ records, keys, keyField, busiest }: SampleSummary): string[] {
  return [
    `sample: ${counted(records, 'record')}, ${counted(keys, 'key')} by ${keyField}`,
    `the busiest, ${busiest.key}, has ${roughPercent(busiest.share)} of the records`,
  ];
}

function streamLines(
  { traffic, rateIsLimit, balanced, plan, placement }: NonNullable<Planned['stream']>,
  sample: SampleSummary | undefined,
  language: Language,
): string[] {
  const { shards, boundBy, rules, limits, monthlyCost, notFixed } = plan;
  const rate = whole(traffic.recordsPerSecond);
  return [
    `stream: ${counted(shards, 'shard')} for ${rate} records a second, bound by ${boundBy}`,
    ...(rateIsLimit ? [`  no rate was given: ${rate} is the most that the busiest key allows with head-room`] : []),
    ...(traffic.keys === undefined && placement === undefined ? [] : designLines(plan, balanced, placement)),
    '',
    ...rulesTable(rules),
    '',
    ...limitsTable(limits),
    ...(placement ? ['', ...placementLines(placement)] : []),
    '',
    `  a month: ${dollars(monthlyCost.total)} (shards ${dollars(monthlyCost.shards)}, records ` +
      `${dollars(monthlyCost.records)}, enhanced fan-out ${dollars(monthlyCost.fanOut)}; prices of ${monthlyCost.prices})`,
    ...packedLines(monthlyCost),
    ...notFixedLines([...notFixed, ...(sample && placement ? [ceiling(sample, placement)] : [])]),
    ...exceededLines(plan.exceeded),
    '',
    ...streamSnippet(shards, balanced, language),
  ];
}

/** The cost with aggregates across keys, if the records then cost at most half as much. */
function packedLines({ records, recordsPacked }: StreamPlan['monthlyCost']): string[] {
  if (recordsPacked > records / 2) return [];
  return [
    `  in full aggregates across keys (aggregation: 'packed') the records cost ${dollars(recordsPacked)} instead of ${dollars(records)}`,
  ];
}

/** The rate of the stream at which one key uses all throughput of a shard. */
function ceiling({ busiest }: SampleSummary, { busiestKeyFillsShardAt }: SamplePlacement): string {
  const rate = whole(busiestKeyFillsShardAt);
  return `${busiest.key} alone fills a shard when the stream has ${rate} records a second: beyond that, split this key`;
}

/** Lines about the chosen keys (hashed or balanced), and about the number of shards that the other keys need. */
function designLines(
  { shards, shardsIfBalanced }: StreamPlan,
  balanced: boolean,
  placement?: SamplePlacement,
): string[] {
  const upTo = placement && `no number up to ${whole(placement.tried)}`;
  const byHash = placement ? placement.shardsByHash : shards;
  const ifBalanced = placement ? placement.shardsIfBalanced : shardsIfBalanced;
  const count = (shardCount: number | undefined) =>
    shardCount === undefined ? `${upTo} would do` : `${counted(shardCount, 'shard')} would do`;
  if (placement && byHash === undefined && ifBalanced === undefined) {
    return [`  but ${upTo} leaves head-room: the busiest keys are too hot`];
  }
  if (balanced) {
    return [
      '  for keys with balanced explicit hash keys, from a HashKeyRegistry, as in the code below' +
        (placement ? `; by partition key (MD5) ${count(byHash)}` : ''),
    ];
  }
  return [`  for keys placed by partition key (MD5); with a HashKeyRegistry ${count(ifBalanced)}: see --balanced`];
}

function placementLines(placement: SamplePlacement): string[] {
  const { planned, busiestByHash, busiestIfBalanced, shardsByHash, shardsIfBalanced, tried } = placement;
  const fewest = (count: number | undefined) => (count === undefined ? `none up to ${whole(tried)}` : String(count));
  return [
    ...textTable(
      ['the keys of the sample, placed', `busiest of ${counted(planned, 'shard')}`, 'shards that keep the head-room'],
      [
        ['by partition key (MD5)', `${roughPercent(busiestByHash)} used`, fewest(shardsByHash)],
        ['by balanced explicit hash keys', `${roughPercent(busiestIfBalanced)} used`, fewest(shardsIfBalanced)],
      ],
    ),
  ];
}

function indexLines(
  { traffic, shardFormat, plan, formula, tradeOffs, kind }: NonNullable<Planned['index']>,
  sample: SampleSummary | undefined,
  language: Language,
): string[] {
  const { boundBy, rules, limits, partitions, overloadProbability, monthlyCost, notFixed } = plan;
  return [
    ...(formula === undefined ? [] : formulaLines(formula, plan)),
    `${kind}: ${indexHeadline(plan, traffic)}, bound by ${boundBy}`,
    `  cost: ${pagePrice(plan)}`,
    ...countLines(plan),
    ...numberLines(plan, shardFormat, kind),
    `  on ${partitions} partitions, one of which is overloaded with a probability of ${roughPercent(overloadProbability)}`,
    '',
    ...rulesTable(rules),
    '',
    ...limitsTable(limits),
    ...roomLines(plan, traffic, kind),
    ...storedLines(plan, traffic),
    '',
    '  the same traffic on other numbers of partitions:',
    ...textTable(
      ['partitions busy', 'partitions', 'shards', 'read units a page'],
      tradeOffs.map((each) => [roughPercent(each.utilization), each.partitions, each.shards, each.readUnitsPerPage]),
    ),
    `  (fewer shards need more partitions: increase the warm throughput of the ${kind} to 1,000 write units for each)`,
    '',
    `  a month of this ${kind} on demand${kind === 'index' ? ', without the writes of its table' : ''}: ${dollars(monthlyCost.total)} ` +
      `(writes ${dollars(monthlyCost.writes)}, pages ${dollars(monthlyCost.pages)}; prices of ${monthlyCost.prices})`,
    ...notFixedLines(notFixed),
    ...exceededLines(plan.exceeded),
    '',
    ...(kind === 'table'
      ? tableSnippet(plan, exampleTable(sample?.keyField ?? 'value'), language, shardFormat)
      : [
          ...indexSnippet(
            plan,
            exampleIndex(sample?.keyField ?? (plan.byValue ? 'value' : undefined)),
            language,
            shardFormat,
          ),
          ...unknownShares(plan, language, shardFormat),
        ]),
  ];
}

/** Explains a plan without shares: such a plan applies to the whole table, or to one value with all writes. */
function unknownShares(plan: IndexPlan, language: Language, shardFormat: ShardFormat): string[] {
  if (plan.byValue !== undefined || plan.shards === 1) return [];
  return [
    '',
    '  for an index by a value whose shares you do not know: each value gets the shards that it turns out to need, the',
    `  others one, and a page of one shard takes ${plan.page.readUnitsUnsharded} read units (see the guide "Counts that grow by themselves")`,
    '',
    ...adaptiveIndexSnippet(plan, language, shardFormat),
  ];
}

/** Lines for a table of Amazon Keyspaces: its partitions have the limits of DynamoDB, but other prices. */
function keyspacesLines(
  { traffic, shardFormat, plan, formula, kind }: NonNullable<Planned['index']>,
  language: Language,
): string[] {
  const { boundBy, rules, limits, page, notFixed } = plan;
  return [
    ...(formula === undefined ? [] : formulaLines(formula, plan)),
    `table of Amazon Keyspaces: ${indexHeadline(plan, traffic)}, bound by ${boundBy}`,
    ...countLines(plan),
    ...numberLines(plan, shardFormat, kind),
    '  a partition takes 1,000 write units and 3,000 read units a second',
    '',
    ...rulesTable(rules),
    '',
    ...limitsTable(limits),
    '',
    `  a page of ${counted(page.shards, 'shard')} takes ${page.readUnits} read units at LOCAL_ONE, twice as many at LOCAL_QUORUM`,
    ...notFixedLines(notFixed),
    '',
    ...keyspacesSnippet(plan, language, shardFormat),
  ];
}

function indexHeadline({ shards }: IndexPlan, { writesPerSecond }: IndexTraffic): string {
  return `${counted(shards, 'shard')} for ${whole(writesPerSecond)} writes a second`;
}

/** The shards of each value. */
function countLines({ shards, byValue, rules, boundBy }: IndexPlan): string[] {
  if (byValue === undefined) return [];
  const counts = Object.values(byValue);
  const many = counts.filter((count) => count > 1);
  const parts = [
    ...(many.length > 0 ? [`${counted(sumOf(many), 'shard')} of ${counted(many.length, 'value')}`] : []),
    ...(counts.length > many.length
      ? [`one shard for each of ${counted(counts.length - many.length, 'other value')}`]
      : []),
  ];
  const { shards: needed } = rules.find(({ rule }) => rule === boundBy)!;
  const why = shards > needed ? `; the rule needs ${whole(needed)}, and the shards of each value are rounded up` : '';
  return [`  ${parts.join(' and ')}${why}`];
}

/** The names of the shards that a query reads, if the user gave a shard format. */
function numberLines({ shardNumbers, byValue }: IndexPlan, shardFormat: ShardFormat, kind: PlannedKind): string[] {
  if (Object.values(shardFormat).every((part) => part === undefined)) return [];
  const [value] = Object.entries(byValue ?? {}).reduce((most, each) => (each[1] > most[1] ? each : most), ['VALUE', 0]);
  const isBesideValue = kind === 'table' || isInOneAttribute(shardFormat);
  const [first, last] = [shardNumbers.first, shardNumbers.last].map((shard) =>
    isBesideValue ? besideValue(shardFormat, value, shard) : String(shard),
  );
  return [`  a query${byValue && !isBesideValue ? ` of ${value}` : ''} reads the shards ${first} to ${last}`];
}

/**
 * DynamoDB places shards on partitions at random. A plan that uses all capacity with the worst placement still has free
 * capacity with most placements.
 */
function roomLines({ limits }: IndexPlan, { probability = 0.05 }: IndexTraffic, kind: PlannedKind): string[] {
  const roomAt = (name: IndexLimit): string => `${growth(1 / limits.find(({ limit }) => limit === name)!.used)} times`;
  return [
    `  room: DynamoDB places the shards on partitions at random. In half of all placements the ${kind} takes ` +
      `${roomAt('writes to the busiest partition, typically')} this traffic, in all but`,
    `  ${roughPercent(probability)} of them ${roomAt('writes to the busiest partition, at worst')}; its partitions together take ` +
      `${roomAt('writes to all partitions')}`,
  ];
}

/** Lines for the stored bytes, because DynamoDB also splits partitions by size. */
function storedLines({ stored }: IndexPlan, { storedGb, hasLocalSecondaryIndex }: IndexTraffic): string[] {
  if (stored === undefined) return [];
  const { gbOfShard, partitions } = stored;
  const divided = hasLocalSecondaryIndex
    ? 'DynamoDB rejects writes to a shard of more than 10 GB, because the table has a local secondary index'
    : 'a shard of more than 10 GB is divided by its sort keys';
  return [
    `  stored: ${whole(storedGb!)} GB on ${counted(partitions, 'partition')} at least, ${whole(gbOfShard)} GB in the fullest shard;`,
    `  ${divided}`,
  ];
}

function pagePrice({ page: { shards, readUnits, readUnitsUnsharded } }: IndexPlan): string {
  if (shards === 1) return `a page takes ${readUnits} read units, all of them in its one shard`;
  return `a page of ${shards} shards takes ${readUnits} read units, of one shard ${readUnitsUnsharded}`;
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function rulesTable(rules: readonly PlanRule<string>[]): string[] {
  return textTable(
    ['rule', 'shards'],
    rules.map(({ rule, shards }) => [rule, shards]),
  );
}

function limitsTable(limits: readonly { limit: string; used: number }[]): string[] {
  return textTable(
    ['what breaks first', 'used', 'breaks at'],
    limits.map(({ limit, used }) => [
      limit,
      roughPercent(used),
      used > 0 ? `${growth(1 / used)} times this traffic` : 'never',
    ]),
  );
}

function growth(multiple: number): string {
  return multiple < 2 ? multiple.toFixed(2) : multiple < 10 ? multiple.toFixed(1) : whole(Math.round(multiple));
}

function notFixedLines(sentences: readonly string[]): string[] {
  if (sentences.length === 0) return [];
  return ['', '  what no number of shards fixes:', ...sentences.map((sentence) => `  ! ${sentence}`)];
}

/** Lines for the limits of AWS that the plan exceeds. They come first. */
function exceededLines(exceeded: readonly ExceededServiceLimit[]): string[] {
  const lines = (title: string, limits: readonly ExceededServiceLimit[]): string[] =>
    limits.length === 0 ? [] : ['', `  ${title}:`, ...limits.map((limit) => `  ! ${describeExceeded(limit)}`)];
  return [
    ...lines(
      'this plan exceeds limits of AWS, so its price is only theoretical',
      exceeded.filter(({ increasedBy }) => increasedBy === undefined),
    ),
    ...lines(
      'AWS allows this only after you request a higher quota',
      exceeded.filter(({ increasedBy }) => increasedBy !== undefined),
    ),
  ];
}

function whole(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 1 });
}
