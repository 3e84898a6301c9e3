import { binarySearch } from '../kernel/binary-search';
import { checkBetween, checkFields, checkNotNegative, checkPositive, checkWhole } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';
import { MAX_STREAM_SHARDS } from '../sharding/shard-count';
import { isRarerThan, likelyMost } from './largest-load';
import { HOURS_PER_MONTH, type ListPrices, pricesWith, SECONDS_PER_MONTH } from './list-prices';
import { MAX_PLANNED_SHARDS } from './overload-probability';
import { bindingRule, byUse, type LimitUse, type PlanRule } from './plan';
import { ceilOf, floorOf, isAbove } from './rounding';
import { type ExceededServiceLimit, exceededLimits, SERVICE_LIMITS } from './service-limits';

/**
 * The limits of one shard per second. For the bytes written, the guide states both 1 MB and 1 MiB. The planner uses 1 MB. Source:
 * the Kinesis developer guide, "Quotas and limits".
 */
export const SHARD_LIMITS = {
  recordsWritten: SERVICE_LIMITS.shardRecords.value,
  bytesWritten: SERVICE_LIMITS.shardBytes.value,
  /**
   * All consumers without enhanced fan-out share this limit. Each consumer with enhanced fan-out has its own limit of
   * the same size.
   */
  bytesRead: 2_000_000,
  /** GetRecords requests. All consumers without enhanced fan-out share this limit. */
  reads: 5,
};

/** The size of a payload unit. Kinesis charges for each started unit. */
const PUT_PAYLOAD_UNIT_BYTES = 25 * 1_024;

/**
 * A shard accepts records above this size only in bursts, so these records must be less than 2 % of the traffic. Source: the
 * Kinesis developer guide, "Large records".
 */
const LARGE_RECORD_BYTES = 1_048_576;
const LARGE_RECORD_SHARE = 0.02;

const MAX_RECORD_BYTES = SERVICE_LIMITS.recordBytes.value;

/** The traffic of a stream. All rates are for the busiest second. */
export interface StreamTraffic {
  /** The records written per second, greater than 0. */
  recordsPerSecond: number;
  /**
   * The bytes written per second, including partition keys, at most 10 MiB for each record. Set either `bytesPerSecond` or `recordSizes`.
   *
   * @default `recordsPerSecond` times the mean of `recordSizes`
   */
  bytesPerSecond?: number;
  /**
   * The sizes of the records in bytes. Each size has a share of the records, in any unit. Set either `recordSizes` or
   * `bytesPerSecond`.
   */
  recordSizes?: readonly { bytes: number; share: number }[];
  /**
   * The part of each limit of a shard that stays free for bursts, retries and growth, from 0 to 0.9.
   *
   * @default 0.25
   */
  headRoom?: number;
  /**
   * The number of consumers that share the read limits of a shard, from 0 to 1,000. These consumers poll, such as
   * Lambda functions without enhanced fan-out.
   *
   * @default 1
   */
  consumers?: number;
  /**
   * How often each of the `consumers` polls a shard, in requests per second.
   *
   * @default 1, as Lambda does
   */
  pollsPerSecond?: number;
  /**
   * The number of consumers with enhanced fan-out. Each of them has its own read limit of 2 MB per second for each shard, at an
   * additional price.
   *
   * @default 0
   */
  enhancedFanOutConsumers?: number;
  /**
   * The number of partition keys, if they have about equal traffic. Kinesis places them by their hash. Few keys spread
   * unevenly, so the stream needs more shards.
   *
   * @default many keys, which spread evenly, or balanced explicit hash keys
   */
  keys?: number;
  /**
   * Whether every key has a balanced explicit hash key, such as from a `HashKeyRegistry`.
   *
   * @default false - Kinesis places keys by their hash
   */
  balanced?: boolean;
  /**
   * The placement of your keys, if you know it: how many shards the keys need, and which part of the traffic the busiest shard
   * gets. Set either `placement` or `keys`.
   *
   * @default - unknown, or computed from `keys`
   */
  placement?: KeyPlacement;
  /**
   * The highest allowed probability that a shard gets too many keys. It is used only with `keys`.
   *
   * @default 0.05
   */
  probability?: number;
  /**
   * The part of the traffic that the busiest partition key has, from 0 to 1.
   *
   * @default 1 / `keys`, or unknown without `keys`
   */
  hottestKeyShare?: number;
  /**
   * The mean traffic of a month divided by the peak traffic, greater than 0 and at most 1. Only the cost depends on this option.
   *
   * @default 1
   */
  averageOfPeak?: number;
  /**
   * Your own prices, in US dollars. For each price that you do not set, the plan uses the list price.
   *
   * @default `LIST_PRICES`
   */
  prices?: Partial<ListPrices>;
}

/** The placement of the keys of a stream. */
export interface KeyPlacement {
  /** The smallest number of shards with which each shard keeps its head-room. */
  shards: number;
  /** The part of the traffic that the busiest of these shards gets, from 0 to 1. */
  busiestShare: number;
}

/** The rules that determine the number of shards of a stream. */
export type StreamRule =
  | 'records written'
  | 'bytes written'
  | 'bytes read by shared consumers'
  /** A key cannot be split over several shards. */
  | 'whole keys'
  | 'keys spread by hash'
  | 'keys as they are placed';

/** The limits that the traffic of a stream can reach. */
export type StreamLimit =
  | 'records written to a shard'
  | 'bytes written to a shard'
  | 'bytes read from a shard by shared consumers'
  | 'reads of a shard by shared consumers'
  | 'the busiest shard of keys spread by hash'
  | 'the busiest shard of whole keys'
  | 'the busiest shard of keys as they are placed'
  | 'the busiest key';

/** The plan of a stream: its number of shards, and the reasons. */
export interface StreamPlan {
  /** The number of shards that satisfies every rule. */
  shards: number;
  /** The rule that requires the most shards. */
  boundBy: StreamRule;
  /** Every rule that applies, with the number of shards that it requires. */
  rules: PlanRule<StreamRule>[];
  /** The number of shards if every key has a balanced explicit hash key. */
  shardsIfBalanced: number;
  /** The utilization of each limit. The first element is the limit that growing traffic reaches first. */
  limits: LimitUse<StreamLimit>[];
  /** The problems that more shards do not solve, each with a solution. */
  notFixed: string[];
  /**
   * The limits of AWS that the plan exceeds. A limit without `increasedBy` cannot be increased: AWS rejects the plan.
   */
  exceeded: ExceededServiceLimit[];
  /** The cost of a month in US dollars, and the source of the prices. */
  monthlyCost: {
    shards: number;
    records: number;
    /**
     * The cost of the records if aggregates fill the payload units. If all records were in such aggregates, this cost would
     * replace `records`.
     */
    recordsPacked: number;
    fanOut: number;
    total: number;
    prices: string;
  };
}

/**
 * Plans a provisioned stream. The plan has the number of shards, the rule that requires them, the utilization of each
 * limit, the problems that more shards do not solve, and the cost of a month.
 *
 * @throws InvalidArgumentError if a number is outside its bounds, or if the traffic needs more than 10,000 shards
 */
export function planStream(traffic: StreamTraffic): StreamPlan {
  checkFields('traffic', traffic);
  const stream = checkedTraffic(traffic);
  const spread = stream.keys === undefined ? {} : spreadOf(stream.keys, stream);
  const evenRules = rulesOfEvenKeys(stream, spread.whole);
  const rules = [...evenRules, ...rulesOfPlacedKeys(stream, spread.byHash)];
  const { shards, rule: boundBy } = bindingRule(rules);
  if (shards > MAX_STREAM_SHARDS) {
    const isOfBytes = boundBy.startsWith('bytes') && traffic.bytesPerSecond !== undefined;
    const field = isOfBytes ? 'bytesPerSecond' : 'recordsPerSecond';
    const allowed = `traffic for at most ${MAX_STREAM_SHARDS} shards (the rule "${boundBy}" needs ${shards})`;
    throw new InvalidArgumentError(field, traffic[field], allowed);
  }
  return {
    shards,
    boundBy,
    rules,
    shardsIfBalanced: bindingRule(evenRules).shards,
    limits: byUse([...limitsOfShards(stream, shards), ...limitsOfKeys(stream, shards)]),
    notFixed: notFixed(stream, spread.byHash),
    exceeded: exceededLimits({ shardsOfAccount: shards, enhancedConsumers: stream.enhancedFanOutConsumers }),
    monthlyCost: monthlyCost(stream, shards),
  };
}

/** The number of shards that each rule requires if the keys are spread evenly. */
function rulesOfEvenKeys(
  { recordsPerSecond, bytesPerSecond, headRoom, consumers }: CheckedTraffic,
  whole: number | undefined,
): PlanRule<StreamRule>[] {
  const { recordsWritten, bytesWritten, bytesRead } = SHARD_LIMITS;
  const need = (amount: number, limit: number) => Math.max(1, ceilOf(amount / (limit * (1 - headRoom))));
  return [
    { rule: 'records written', shards: need(recordsPerSecond, recordsWritten) },
    { rule: 'bytes written', shards: need(bytesPerSecond, bytesWritten) },
    { rule: 'bytes read by shared consumers', shards: need(bytesPerSecond * consumers, bytesRead) },
    ...(whole === undefined ? [] : [{ rule: 'whole keys' as const, shards: whole }]),
  ];
}

/** The rules of keys that their hash places, or of the placement that the caller knows. */
function rulesOfPlacedKeys(
  { balanced, placement }: CheckedTraffic,
  byHash: number | undefined,
): PlanRule<StreamRule>[] {
  const isByHash = byHash !== undefined && !balanced;
  return [
    ...(isByHash ? [{ rule: 'keys spread by hash' as const, shards: byHash }] : []),
    ...(placement ? [{ rule: 'keys as they are placed' as const, shards: placement.shards }] : []),
  ];
}

function limitsOfShards(
  { recordsPerSecond, bytesPerSecond, consumers, pollsPerSecond }: CheckedTraffic,
  shards: number,
): LimitUse<StreamLimit>[] {
  const { recordsWritten, bytesWritten, bytesRead, reads } = SHARD_LIMITS;
  return [
    { limit: 'records written to a shard', used: recordsPerSecond / shards / recordsWritten },
    { limit: 'bytes written to a shard', used: bytesPerSecond / shards / bytesWritten },
    { limit: 'bytes read from a shard by shared consumers', used: (bytesPerSecond * consumers) / shards / bytesRead },
    { limit: 'reads of a shard by shared consumers', used: (consumers * pollsPerSecond) / reads },
  ];
}

function limitsOfKeys(stream: CheckedTraffic, shards: number): LimitUse<StreamLimit>[] {
  const { keys, balanced, placement, probability, ofOneShard, busiestKey } = stream;
  const limits: LimitUse<StreamLimit>[] = [];
  if (placement) {
    const used = placement.busiestShare * ofOneShard;
    limits.push({ limit: 'the busiest shard of keys as they are placed', used });
  } else if (keys !== undefined && balanced) {
    const used = (Math.ceil(keys / shards) * ofOneShard) / keys;
    limits.push({ limit: 'the busiest shard of whole keys', used });
  } else if (keys !== undefined) {
    const used = (likelyMost(keys, shards, probability) * ofOneShard) / keys;
    limits.push({ limit: 'the busiest shard of keys spread by hash', used });
  }
  if (busiestKey > 0) limits.push({ limit: 'the busiest key', used: busiestKey });
  return limits;
}

/**
 * Computes how many shards a stream needs: the `shards` of `planStream`.
 *
 * @throws InvalidArgumentError if a number is outside its bounds, or if the traffic needs more than 10,000 shards
 */
export function streamShards(traffic: StreamTraffic): number {
  return planStream(traffic).shards;
}

function checkedTraffic(traffic: StreamTraffic) {
  const { recordsPerSecond, recordSizes, keys, prices } = traffic;
  const { headRoom = 0.25, consumers = 1, pollsPerSecond = 1, enhancedFanOutConsumers = 0 } = traffic;
  const { probability = 0.05, averageOfPeak = 1, balanced = false, placement } = traffic;
  checkPositive('recordsPerSecond', recordsPerSecond);
  checkBetween('headRoom', headRoom, 0, 0.9);
  checkWhole('consumers', consumers, 0, 1_000);
  checkNotNegative('pollsPerSecond', pollsPerSecond);
  checkWhole('enhancedFanOutConsumers', enhancedFanOutConsumers, 0, 1_000);
  checkBetween('probability', probability, 1e-9, 0.999);
  if (keys !== undefined) checkWhole('keys', keys, 1, MAX_PLANNED_SHARDS);
  if (placement !== undefined) {
    if (keys !== undefined) throw new InvalidArgumentError('keys', keys, 'absent if the keys have a placement');
    checkWhole('placement.shards', placement.shards, 1, MAX_STREAM_SHARDS);
    checkBetween('placement.busiestShare', placement.busiestShare, 0, 1);
  }
  const hottestKeyShare = traffic.hottestKeyShare ?? (keys === undefined ? 0 : 1 / keys);
  checkBetween('hottestKeyShare', hottestKeyShare, 0, 1);
  checkPositive('averageOfPeak', averageOfPeak, 1);
  const sizes = sizesOf(traffic);
  const bytesPerSecond = traffic.bytesPerSecond ?? recordsPerSecond * meanOf(sizes, (bytes) => bytes);
  const { recordsWritten, bytesWritten } = SHARD_LIMITS;
  // The traffic as a multiple of what one shard accepts.
  const ofOneShard = Math.max(recordsPerSecond / recordsWritten, bytesPerSecond / bytesWritten);
  return {
    recordsPerSecond,
    bytesPerSecond,
    ofOneShard,
    busiestKey: hottestKeyShare * ofOneShard,
    sizes,
    largeRecordShare: recordSizes === undefined ? 0 : meanOf(sizes, (bytes) => Number(bytes > LARGE_RECORD_BYTES)),
    headRoom,
    consumers,
    pollsPerSecond,
    enhancedFanOutConsumers,
    keys,
    balanced,
    placement,
    probability,
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
    if (bytesPerSecond! / recordsPerSecond > MAX_RECORD_BYTES) {
      const allowed = `at most ${MAX_RECORD_BYTES} bytes for each record`;
      throw new InvalidArgumentError('bytesPerSecond', bytesPerSecond, allowed);
    }
    return [{ bytes: bytesPerSecond! / recordsPerSecond, share: 1 }];
  }
  if (bytesPerSecond !== undefined) {
    throw new InvalidArgumentError(
      'bytesPerSecond',
      bytesPerSecond,
      'absent if recordSizes are set, because recordSizes determine the bytes',
    );
  }
  for (const [index, { bytes, share }] of recordSizes.entries()) {
    checkBetween(`recordSizes[${index}].bytes`, bytes, 0, MAX_RECORD_BYTES);
    checkNotNegative(`recordSizes[${index}].share`, share);
  }
  if (!recordSizes.some(({ share }) => share > 0)) {
    throw new InvalidArgumentError('recordSizes', recordSizes, 'an array of at least one size with a share above 0');
  }
  return recordSizes;
}

function meanOf(sizes: readonly RecordSize[], measure: (bytes: number) => number): number {
  const total = sizes.reduce((sum, { share }) => sum + share, 0);
  return sizes.reduce((sum, { bytes, share }) => sum + measure(bytes) * share, 0) / total;
}

/**
 * The smallest number of shards for `keys` keys of equal traffic: `whole` for balanced keys, and `byHash` for keys that Kinesis
 * places by their hash. With `byHash` shards, the probability of an overloaded shard is less than `probability`. A result is
 * undefined if 10,000 shards are not enough.
 *
 * The function finds `byHash` by binary search, because each further shard decreases the probability of an overload.
 */
function spreadOf(keys: number, stream: CheckedTraffic): { whole?: number; byHash?: number } {
  const { ofOneShard, headRoom, probability } = stream;
  const most = floorOf(1 / (ofOneShard / keys / (1 - headRoom)));
  if (most === 0) return {};
  const whole = Math.ceil(keys / most);
  const suffices = (shards: number) => isRarerThan(probability, most, keys, shards);
  return suffices(MAX_STREAM_SHARDS) ? { whole, byHash: binarySearch(1, MAX_STREAM_SHARDS, suffices) } : { whole };
}

function notFixed(stream: CheckedTraffic, byHash: number | undefined): string[] {
  const { busiestKey, keys, balanced, consumers, pollsPerSecond, headRoom, largeRecordShare } = stream;
  const sentences: string[] = [];
  if (isAbove(busiestKey, 1)) {
    sentences.push(
      `one key takes ${percent(busiestKey)} of a shard, and a key is in one shard: split the key, or write less to it`,
    );
  } else if (isAbove(busiestKey, 1 - headRoom)) {
    sentences.push(
      `one key takes ${percent(busiestKey)} of a shard, which leaves less than the head-room: split the key, or write less to it`,
    );
  }
  if (keys !== undefined && byHash === undefined && !balanced && !isAbove(busiestKey, 1)) {
    sentences.push(
      `${keys} keys are too few and too busy to be spread by their hash: give each key a balanced explicit hash key`,
    );
  }
  if (consumers * pollsPerSecond > SHARD_LIMITS.reads) {
    sentences.push(
      `${consumers} consumers poll every shard ${consumers * pollsPerSecond} times a second, but a shard allows ` +
        `only ${SHARD_LIMITS.reads} requests: poll less often, or use enhanced fan-out`,
    );
  }
  if (largeRecordShare > LARGE_RECORD_SHARE) {
    sentences.push(
      `${percent(largeRecordShare)} of the records are larger than 1 MiB; a shard accepts them only in bursts, up to 2%: ` +
        'store large payloads elsewhere, and put only their location into the stream',
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
  const fullUnits = Math.min(unitsOfRecord, bytesPerSecond / recordsPerSecond / PUT_PAYLOAD_UNIT_BYTES);
  const recordsPacked = (records * fullUnits) / unitsOfRecord;
  return { shards: ofShards, records, recordsPacked, fanOut, total: ofShards + records + fanOut, prices: prices.asOf };
}
