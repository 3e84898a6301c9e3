import { guideAddress } from '../../lib/construct/guide-link';
import { InvalidArgumentError } from '../../lib/core/kernel/errors';
import { HOURS_PER_MONTH, LIST_PRICES } from '../../lib/core/planning/list-prices';
import { type IndexPlan, type IndexTraffic, planIndex } from '../../lib/core/planning/plan-index';
import { PARTITION_WRITE_UNITS } from '../../lib/core/planning/suffix-range';
import {
  type AttributeRejections,
  type IndexKeyAttribute,
  indexRejections,
  type RejectionReason,
  rejectionReasonOf,
} from '../../lib/core/sharded-index/config/index-rejections';
import { MAX_INDEX_SHARDS } from '../../lib/core/sharding/shard-count';
import { counted, dollars, percent, roughPercent } from '../plain-text';
import { indexSnippet, type Language, tableSnippet } from '../plan/cdk-snippet';
import { formulaLines, formulaNumber, planLines } from '../plan/shard-numbers';
import type { ReportedKey } from './contributor-insights';
import type { Diagnosis } from './diagnosis';
import type { Throughput, UnshardedKey } from './observations';
import { estimatedShare, sampledValues, type TableSample } from './table-sample';
import { type Throttling, throttlingsOf } from './throttling';

/** How to print keys and code. */
export interface AdviceOptions {
  readonly showKeys: boolean;
  readonly language: Language;
}

/** The headings of the guide `adopt.md` to which the advice links. */
export const ADOPTION_CASES = [
  'an-index-must-not-break-writers',
  'same-app-and-same-id',
  'same-app-not-convertible',
  'another-owner',
  'uneven-shards',
] as const;

type AdoptionCase = (typeof ADOPTION_CASES)[number];

/** The address of a case of the guide. */
export function adoptionGuide(of: AdoptionCase): string {
  return guideAddress('adopt', of);
}

/** The problems of a table or an index without shards, with advice for a user who has not used this library yet. */
export function ofUnshardedKey(unsharded: UnshardedKey, options: AdviceOptions): Diagnosis[] {
  const { path, indexName, throughput, mustBeMeasured } = unsharded;
  const kind = indexName === undefined ? 'table' : 'index';
  const found = throttlingsOf({ kind }, throughput).flatMap((throttling): Diagnosis[] => {
    const { id, what, change, operation, cause, events } = throttling;
    if (cause === 'keyRange' && operation === 'write') return hotWrites(unsharded, throttling, options);
    return [{ id, weight: 'refused', path, what, change, throttling: { operation, cause, events } }];
  });
  if (mustBeMeasured && !throughput.isMeasured) found.push(notMeasured(path, `the traffic of the ${kind}`, NO_METRICS));
  return [...found, ...rejections(unsharded)];
}

/** An idle resource and missing metrics look the same, so the doctor reports both. */
export const NO_METRICS = 'CloudWatch has no value: it had no traffic, or its metrics are missing';

/** Something that the doctor did not measure, and how to measure it. */
export function notMeasured(path: string, noun: string, why: string, change = MORE_HOURS): Diagnosis {
  return { id: 'notMeasured', weight: 'unknown', path, what: `${noun}: ${why}`, change };
}

const MORE_HOURS = 'read more hours with --hours, or send traffic and run doctor again';

/** The kind of load that throttles a partition, as far as it is measured. */
type Evidence =
  | { readonly kind: 'hotKey'; readonly keys: readonly { readonly value: string; readonly share: number }[] }
  | { readonly kind: 'hotItem' | 'manyKeys' | 'sharded' | 'unknown' };

function hotWrites(unsharded: UnshardedKey, { what, operation, cause, events }: Throttling, options: AdviceOptions) {
  const { path, indexName, throughput, report, sample } = unsharded;
  const { peakUnits = 0, peakThrottled = 0 } = throughput.writes;
  const evidence = evidenceOf(unsharded, peakUnits + peakThrottled);
  const advice = ADVICE[evidence.kind](unsharded);
  const helps = evidence.kind === 'hotKey' || evidence.kind === 'unknown';
  const planned = helps ? planOf(unsharded, peakUnits + peakThrottled, evidence) : undefined;
  const diagnosis: Diagnosis = {
    ...HOT[indexName === undefined ? 'table' : 'index'][evidence.kind],
    weight: 'refused',
    path,
    what: indexName === undefined ? what : `${what}, and the table throttles these writes with the index`,
    change: advice.change,
    throttling: { operation, cause, events },
    measured: [
      `load: ${units(peakUnits)} write units a second in the busiest minute, and ${units(peakThrottled)} throttled writes a second. Callers ` +
        `retry throttled writes, so the demand is ${units(peakUnits)} to ${units(peakUnits + peakThrottled)} units a second`,
      ...keyLines(unsharded, options),
      ...(planned === undefined ? (helps ? [TOO_MANY] : []) : plannedLines(planned)),
      `do shards help: ${advice.helps}`,
    ],
    ...(planned !== undefined && code(unsharded, planned.plan, evidence, options)),
  };
  const missing = [
    ...(typeof report === 'string' ? [notMeasured(path, 'the busiest keys', report, turnOn(unsharded))] : []),
    ...(typeof sample === 'string'
      ? [notMeasured(path, 'the sample of the table', sample, 'allow dynamodb:Scan')]
      : []),
  ];
  return [diagnosis, ...missing];
}

/** The id of the problem, for an index and for the key of a table. */
const HOT = {
  index: {
    hotKey: { id: 'hotIndexKey' },
    hotItem: { id: 'hotIndexKey' },
    manyKeys: { id: 'fewPartitions' },
    sharded: { id: 'hotPartition' },
    unknown: { id: 'hotPartition' },
  },
  table: {
    hotKey: { id: 'hotTableKey' },
    hotItem: { id: 'hotItem' },
    manyKeys: { id: 'fewPartitions' },
    sharded: { id: 'hotPartition' },
    unknown: { id: 'hotPartition' },
  },
} as const;

/** How to turn on the mode that lists throttled keys, or for an index the mode that lists all keys. */
function turnOn({ tableName, indexName }: UnshardedKey): string {
  const mode = indexName === undefined ? 'THROTTLED_KEYS' : 'ACCESSED_AND_THROTTLED_KEYS';
  const index = indexName === undefined ? '' : ` --index-name ${indexName}`;
  return (
    `run \`aws dynamodb update-contributor-insights --table-name ${tableName}${index} --contributor-insights-action ENABLE ` +
    `--contributor-insights-mode ${mode}\`, wait for the next throttles, and run doctor again, or read a sample with --sample`
  );
}

/** A key whose demand is at least this part of the limit of a partition is hot. */
const HOT_PART = 0.75;

/** A key with this part of all throttles is hot, whatever the demand is. */
const MAX_THROTTLES = 0.5;

function evidenceOf({ key, indexName, report, sample, throughput }: UnshardedKey, demand: number): Evidence {
  const partition = key.filter(({ role }) => role === 'partition');
  const hasSortKey = key.some(({ role }) => role === 'sort');
  if (looksSharded(key, indexName)) return { kind: 'sharded' };
  const isHot = (share: number) => share * demand >= HOT_PART * PARTITION_WRITE_UNITS;
  if (report !== undefined && typeof report !== 'string') {
    const keys = report.counted === 'accesses' ? withThrottles(report.partitionKeys, throughput) : report.partitionKeys;
    const busiest = keys.reduce((most, each) => (each.share > most.share ? each : most));
    const isBusy = isHot(busiest.share) || (report.counted === 'throttles' && busiest.share >= MAX_THROTTLES);
    if (!isBusy) return { kind: 'manyKeys' };
    // One item is in one place, so shards cannot divide its writes. Entries of an index are separate items.
    const isOneItem = !hasSortKey || (report.items[0]?.share ?? 0) >= busiest.share * ONE_ITEM;
    if (indexName === undefined && isOneItem) return { kind: 'hotItem' };
    return { kind: 'hotKey', keys: keys.map(({ key: [value = ''], share }) => ({ value, share })) };
  }
  if (sample === undefined || typeof sample === 'string' || partition.length !== 1) return { kind: 'unknown' };
  // A sample shows stored items. A table key with many items, or an index value with many items, is probably busy.
  const values = sampledValues(sample, partition[0]!.name);
  return values.length > 0 && isHot(values[0]!.share)
    ? { kind: 'hotKey', keys: values.slice(0, 25) }
    : { kind: 'unknown' };
}

/** Whether an index has the key of a sharded index: a value and a shard number, or an attribute with the name that writers set by default. */
function looksSharded(key: readonly IndexKeyAttribute[], indexName: string | undefined): boolean {
  const [first, second] = key.filter(({ role }) => role === 'partition');
  return indexName !== undefined && (second?.type === 'N' || first?.name === `${indexName}Shard`);
}

/**
 * The shares of the keys of the demand. Contributor Insights do not count the writes that an index throttles, so these writes
 * are added to the keys that are near the limit of a partition. Several keys in one partition share them.
 */
function withThrottles(keys: readonly ReportedKey[], { writes }: Throughput): ReportedKey[] {
  const { peakUnits = 0, peakThrottled = 0 } = writes;
  const accepted = keys.map(({ share }) => share * peakUnits);
  const isFull = (units: number) => units >= HOT_PART * PARTITION_WRITE_UNITS;
  const full = accepted.filter(isFull).reduce((sum, units) => sum + units, 0);
  if (full === 0) return [...keys];
  const demand = peakUnits + peakThrottled;
  return keys.map((each, n) => {
    const units = accepted[n]!;
    return { ...each, share: (units + (isFull(units) ? (peakThrottled * units) / full : 0)) / demand };
  });
}

/** An item with this part of the writes of its partition key has nearly all of them. */
const ONE_ITEM = 0.9;

const ADVICE: Record<Evidence['kind'], (unsharded: UnshardedKey) => { helps: string; change: string }> = {
  hotKey: ({ indexName }) =>
    indexName === undefined
      ? {
          helps:
            'yes, if the writes of the busy key go to many items. A shard must be a part of the key, so the items need a new table',
          change: 'create a KeyShardedTable, and move the items and the writers to it',
        }
      : {
          helps:
            'yes. The writes of the busy key are then divided among partitions, and the index no longer throttles the table',
          change:
            'add a sharded index beside this index, let writers set its attributes, move the readers, and then remove this index',
        },
  hotItem: () => ({
    helps: 'no. One item gets the writes, and an item is in one partition',
    change:
      'write to the item less often, such as by adding up changes in the application, or divide it into several items',
  }),
  manyKeys: ({ warmWriteUnits, throughput: { writes }, indexName }) => {
    const demand = Math.ceil((writes.peakUnits ?? 0) + (writes.peakThrottled ?? 0));
    const noun = indexName === undefined ? 'the table' : 'the index';
    const now = warmWriteUnits === undefined ? '' : `, now ${units(warmWriteUnits)}`;
    return {
      helps:
        'no. No single key is too busy: many keys share a partition, and DynamoDB splits a partition that stays hot',
      change: `set warmThroughput of ${noun} to writeUnitsPerSecond: ${Math.max(4_000, 2 * demand)}${now}, before the next load; warm throughput cannot be lowered`,
    };
  },
  sharded: () => ({
    helps: 'the index already has shards, as its key shows',
    change:
      'run `npx even-shards doctor --stack NAME`, which knows the shard counts of the index and says whether they are too few',
  }),
  unknown: ({ indexName }) => {
    const noun = indexName === undefined ? 'table' : 'index';
    const ofTable = indexName === undefined ? '; the shards of an index do not help its table' : '';
    return {
      helps: `only if few keys get the writes. The busiest keys are not measured${ofTable}`,
      change: `measure the busiest keys of the ${noun} first. If few keys get the writes, use the code below${ofTable}`,
    };
  },
};

interface PlannedShards {
  readonly traffic: IndexTraffic;
  readonly plan: IndexPlan;
}

/** Undefined if no index can have enough shards for the demand. */
function planOf({ itemKb }: UnshardedKey, demand: number, evidence: Evidence): PlannedShards | undefined {
  // The metrics count units, so an entry of one unit stands for each unit. Only the cost of pages depends on the size.
  const writesPerSecond = Math.max(demand, 1);
  const shares = evidence.kind === 'hotKey' ? sharesOf(evidence.keys) : undefined;
  const traffic: IndexTraffic = { writesPerSecond, itemKb: Math.min(itemKb, 1), ...(shares && { shares }) };
  try {
    return { traffic, plan: planIndex(traffic) };
  } catch (error) {
    if (error instanceof InvalidArgumentError) return undefined;
    throw error;
  }
}

/** The shares of the busy keys. The remaining keys are in the plan as one value. */
const OTHERS = '';

function sharesOf(keys: readonly { readonly value: string; readonly share: number }[]): Record<string, number> {
  const rest = 1 - keys.reduce((sum, { share }) => sum + share, 0);
  return {
    ...Object.fromEntries(keys.map(({ value, share }) => [value, share])),
    ...(rest > 0.001 && { [OTHERS]: rest }),
  };
}

const TOO_MANY = `shards: this demand needs more than ${units(MAX_INDEX_SHARDS)} shards, and a query reads every shard for each page`;

function plannedLines({ traffic, plan }: PlannedShards): string[] {
  return [...formulaLines(formulaNumber(traffic, plan), plan), ...planLines(plan), costLine(plan)];
}

function costLine({ monthlyCost }: IndexPlan): string {
  return `cost: shards do not change the cost of writes, about ${dollars(monthlyCost.writes)} a month at this load (${monthlyCost.prices}); each page costs more`;
}

/** The code and the case of the guide. */
function code(
  { key, table, indexName, owner }: UnshardedKey,
  plan: IndexPlan,
  evidence: Evidence,
  { showKeys, language }: AdviceOptions,
): Pick<Diagnosis, 'code' | 'guide'> {
  const { byValue, ...uniform } = plan;
  const named = byValue === undefined ? [] : Object.entries(byValue).filter(([value]) => value !== OTHERS);
  const shown =
    evidence.kind !== 'hotKey' || byValue === undefined
      ? uniform
      : {
          ...plan,
          byValue: Object.fromEntries(named.map(([value, count], n) => [showKeys ? value : hidden(n), count])),
        };
  const isTable = indexName === undefined;
  const partition = key.filter(({ role }) => role === 'partition');
  const sortKey = key.find(({ role }) => role === 'sort');
  const ofOwner =
    owner === 'TableV2' ? 'same-app-and-same-id' : owner === 'Table' ? 'same-app-not-convertible' : 'another-owner';
  if (isTable) {
    const ofTable = { ...table, id: `Sharded${table.id}` };
    const snippet = tableSnippet(shown, ofTable, language);
    return { code: snippet, guide: adoptionGuide(ofOwner === 'another-owner' ? ofOwner : 'same-app-not-convertible') };
  }
  const [value] = partition;
  const index = { table, indexName: `${indexName}Sharded`, ...(value && { value }), ...(sortKey && { sortKey }) };
  return { code: indexSnippet(shown, index, language), guide: adoptionGuide(ofOwner) };
}

function hidden(n: number): string {
  return `key ${n + 1} (--show-keys)`;
}

function keyLines({ key, report, sample, tableName }: UnshardedKey, { showKeys }: AdviceOptions): string[] {
  const [partition] = key.filter(({ role }) => role === 'partition');
  const list = (keys: readonly { readonly value: string; readonly share: number }[]) =>
    keys
      .slice(0, MAX_SHOWN)
      .map(({ value, share }, n) => `${showKeys ? JSON.stringify(value) : hidden(n)} ${roughPercent(share)}`)
      .join(', ');
  const lines: string[] = [];
  if (report !== undefined && typeof report !== 'string') {
    const keys = report.partitionKeys.map(({ key: values, share }) => ({ value: values.join(' + '), share }));
    lines.push(`keys, by ${report.counted} in Contributor Insights: ${list(keys)}`);
  }
  if (sample !== undefined && typeof sample !== 'string' && partition !== undefined) {
    const values = sampledValues(sample, partition.name);
    if (values.length > 0) lines.push(`keys, by stored items of ${tableName}: ${list(values)}`);
    lines.push(reliability(sample, partition, values[0]?.value));
  }
  return lines;
}

const MAX_SHOWN = 3;

/** How much a sample of the table can be trusted. */
export function reliability(sample: TableSample, attribute?: IndexKeyAttribute, value?: string): string {
  const items = sample.segments.flat().length;
  const cost = `${counted(items, 'item')} of ${counted(sample.segments.length, 'segment')}, for ${counted(sample.readUnits, 'read unit')}`;
  if (sample.isWhole) return `sample: the whole table, ${cost}`;
  const holds = (item: Parameters<typeof rejectionReasonOf>[1]) =>
    attribute !== undefined && Object.values(item[attribute.name] ?? {})[0] === value;
  const { error } = estimatedShare(sample, value === undefined ? () => false : holds);
  return `sample: ${cost}; a share of the table differs by at most ${percent(Number(error.toFixed(3)))} with a probability of 95%. The sample shows stored items, not writes`;
}

/** Items that an index would reject. `wanted` is the key of the index that the user wants to add. */
function rejections({ path, indexName, wanted, key, sample }: UnshardedKey): Diagnosis[] {
  if (sample === undefined || typeof sample === 'string') return [];
  const attributes = wanted ?? (indexName === undefined ? [] : key);
  const { items, rejected, byAttribute } = indexRejections(attributes, sample.segments.flat());
  if (rejected === 0) return [];
  const { share, error } = estimatedShare(sample, (item) =>
    attributes.some((attribute) => rejectionReasonOf(attribute, item) !== undefined),
  );
  const range = sample.isWhole
    ? ''
    : `, ${percent(Math.max(0, share - error))} to ${percent(Math.min(1, share + error))} of the table`;
  const what = `an index on ${attributes.map(({ name }) => name).join(', ')} would reject puts of ${counted(rejected, 'item')} of ${items.toLocaleString('en')} in the sample (${percent(share)}${range})`;
  return [
    {
      id: 'rejectedByIndex',
      weight: 'refused',
      path,
      what,
      change:
        'correct these items and the writers that put them, before you add the index: from its creation, DynamoDB rejects each put of such an item',
      measured: byAttribute.filter((each) => each.rejected > 0).map(rejectionLine),
      guide: adoptionGuide('an-index-must-not-break-writers'),
    },
  ];
}

const REASONS: Record<RejectionReason, string> = {
  otherType: 'with another type',
  null: 'NULL',
  empty: 'empty',
  tooLong: 'too long',
};

function rejectionLine({ attribute: { name, type }, share, byReason, absent }: AttributeRejections): string {
  const reasons = (Object.entries(byReason) as [RejectionReason, number][]).map(
    ([reason, count]) => `${count.toLocaleString('en')} ${REASONS[reason]}`,
  );
  const without = absent > 0 ? `; ${counted(absent, 'item')} without it, which the index does not contain` : '';
  return `${name} (type ${type}): ${percent(share)} rejected, ${reasons.join(', ')}${without}`;
}

function units(number: number): string {
  return Math.round(number).toLocaleString('en');
}

/** The cost of a month of shards of a stream. */
export function shardDollars(shards: number): number {
  return Math.round(shards * LIST_PRICES.shardHour * HOURS_PER_MONTH);
}
