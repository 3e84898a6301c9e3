import { SHARD_LIMITS } from '../../../lib/core/planning/plan-stream';
import { PARTITION_GB, PARTITION_WRITE_UNITS, suffixRange } from '../../../lib/core/planning/suffix-range';
import type { TrafficSample } from '../../samples/traffic-sample';
import { shardsByHash } from '../sample-placement';
import { type FieldSamples, type FieldValues, paired, rounded } from './field-samples';
import { isShared, type KeyOrder, keyOrder } from './key-order';

/** The properties of a field, or a pair of fields, as a partition key. */
export interface KeyCandidate {
  readonly name: string;
  readonly distinct: number;
  readonly busiest: { readonly value: string; readonly share: number };
  /**
   * The share of the busiest value in the records of a short time. The sample is divided into 100 parts in the order of
   * time. This number is the mean, over all parts, of the share of the busiest value in the part. For a time, the share
   * is 1, because new records have the same value.
   */
  readonly shareAtATime: number;
  /** The records a second of the busiest value in its busy times, if all records arrive at the given rate. */
  readonly hottestPerSecond: number;
  /**
   * The rate of all records, in records a second, at which the busiest value uses three quarters of the limit of a
   * shard or a partition.
   */
  readonly bearsPerSecond: number;
  /**
   * The total number of records when the busiest value has 10 GB, if no record is deleted. DynamoDB then splits the items of the value, or
   * rejects writes if the table has a local secondary index. Undefined for an id or a time, which always gets new values.
   */
  readonly fullAtRecords: number | undefined;
  /** Shards of a stream with this partition key, placed by MD5; absent if no number is enough. */
  readonly streamShards: number | undefined;
  /** Shards of an index that the busiest value needs, by the formula of AWS. */
  readonly indexShards: number;
  readonly spread: Spread;
  readonly order: KeyOrder;
}

/** How evenly a key spreads the records. The rating ignores the order of the records. */
interface Spread {
  readonly evenly: boolean;
  /** The reason, in the words of the guides of DynamoDB. */
  readonly reason: string;
}

export interface KeyComparison {
  readonly records: number;
  readonly recordsPerSecond: number;
  /**
   * The candidate with the most even spread is first. The first candidate is not always the right choice, because most candidates do not keep an order.
   */
  readonly candidates: readonly KeyCandidate[];
}

const PERIODS = 100;
const HEAD_ROOM = 0.25;

/** A pair is shown if its `shareAtATime` is at most this fraction of the `shareAtATime` of its better field. */
const WORTH_A_PAIR = 0.8;
const MAX_PAIRS = 5;

/**
 * The maximum number of keys to place. More keys would take minutes, because the command places them for each number of
 * shards.
 */
const MAX_PLACED_KEYS = 5_000;

/**
 * Compares every field of a sample, times by minute, hour and day, and the pairs of fields that spread better than both
 * fields alone.
 */
export function compareKeys({ records, bytes, fields }: FieldSamples, recordsPerSecond: number): KeyComparison {
  const roundings = fields.filter(({ isTime }) => isTime).flatMap(roundedTimes);
  const shared = fields.filter((field) => !field.isTime && isShared(field));
  const candidateOf = (field: FieldValues) => candidate(field, shared, { records, bytes, recordsPerSecond });
  const single = fields.map((field) => ({ field, found: candidateOf(field) }));
  const mayPair = single.filter(
    ({ field, found }) => !field.isTime && found.distinct > 1 && found.distinct < records / 2,
  );
  const pairs = mayPair
    .flatMap((a, index) =>
      mayPair.slice(index + 1).flatMap((b) => {
        const found = candidateOf(paired(a.field, b.field));
        const better = Math.min(a.found.shareAtATime, b.found.shareAtATime);
        return found.shareAtATime <= WORTH_A_PAIR * better ? [found] : [];
      }),
    )
    .sort((a, b) => a.shareAtATime - b.shareAtATime)
    .slice(0, MAX_PAIRS);
  const candidates = [...single.map(({ found }) => found), ...roundings.map(candidateOf), ...pairs];
  return { records, recordsPerSecond, candidates: candidates.sort((a, b) => a.shareAtATime - b.shareAtATime) };
}

interface Sample {
  readonly records: number;
  readonly bytes: number;
  readonly recordsPerSecond: number;
}

/** The lengths to which a time in ISO 8601 is cut to round it to a minute, an hour or a day. */
const ROUNDINGS: readonly [name: string, length: number][] = [
  ['by minute', 'YYYY-MM-DDTHH:MM'.length],
  ['by hour', 'YYYY-MM-DDTHH'.length],
  ['by day', 'YYYY-MM-DD'.length],
];

/**
 * A time by minute, hour and day. Leaves out a rounding that does not change the values: a date rounded to the day is
 * the same date.
 */
function roundedTimes(field: FieldValues): FieldValues[] {
  let finest = field.values.length;
  return ROUNDINGS.flatMap(([name, length]) => {
    const times = rounded(field, `${field.name} ${name}`, length);
    if (times.values.length === finest) return [];
    finest = times.values.length;
    return [times];
  });
}

function candidate(
  field: FieldValues,
  shared: readonly FieldValues[],
  { records, bytes, recordsPerSecond }: Sample,
): KeyCandidate {
  const counts = countsOf(field, 0, records);
  const busiestCount = counts.reduce((most, count) => Math.max(most, count), 0);
  const busiest = { value: field.values[counts.indexOf(busiestCount)]!, share: busiestCount / records };
  const shareAtATime = isOfASecond(field) ? 1 : Math.max(busiest.share, meanOfPeriods(field, records));
  const keys = new Map(field.values.map((value, number) => [value, counts[number]!]));
  const sample = { records, bytes, keys, sizes: new Map([[bytes / records, records]]) };
  const hottestPerSecond = shareAtATime * recordsPerSecond;
  const facts = {
    name: field.name,
    distinct: field.values.length,
    busiest,
    shareAtATime,
    hottestPerSecond,
    fullAtRecords: isNewEachTime(field, records)
      ? undefined
      : Math.floor((PARTITION_GB * 1e9) / (busiest.share * (bytes / records))),
    bearsPerSecond: (PARTITION_WRITE_UNITS * (1 - HEAD_ROOM)) / shareAtATime,
    streamShards: hottestPerSecond > SHARD_LIMITS.recordsWritten ? undefined : streamShards(sample, recordsPerSecond),
    indexShards: suffixRange({ writesPerSecond: hottestPerSecond, itemKb: bytes / records / 1_024 }),
  };
  return { ...facts, spread: spreadOf(facts, field, records), order: keyOrder(field, shared) };
}

/** Places at most `MAX_PLACED_KEYS` keys, with the busiest keys first. Assumes that the other keys spread evenly. */
function streamShards({ keys, ...sample }: TrafficSample, recordsPerSecond: number): number | undefined {
  const busiestOfMany = [...keys].sort(([, a], [, b]) => b - a).slice(0, MAX_PLACED_KEYS);
  const placed = { ...sample, keys: new Map(busiestOfMany) };
  const shards = evenShards(recordsPerSecond);
  return shardsByHash(placed, { recordsPerSecond, headRoom: HEAD_ROOM, shards });
}

function evenShards(recordsPerSecond: number): number {
  return Math.max(1, Math.ceil(recordsPerSecond / (SHARD_LIMITS.recordsWritten * (1 - HEAD_ROOM))));
}

function countsOf({ values, ofRecord }: FieldValues, from: number, to: number): Uint32Array {
  const counts = new Uint32Array(values.length);
  for (let record = from; record < to; record++) counts[ofRecord[record]!]! += 1;
  return counts;
}

/** Whether all records of a second have the same value, as with a time without milliseconds, an hour or a day. */
function isOfASecond({ isTime, values }: FieldValues): boolean {
  return isTime && values.every((value) => !/\.\d*[1-9]/.test(value));
}

/** A batch job may send few records of the whole sample, but all records while it runs. */
function meanOfPeriods({ ofRecord }: FieldValues, records: number): number {
  const periods = Math.min(PERIODS, Math.max(1, Math.floor(records / 10)));
  let sum = 0;
  for (let period = 0; period < periods; period++) {
    const from = Math.floor((period * records) / periods);
    const to = Math.floor(((period + 1) * records) / periods);
    const counts = new Map<number, number>();
    let most = 0;
    for (let record = from; record < to; record++) {
      const count = (counts.get(ofRecord[record]!) ?? 0) + 1;
      counts.set(ofRecord[record]!, count);
      most = Math.max(most, count);
    }
    sum += most / (to - from);
  }
  return sum / periods;
}

/** Whether new records mostly have new values, so that no value grows. */
function isNewEachTime({ isTime, values }: FieldValues, records: number): boolean {
  return isTime || values.length > 0.95 * records;
}

type Facts = Omit<KeyCandidate, 'spread' | 'order'>;

/** If a value has more than this multiple of its fair share, it is far more popular than all other values. */
const POPULAR = 10;
const NOTICEABLE = 0.01;
const FEW_VALUES = 20;

/**
 * The table of good and bad partition keys in the developer guide, as numbers. It considers only how the traffic is
 * distributed. Whether the rate is a problem depends on the limits of a shard or partition. The table does not consider the order of records.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-uniform-load.html
 */
function spreadOf({ distinct, busiest, shareAtATime }: Facts, field: FieldValues, records: number): Spread {
  const { isTime, isRounded } = field;
  const uneven = (reason: string): Spread => ({ evenly: false, reason });
  if (isTime && !isRounded && distinct > 0.5 * records)
    return uneven('a time: all new records have the same value, and no query reads a single point in time');
  if (isTime) return uneven('a rounded time: all new records have the same value');
  if (distinct <= FEW_VALUES) return uneven('only a few possible values');
  if (shareAtATime > 0.5 && shareAtATime > 4 * busiest.share)
    return uneven('at any time, most new records have the same value');
  if (busiest.share * distinct > POPULAR && busiest.share > NOTICEABLE)
    return uneven('one value is much more popular than all others');
  if (isNewEachTime(field, records)) return { evenly: true, reason: 'an id: most records have a new value' };
  return { evenly: true, reason: 'many values, used at relatively similar intervals' };
}
