import { HOURS_PER_MONTH, LIST_PRICES } from '../../lib/core/planning/list-prices';
import { planStream, SHARD_LIMITS } from '../../lib/core/planning/plan-stream';
import { PARTITION_WRITE_UNITS, suffixRange } from '../../lib/core/planning/suffix-range';
import { areShardsEven, skewOf } from '../../lib/core/resharding';
import { widthOf } from '../../lib/core/resharding/skew';
import { counted, percent } from '../plain-text';
import { evenStreamSnippet, streamSnippet } from '../plan/cdk-snippet';
import type { Language } from '../plan/code-language';
import { adoptionGuide, type Details, type Diagnosis, notMeasured, throttled } from './diagnosis';
import { type FindingId, WEIGHTS, type WeightOf } from './findings';
import { ofKeeper } from './keeper-state';
import type {
  ConsumerObservation,
  IndexObservation,
  Observations,
  StreamObservation,
  TableObservation,
} from './observations';
import { type AdviceOptions, shownKey } from './shown-keys';
import { type Throttling, throttlingsOf } from './throttling';
import { ofUnshardedKey } from './unsharded-advice';
import { idOf } from './unsharded-keys';

/** The problems of a stack, with the most serious problem first. */
export function diagnose(
  { streams, indexes, tables, unsharded, consumers, keepers, missing }: Observations,
  options: AdviceOptions,
): Diagnosis[] {
  const found = [
    ...streams.flatMap((stream) => ofStream(stream, options)),
    ...indexes.flatMap((index) => ofIndex(index, options)),
    ...tables.flatMap(ofTable),
    ...unsharded.flatMap((key) => ofUnshardedKey(key, options)),
    ...consumers.flatMap(ofConsumer),
    ...keepers.flatMap(ofKeeper),
    ...missing.map(({ path, noun, ...why }) => notMeasured(path, noun, why)),
  ];
  return found.sort((one, other) => WEIGHTS.indexOf(one.weight) - WEIGHTS.indexOf(other.weight));
}

/**
 * A shard is hot if its load is at least this multiple of the mean. If the mean is a hundred records or more, chance
 * alone does not reach this multiple.
 */
const HOT = 1.5;
const ENOUGH_RECORDS = 100;

/** A limit is near when this share of it is used. */
const NEAR = 0.75;

/** The doctor advises fewer shards only if this part of the present shards is enough for the load. */
const IDLE = 0.5;

function ofStream(stream: StreamObservation, { language }: AdviceOptions): Diagnosis[] {
  const { path, openShards, description, iteratorAgeHours = 0, missing } = stream;
  const found: Diagnosis[] = [];
  const say: Say = (id, weight, what, change, more = {}) => {
    found.push({ id, weight, path, what, change, ...more } as Diagnosis);
  };
  if (description !== undefined && iteratorAgeHours > description.retentionHours / 2) {
    say(
      'consumerBehind',
      'loss',
      `a consumer reads records that are ${rounded(iteratorAgeHours)} hours old, and the stream deletes records after ${description.retentionHours} hours, even if the consumer has not read them`,
      `increase retentionPeriod to at least ${Math.min(8_760, Math.ceil(iteratorAgeHours * 4))} hours now, then give the consumer more concurrency, or find out what delays it`,
    );
  }
  if (missing !== undefined) found.push(notMeasured(path, 'the traffic of the stream', missing));
  if (openShards.length > 0) {
    if (!areShardsEven(openShards)) uneven(stream, say, language);
    hotShards(stream, say, language);
    capacity(stream, say);
  }
  if (description?.isEncrypted === false) {
    say(
      'notEncrypted',
      'safety',
      'records are stored without encryption',
      'use a UniformStream with its default encryption, or give the stream StreamEncryption.MANAGED',
    );
  }
  return found;
}

type Say = <Id extends FindingId>(id: Id, weight: WeightOf<Id>, what: string, change: string, more?: Details) => void;

function uneven({ path, openShards, declaredShardCount }: StreamObservation, say: Say, language: Language): void {
  const widths = openShards.map(widthOf);
  const least = widths.reduce((a, b) => (a < b ? a : b));
  // After an incomplete doubling, some shards are exactly twice as wide as the other shards.
  const ratios = widths.map((width) => Number((width * 100n) / least) / 100);
  const isHalved = ratios.every((ratio) => Math.abs(ratio - 1) < 0.05 || Math.abs(ratio - 2) < 0.05);
  const wide = ratios.filter((ratio) => ratio > 1.5).length;
  const target = isHalved ? openShards.length + wide : (declaredShardCount ?? openShards.length);
  const skew = skewOf(openShards);
  const change =
    `make ${target} even shards: set shardCount: ${target} and addReconciliation({ repair: true }) of a UniformStream, which also ` +
    'repairs the shards the next time. A plain Stream becomes a UniformStream under the same id';
  const more = {
    measured: [
      `shards: ${counted(openShards.length, 'open shard')}, which take as much as ${rounded(openShards.length / skew)} even shards. All ${openShards.length} cost about ${shardDollars(openShards.length)} dollars a month (${LIST_PRICES.asOf})`,
      'do shards help: yes, if they are even. More uneven shards help less than their cost',
    ],
    code: evenStreamSnippet(idOf(path), target, language),
    guide: adoptionGuide('uneven-shards'),
  };
  if (isHalved) {
    const what = `a doubling of the shards is incomplete: ${counted(wide, 'shard')} of ${openShards.length} ${wide === 1 ? 'has' : 'have'} twice the hash keys and twice the load of the others`;
    say('missingSplits', 'uneven', what, change, more);
  } else {
    const what = `the widest shard has ${rounded(skew)} times the hash keys and the load of the mean shard`;
    say('unevenShards', 'uneven', what, change, more);
  }
}

function hotShards(
  { path, openShards, shardLoads, throttled, peak }: StreamObservation,
  say: Say,
  language: Language,
): void {
  const change =
    'give each key or owner a balanced hash key (HashKeyRegistry), or split a key whose load is above the limit of a shard; ' +
    '`npx even-shards simulate` compares both ways with your keys';
  const more = {
    measured: [
      'keys: Kinesis has no metric of keys. `npx even-shards simulate --input FILE --key NAME` shows them in a sample of your records',
      'do shards help: only if several keys make the shard hot. One key is always in one shard',
    ],
    code: streamSnippet(openShards.length, true, language, idOf(path)),
    guide: adoptionGuide('uneven-shards'),
  };
  const total = shardLoads?.reduce((sum, { records, throttled: refused }) => sum + records + refused, 0) ?? 0;
  if (shardLoads !== undefined && total > 0) {
    const mean = total / openShards.length;
    const [hottest] = [...shardLoads].sort((a, b) => b.records + b.throttled - (a.records + a.throttled));
    const times = (hottest!.records + hottest!.throttled) / mean;
    const isKnown = mean >= ENOUGH_RECORDS || hottest!.throttled > 0;
    if (!isKnown || times < HOT || openShards.length === 1) return;
    const refused = hottest!.throttled > 0 ? `, and has throttled ${counted(hottest!.throttled, 'write')}` : '';
    const what = `${hottest!.shardId} gets ${rounded(times)} times the records of the mean${refused}`;
    say('hotShard', hottest!.throttled > 0 ? 'refused' : 'uneven', what, change, more);
    return;
  }
  if (throttled === 0 || peak === undefined || useOf(peak, openShards.length) > NEAR) return;
  const what = `${counted(throttled, 'write')} throttled, although the busiest minute has used only ${percent(useOf(peak, openShards.length))} of the limit of all shards: one shard is hot`;
  say('hotShard', 'refused', what, `${change}. shardLevelMetrics show which shard`, more);
}

function capacity({ openShards, description, peak, throttled }: StreamObservation, say: Say): void {
  if (peak === undefined || description?.isProvisioned !== true) return;
  const { recordsPerSecond, bytesPerSecond } = peak;
  const open = openShards.length;
  const use = useOf(peak, open);
  const { shards } = planStream({ recordsPerSecond: Math.max(recordsPerSecond, 1), bytesPerSecond });
  if (use > NEAR) {
    const what = `the busiest minute has used ${percent(use)} of ${counted(open, 'shard')}`;
    const refused = throttled > 0 ? `, and ${counted(throttled, 'write')} were throttled` : '';
    say(
      'fullStream',
      throttled > 0 ? 'refused' : 'limit',
      what + refused,
      `set shardCount to ${shards}, or let autoScaleShardCount set it`,
    );
  } else if (throttled === 0 && shards <= open * IDLE) {
    say(
      'idleShards',
      'cost',
      `the busiest minute has used ${percent(use)} of ${counted(open, 'shard')}: ${counted(shards, 'shard')} would be enough, with a quarter of the limit free`,
      `set shardCount to ${shards}, which saves about ${shardDollars(open - shards)} dollars a month (${LIST_PRICES.asOf}), or let autoScaleShardCount follow the load`,
    );
  }
}

function useOf({ recordsPerSecond, bytesPerSecond }: NonNullable<StreamObservation['peak']>, shards: number): number {
  return Math.max(recordsPerSecond / SHARD_LIMITS.recordsWritten, bytesPerSecond / SHARD_LIMITS.bytesWritten) / shards;
}

function ofIndex(index: IndexObservation, options: AdviceOptions): Diagnosis[] {
  return [
    ...ofHiddenItems(index),
    ...ofIndexThroughput(index, options),
    ...ofIndexState(index),
    ...ofIdleIndexShards(index),
  ];
}

/** How to correct items that no query finds. */
const CORRECTIONS = {
  corrects:
    'check that the IndexKeeper reads the stream of the table, then invoke it with {"sweep":true}. Invoke it with {"list":true} to see items that it has set aside',
  counts: 'set correct: true of the IndexKeeper, which only counts these items, then invoke it with {"sweep":true}',
  without:
    'find the writer that leaves shardAttributes out, then move the items with reshardItems or an IndexItemMover',
};

function ofHiddenItems({ path, config, keeper, hiddenItems = 0, unsortedItems = 0 }: IndexObservation): Diagnosis[] {
  const found: Diagnosis[] = [];
  if (hiddenItems > 0) {
    const what = `no query finds ${counted(hiddenItems, 'item')}: they have no shard, or a shard of another count`;
    found.push({ id: 'strays', weight: 'loss', path, what, change: CORRECTIONS[keeper ?? 'without'] });
  }
  if (unsortedItems > 0) {
    const sortKey = config.sortKeyAttributes.join(' or ');
    const what = `no query finds ${counted(unsortedItems, 'item')} without ${sortKey}, which is the sort key of the index`;
    const change = `find the writer that leaves ${sortKey} out, then set it, or give the index sparse: true if these items are meant to be missing`;
    found.push({ id: 'noSortKey', weight: 'loss', path, what, change });
  }
  return found;
}

function ofIndexThroughput(index: IndexObservation, options: AdviceOptions): Diagnosis[] {
  const { path, config, throughput } = index;
  const kind = config.indexName === undefined ? 'table' : 'index';
  const found = throttlingsOf({ kind, shardsRead: config.shards.default.read }, throughput).map((throttling) => {
    // More shards help only against this cause.
    const isOfShards = throttling.cause === 'keyRange' && throttling.operation === 'write';
    return throttled(
      path,
      isOfShards ? { ...throttling, ...tooFewShards(index, throttling.events, options) } : throttling,
    );
  });
  const { missing } = throughput;
  return missing === undefined ? found : [...found, notMeasured(path, `the traffic of the ${kind}`, missing)];
}

function ofIndexState({ path, status, valuesAtMaximum }: IndexObservation): Diagnosis[] {
  const found: Diagnosis[] = [];
  if (valuesAtMaximum > 0) {
    const what = `${counted(valuesAtMaximum, 'value')} would need more shards than the maximum`;
    found.push({
      id: 'valuesAtMaximum',
      weight: 'limit',
      path,
      what,
      change: 'increase maximum of ShardCounts.adaptive',
    });
  }
  if (status !== undefined && status !== 'ACTIVE') {
    const what = `the index is ${status}: queries of it fail or miss items`;
    const change = 'wait until the index is ACTIVE before readers query it';
    found.push({ id: 'notActive', weight: 'refused', path, what, change });
  }
  return found;
}

function ofIdleIndexShards({ path, config, throughput: { writes, reads } }: IndexObservation): Diagnosis[] {
  const { read } = config.shards.default;
  const { peakUnits } = writes;
  // With fewer shards, a partition that already throttles would get more reads.
  if (peakUnits === undefined || writes.throttled > 0 || reads.throttled > 0) return [];
  const enough = Math.max(1, suffixRange({ writesPerSecond: Math.max(peakUnits, 1) * 2, itemKb: 1 }));
  if (read < 4 || enough > read * IDLE) return [];
  const what = `the busiest minute has written ${rounded(peakUnits)} units a second, and each ordered page reads ${read} shards, at half a read unit or more for each shard`;
  const change = `decrease the shardCounts to ${enough} in the steps that \`npx even-shards reshard --from ${read} --to ${enough}\` lists`;
  return [{ id: 'idleIndexShards', weight: 'cost', path, what, change }];
}

function tooFewShards(
  { config, entries = [], throughput }: IndexObservation,
  events: number,
  options: AdviceOptions,
): Pick<Throttling, 'id' | 'what' | 'change'> {
  const byValue = new Map<string, { writes: number; throttled: number }>();
  for (const { value, writes, throttled: refused } of entries) {
    const sum = byValue.get(value) ?? { writes: 0, throttled: 0 };
    byValue.set(value, { writes: sum.writes + writes, throttled: sum.throttled + refused });
  }
  const [hottest] = [...byValue].sort(([, a], [, b]) => b.throttled - a.throttled);
  const value =
    hottest === undefined || hottest[0] === '' ? undefined : shownKey(JSON.stringify(hottest[0]), 0, options);
  const of = value === undefined ? '' : ` of ${value}`;
  const { write } = (hottest && config.shards.byValue?.[hottest[0]]) ?? config.shards.default;
  const all = hottest === undefined ? 0 : hottest[1].writes + hottest[1].throttled;
  // Advises at least twice the count: retries count as throttled writes, too, so the real load is unknown.
  const times = all > 0 && hottest![1].writes > 0 ? Math.max(2, Math.ceil((all / hottest![1].writes) * 1.34)) : 2;
  const { peakUnits } = throughput.writes;
  const planned = peakUnits === undefined ? 0 : suffixRange({ writesPerSecond: Math.max(peakUnits, 1) * 2, itemKb: 1 });
  const count = Math.max(write * times, planned);
  const counts =
    value === undefined ? `ShardCounts.uniform(${count})` : `ShardCounts.byValue({ ${value}: ${count} }, ...)`;
  const held = config.indexName === undefined ? '' : ', and a full shard throttles the writes of the table';
  return {
    id: 'tooFewShards',
    what: `${counted(events, 'write')}${of} throttled by a hot partition: ${counted(write, 'shard')} can take ${(write * PARTITION_WRITE_UNITS).toLocaleString('en')} write units a second${held}`,
    change:
      !('adaptive' in config) || config.adaptive === undefined
        ? `increase the count to ${counts} in the steps that \`npx even-shards reshard --from ${write} --to ${count}\` lists, or use ShardCounts.adaptive`
        : 'read the alarms of the AdaptiveShardCountController, because the counts of this index grow by themselves; increase maximum if values have reached it',
  };
}

function ofTable({ path, hasRecovery, isSharded }: TableObservation): Diagnosis[] {
  if (hasRecovery !== false) return [];
  const what = 'the table cannot be restored to a point in time';
  const change = isSharded
    ? 'leave pointInTimeRecoverySpecification out of a ShardedTable, which turns it on'
    : 'set pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true } of the table';
  return [{ id: 'noRecovery', weight: 'safety', path, what, change }];
}

function ofConsumer({ path, tableName, consumer, parkedKeys, deadKeys, endpoint }: ConsumerObservation): Diagnosis[] {
  if (parkedKeys === 0) return [];
  const flags = `--table ${tableName} --consumer ${consumer}${endpoint === undefined ? '' : ` --endpoint ${endpoint}`}`;
  const change = `read why with \`npx even-shards parked ${flags}\`, correct the handler, and resume or skip them`;
  if (deadKeys > 0) {
    const what = `an operator must resume, skip or drop ${deadKeys} of ${counted(parkedKeys, 'parked key')}: the consumer does not retry a dead key, so its records have no effect`;
    return [{ id: 'deadKeys', weight: 'loss', path, what, change }];
  }
  const what = `${counted(parkedKeys, 'key')} parked because a record of the key fails: the later records of the key wait`;
  return [{ id: 'parkedKeys', weight: 'refused', path, what, change }];
}

/** The cost of a month of shards of a stream. */
function shardDollars(shards: number): number {
  return Math.round(shards * LIST_PRICES.shardHour * HOURS_PER_MONTH);
}

function rounded(number: number): number {
  return Number(number.toPrecision(3));
}
