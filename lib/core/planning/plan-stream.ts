import { InvalidArgumentError } from '../foundation/errors';
import { MAX_STREAM_SHARDS } from '../foundation/shard-count';
import { likelyMost, moreThan } from './largest-load';
import { HOURS_PER_MONTH, type ListPrices, pricesWith, SECONDS_PER_MONTH } from './list-prices';
import { checkBetween, checkNotNegative, checkPositive, checkWhole } from './number-checks';
import { MAX_PLANNED_SHARDS } from './overload-probability';
import { bindingRule, byUse, type LimitUse, type PlanRule } from './plan';
import { ceilOf, floorOf, isAbove } from './rounding';

/**
 * What one shard takes and gives in a second.
 * Source: the Kinesis developer guide, "Quotas and limits". Where it says 1 MB in one place and 1 MiB in another, the
 * planner takes the smaller.
 */
export const SHARD_LIMITS = {
  recordsWritten: 1_000,
  bytesWritten: 1_000_000,
  /** Shared by all consumers without enhanced fan-out; with it, each consumer has as much for itself. */
  bytesRead: 2_000_000,
  /** GetRecords requests, shared in the same way. */
  reads: 5,
};

/** Kinesis bills a record by started payload units of this size. */
const PUT_PAYLOAD_UNIT_BYTES = 25 * 1_024;

/** Records above this size live on bursts. Source: the Kinesis developer guide, "Large records": below 2 % of traffic. */
const LARGE_RECORD_BYTES = 1_048_576;
const LARGE_RECORD_SHARE = 0.02;

/** What a stream is to carry. Rates are those of the busiest second. */
export interface StreamTraffic {
  /** Records written a second, above 0. */
  recordsPerSecond: number;
  /**
   * Bytes written a second, partition keys included.
   *
   * @default - the records times their mean size, which `recordSizes` then must say
   */
  bytesPerSecond?: number;
  /** The sizes of the records in bytes, and each one's share, in any unit. Instead of `bytesPerSecond`. */
  recordSizes?: readonly { bytes: number; share: number }[];
  /**
   * The part of every shard that is kept free for bursts, retries and growth, from 0 to 0.9.
   *
   * @default 0.25
   */
  headRoom?: number;
  /**
   * Consumers that share what a shard gives: those that poll, such as Lambda functions without enhanced fan-out.
   *
   * @default 1
   */
  consumers?: number;
  /**
   * How often each of them polls a shard, in requests a second.
   *
   * @default 1, as Lambda does
   */
  pollsPerSecond?: number;
  /**
   * Consumers with enhanced fan-out: each has a shard's 2 MB a second for itself, at a price.
   *
   * @default 0
   */
  enhancedFanOutConsumers?: number;
  /**
   * How many partition keys share the records about equally, if Kinesis places them by their hash. Few keys spread
   * badly, so that more shards are needed than on average.
   *
   * @default - so many that their hashes spread evenly, or balanced explicit hash keys
   */
  keys?: number;
  /**
   * The probability that a shard gets more keys than it can bear, to stay below. With `keys` only.
   *
   * @default 0.05
   */
  probability?: number;
  /**
   * The share of the busiest partition key, from 0 to 1.
   *
   * @default - 1 / `keys`, or unknown
   */
  hottestKeyShare?: number;
  /**
   * The mean of a month's traffic as a part of the peak, above 0 and at most 1. It decides on the cost alone.
   *
   * @default 1
   */
  averageOfPeak?: number;
  /** @default - `LIST_PRICES` */
  prices?: Partial<ListPrices>;
}

export type StreamRule =
  | 'records written'
  | 'bytes written'
  | 'bytes read by shared consumers'
  /** A key is in one shard as a whole. */
  | 'whole keys'
  | 'keys spread by hash';

export type StreamLimit =
  | 'records written to a shard'
  | 'bytes written to a shard'
  | 'bytes read from a shard by shared consumers'
  | 'reads of a shard by shared consumers'
  | 'the busiest shard of keys spread by hash'
  | 'the busiest key';

/** How many shards, and why. */
export interface StreamPlan {
  shards: number;
  /** The rule that asks for the most shards. */
  boundBy: StreamRule;
  rules: PlanRule<StreamRule>[];
  /** How many are enough if every key has a balanced explicit hash key: without the rule of keys spread by hash. */
  shardsIfBalanced: number;
  /** What breaks first comes first. */
  limits: LimitUse<StreamLimit>[];
  /** What no number of shards mends, in words, each with what does. */
  notMended: string[];
  /** US dollars a month, at list prices. */
  monthlyCost: { shards: number; records: number; fanOut: number; total: number; prices: string };
}

/**
 * Plans a provisioned stream: how many shards it needs, which rule asks for them, what breaks first when traffic grows,
 * what shards cannot mend, and what a month costs.
 *
 * @throws InvalidArgumentError for a number outside its bounds, or if more than 10,000 shards were needed
 */
export function planStream(traffic: StreamTraffic): StreamPlan {
  const stream = checkedTraffic(traffic);
  const { recordsPerSecond, bytesPerSecond, headRoom, consumers, pollsPerSecond, hottestKeyShare } = stream;
  const usable = 1 - headRoom;
  const need = (amount: number, limit: number) => Math.max(1, ceilOf(amount / (limit * usable)));
  const { recordsWritten, bytesWritten, bytesRead, reads } = SHARD_LIMITS;

  const rules: PlanRule<StreamRule>[] = [
    { rule: 'records written', shards: need(recordsPerSecond, recordsWritten) },
    { rule: 'bytes written', shards: need(bytesPerSecond, bytesWritten) },
    { rule: 'bytes read by shared consumers', shards: need(bytesPerSecond * consumers, bytesRead) },
  ];
  const ofOneShard = Math.max(recordsPerSecond / recordsWritten, bytesPerSecond / bytesWritten);
  const busiestKey = hottestKeyShare * ofOneShard;
  const spread = stream.keys === undefined ? undefined : spreadOf(stream.keys, stream);
  if (spread?.whole !== undefined) rules.push({ rule: 'whole keys', shards: spread.whole });
  const shardsIfBalanced = bindingRule(rules).shards;
  if (spread?.byHash !== undefined) rules.push({ rule: 'keys spread by hash', shards: spread.byHash });
  const { shards, rule: boundBy } = bindingRule(rules);
  if (shards > MAX_STREAM_SHARDS) {
    throw new InvalidArgumentError(
      'recordsPerSecond',
      recordsPerSecond,
      `traffic for at most ${MAX_STREAM_SHARDS} shards, of which ${boundBy} needs ${shards}`,
    );
  }

  const limits: LimitUse<StreamLimit>[] = [
    { limit: 'records written to a shard', used: recordsPerSecond / shards / recordsWritten },
    { limit: 'bytes written to a shard', used: bytesPerSecond / shards / bytesWritten },
    { limit: 'bytes read from a shard by shared consumers', used: (bytesPerSecond * consumers) / shards / bytesRead },
    { limit: 'reads of a shard by shared consumers', used: (consumers * pollsPerSecond) / reads },
  ];
  if (stream.keys !== undefined) {
    const used = (likelyMost(stream.keys, shards, stream.probability) * ofOneShard) / stream.keys;
    limits.push({ limit: 'the busiest shard of keys spread by hash', used });
  }
  if (hottestKeyShare > 0) limits.push({ limit: 'the busiest key', used: busiestKey });

  return {
    shards,
    boundBy,
    rules,
    shardsIfBalanced,
    limits: byUse(limits),
    notMended: notMended(stream, busiestKey, spread?.byHash),
    monthlyCost: monthlyCost(stream, shards),
  };
}

/**
 * How many shards a stream needs: the `shards` of `planStream`.
 *
 * @throws InvalidArgumentError for a number outside its bounds, or if more than 10,000 shards were needed
 */
export function streamShards(traffic: StreamTraffic): number {
  return planStream(traffic).shards;
}

function checkedTraffic(traffic: StreamTraffic) {
  const { recordsPerSecond, recordSizes, keys, prices } = traffic;
  const { headRoom = 0.25, consumers = 1, pollsPerSecond = 1, enhancedFanOutConsumers = 0 } = traffic;
  const { probability = 0.05, averageOfPeak = 1 } = traffic;
  checkPositive('recordsPerSecond', recordsPerSecond);
  checkBetween('headRoom', headRoom, 0, 0.9);
  checkWhole('consumers', consumers, 0, 1_000);
  checkNotNegative('pollsPerSecond', pollsPerSecond);
  checkWhole('enhancedFanOutConsumers', enhancedFanOutConsumers, 0, 1_000);
  checkBetween('probability', probability, 1e-9, 0.999);
  if (keys !== undefined) checkWhole('keys', keys, 1, MAX_PLANNED_SHARDS);
  const hottestKeyShare = traffic.hottestKeyShare ?? (keys === undefined ? 0 : 1 / keys);
  checkBetween('hottestKeyShare', hottestKeyShare, 0, 1);
  checkPositive('averageOfPeak', averageOfPeak);
  checkBetween('averageOfPeak', averageOfPeak, 0, 1);
  const sizes = sizesOf(traffic);
  return {
    recordsPerSecond,
    bytesPerSecond: traffic.bytesPerSecond ?? recordsPerSecond * meanOf(sizes, (bytes) => bytes),
    sizes,
    largeRecordShare: recordSizes === undefined ? 0 : meanOf(sizes, (bytes) => Number(bytes > LARGE_RECORD_BYTES)),
    headRoom,
    consumers,
    pollsPerSecond,
    enhancedFanOutConsumers,
    keys,
    probability,
    hottestKeyShare,
    averageOfPeak,
    prices: pricesWith(prices),
  };
}

type CheckedTraffic = ReturnType<typeof checkedTraffic>;

interface RecordSize {
  bytes: number;
  share: number;
}

function sizesOf({ recordsPerSecond, bytesPerSecond, recordSizes }: StreamTraffic): readonly RecordSize[] {
  if (recordSizes === undefined) {
    checkNotNegative('bytesPerSecond', bytesPerSecond);
    return [{ bytes: bytesPerSecond! / recordsPerSecond, share: 1 }];
  }
  if (bytesPerSecond !== undefined) {
    throw new InvalidArgumentError(
      'bytesPerSecond',
      bytesPerSecond,
      'absent when recordSizes are given, which imply it',
    );
  }
  for (const [index, { bytes, share }] of recordSizes.entries()) {
    checkNotNegative(`recordSizes[${index}].bytes`, bytes);
    checkNotNegative(`recordSizes[${index}].share`, share);
  }
  if (!recordSizes.some(({ share }) => share > 0)) {
    throw new InvalidArgumentError('recordSizes', recordSizes, 'one size at least with a share above 0');
  }
  return recordSizes;
}

function meanOf(sizes: readonly RecordSize[], measure: (bytes: number) => number): number {
  const total = sizes.reduce((sum, { share }) => sum + share, 0);
  return sizes.reduce((sum, { bytes, share }) => sum + measure(bytes) * share, 0) / total;
}

/**
 * The fewest shards that can bear `keys` equal keys, each as a whole, if they are balanced, and if their hashes place
 * them, but for `probability`; undefined where no number of shards can, or 10,000 are too few. The maximum of a
 * multinomial only gets smaller with more equal cells, so the search halves.
 */
function spreadOf(keys: number, stream: CheckedTraffic): { whole?: number; byHash?: number } {
  const { recordsPerSecond, bytesPerSecond, headRoom, probability } = stream;
  const { recordsWritten, bytesWritten } = SHARD_LIMITS;
  const ofShard = Math.max(recordsPerSecond / recordsWritten, bytesPerSecond / bytesWritten) / keys / (1 - headRoom);
  const most = floorOf(1 / ofShard);
  if (most === 0) return {};
  const whole = Math.ceil(keys / most);
  const suffices = (shards: number) => moreThan(most, keys, shards) < probability;
  if (!suffices(MAX_STREAM_SHARDS)) return { whole };
  let tooFew = 0;
  let enough = MAX_STREAM_SHARDS;
  while (enough - tooFew > 1) {
    const middle = Math.floor((tooFew + enough) / 2);
    if (suffices(middle)) enough = middle;
    else tooFew = middle;
  }
  return { whole, byHash: enough };
}

function notMended(stream: CheckedTraffic, busiestKey: number, byHash: number | undefined): string[] {
  const { keys, consumers, pollsPerSecond, headRoom, largeRecordShare } = stream;
  const sentences: string[] = [];
  if (isAbove(busiestKey, 1)) {
    sentences.push(
      `one key takes ${percent(busiestKey)} of a shard, and a key lives in one shard: split the key, or write less to it`,
    );
  } else if (isAbove(busiestKey, 1 - headRoom)) {
    sentences.push(
      `one key takes ${percent(busiestKey)} of a shard, more than the head-room leaves, and a key lives in one shard`,
    );
  }
  if (keys !== undefined && byHash === undefined && !isAbove(busiestKey, 1)) {
    sentences.push(
      `${keys} keys are too few and too busy to be spread by their hash: give each a balanced explicit hash key`,
    );
  }
  if (consumers * pollsPerSecond > SHARD_LIMITS.reads) {
    sentences.push(
      `${consumers} consumers poll every shard ${consumers * pollsPerSecond} times a second, and it answers ` +
        `${SHARD_LIMITS.reads}, however many shards there are: poll less often, or use enhanced fan-out`,
    );
  }
  if (largeRecordShare > LARGE_RECORD_SHARE) {
    sentences.push(
      `${percent(largeRecordShare)} of the records are larger than 1 MiB, which a shard takes in bursts alone, up to 2%: ` +
        'store large payloads elsewhere and send where they are',
    );
  }
  return sentences;
}

function percent(part: number): string {
  return `${Number((part * 100).toPrecision(2))}%`;
}

function monthlyCost(stream: CheckedTraffic, shards: number): StreamPlan['monthlyCost'] {
  const { recordsPerSecond, bytesPerSecond, sizes, enhancedFanOutConsumers, averageOfPeak, prices } = stream;
  const seconds = SECONDS_PER_MONTH * averageOfPeak;
  const unitsOfRecord = meanOf(sizes, (bytes) => Math.max(1, Math.ceil(bytes / PUT_PAYLOAD_UNIT_BYTES)));
  const ofShards = shards * HOURS_PER_MONTH * prices.shardHour;
  const records = ((recordsPerSecond * unitsOfRecord * seconds) / 1e6) * prices.millionPutPayloadUnits;
  const fanOut =
    enhancedFanOutConsumers *
    (shards * HOURS_PER_MONTH * prices.consumerShardHour + ((bytesPerSecond * seconds) / 1e9) * prices.fanOutGigabyte);
  return { shards: ofShards, records, fanOut, total: ofShards + records + fanOut, prices: prices.asOf };
}
