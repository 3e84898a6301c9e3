import { InvalidArgumentError } from '../../lib/core/kernel/errors';
import { LIST_PRICES, type ListPrices } from '../../lib/core/planning/list-prices';
import { type IndexTraffic, planIndex } from '../../lib/core/planning/plan-index';
import { type KeyPlacement, planStream } from '../../lib/core/planning/plan-stream';
import { SERVICE_LIMITS } from '../../lib/core/planning/service-limits';
import { weightedShards } from '../../lib/core/planning/weighted-shards';
import { MAX_INDEX_SHARDS } from '../../lib/core/sharding/shard-count';
import { ALLOWED_SHARD_FORMAT, type ShardFormat, wrongPartOf } from '../../lib/core/sharding/shard-format';
import { inFlagTerms, numberOf, parsedFlags, UsageError } from '../flags';
import { InvalidInputError } from '../invalid-input-error';
import { counted, percent } from '../plain-text';
import { print, printText } from '../print';
import { textTable } from '../text-table';
import { busiestKey, readSample, type TrafficSample, withProgress } from '../traffic-sample';
import { writeOutput } from '../write-output';
import { exampleIndex, indexSnippet, type Language, languageOf } from './cdk-snippet';
import { compareKeys } from './compare-keys';
import { readFields } from './field-samples';
import { keyLines, keyPicture } from './key-report';
import { planItem } from './plan-item';
import { planOverload } from './plan-overload';
import { type PlannedKind, planReport, type SampleSummary, type TradeOff } from './plan-report';
import { pricesFile } from './prices-file';
import { largestRate, type SamplePlacement, samplePlacement } from './sample-placement';
import { formulaNumber } from './shard-numbers';

const COMMAND = 'even-shards plan';

const MAX_ITEM_KB = SERVICE_LIMITS.itemKilobytes.value;

/** The assumed records a second of a comparison of keys, if the user gives no rate. */
const DEFAULT_RATE = 1_000;

const HELP = `usage: even-shards plan [stream | index | table] [options]
       even-shards plan index --shards N --share VALUE=N ...
       even-shards plan item --reads-per-second N [options]
       even-shards plan overload --partitions N [options]

Computes how many shards a stream or an index needs. For an index it prints the number of AWS's formula with its risk first, and then its own
number with its cost. Prints the rule that decides, the limit that growing traffic reaches first, the
problems that shards cannot solve, the cost of a month, and the CDK code. With a sample of traffic it plans both a stream and an index.
plan item checks whether an item is read too often. plan overload computes how likely too many shards are on one partition.

a sample of real traffic:
  --input FILE                newline-delimited JSON, one record a line, or an export of a table with {"Item": ...} on each line;
                              gzipped if named .gz; may be repeated; - is standard input
  --key NAME                  the field with the partition key of the stream, or with the value of the index
                              (default: compares all fields and the best pairs of fields as keys)
  --svg FILE                  also draw this comparison

a stream (rates of the busiest second):
  --records-per-second N      required without a sample (default with a sample: the maximum that its busiest key allows)
  --bytes-per-second N        required without a sample; a sample contains the records
  --head-room PART            part of each shard to keep free (default: 0.25)
  --consumers N               consumers that poll, and share the read limits of a shard (default: 1)
  --polls-per-second N        polls of each consumer (default: 1)
  --enhanced-fan-out-consumers N  consumers with their own read throughput (default: 0)
  --keys N                    partition keys with equal load (default: many; with a sample, the keys of the sample)
  --balanced                  keys have balanced explicit hash keys of a HashKeyRegistry (default: MD5 places the keys)

an index, or a table whose own partition key is hot:
  --writes-per-second N       required without a sample (default with a sample: the rate of the stream)
  --item-kb N                 size of an index entry, at most 400 (default: 1; with a sample, its mean up to 400)
  --share VALUE=N             share of a value of the writes, in any unit; may be repeated
  --shards N                  with --share, only divides this number of shards among the values
  --stored-gb N               maximum stored gigabytes (default: the plan ignores stored bytes)
  --local-index               the table has a local secondary index, so each partition key can have at most 10 GB
  --utilization PART          average utilization of partitions, and maximum of a shard (default: 0.5); 1 for the formula of AWS
  --overload PART             instead of --utilization: the load above its share that a partition may get; 0.2 is a utilization of 1 / 1.2
  --partitions N              partitions of the index (default: as the utilization requires, at least 4)
  --pages-per-second N        pages that queries read (default: 0)
  --keyspaces                 the table is in Amazon Keyspaces, whose partitions have the same limits
  --first-shard N             number of the first shard (default: 0); these four options are for tables that already use another shard format
  --separator TEXT            text between the value and the shard, without digits (default: #)
  --shard-width N             minimum digits of a shard number (default: 1); 2 gives 01
  --shard-placement SIDE      position of the shard number: suffix or prefix (default: suffix)
  --page-items N              items of a page (default: 25)

both:
  --probability P             maximum probability that a shard or a partition is overloaded (default: 0.05)
  --average-of-peak PART      average traffic of a month as a part of the peak, for the cost (default: 1)
  --prices FILE               JSON with your own prices and the fields of LIST_PRICES (default: list prices of
                              ${LIST_PRICES.asOf}; check them before you use a cost)
  --language NAME             language of the CDK code: typescript, python or java (default: typescript)
  --json                      print the plan as one JSON document
  --help                      show this text`;

const OPTIONS = {
  'average-of-peak': { type: 'string' },
  balanced: { type: 'boolean', default: false },
  'bytes-per-second': { type: 'string' },
  consumers: { type: 'string' },
  'enhanced-fan-out-consumers': { type: 'string' },
  'first-shard': { type: 'string' },
  'head-room': { type: 'string' },
  help: { type: 'boolean', default: false },
  input: { type: 'string', multiple: true },
  'item-kb': { type: 'string' },
  json: { type: 'boolean', default: false },
  keyspaces: { type: 'boolean', default: false },
  key: { type: 'string' },
  language: { type: 'string' },
  'local-index': { type: 'boolean', default: false },
  keys: { type: 'string' },
  overload: { type: 'string' },
  'page-items': { type: 'string' },
  'pages-per-second': { type: 'string' },
  partitions: { type: 'string' },
  'polls-per-second': { type: 'string' },
  prices: { type: 'string' },
  probability: { type: 'string' },
  'records-per-second': { type: 'string' },
  separator: { type: 'string' },
  'shard-placement': { type: 'string' },
  'shard-width': { type: 'string' },
  share: { type: 'string', multiple: true },
  shards: { type: 'string' },
  'stored-gb': { type: 'string' },
  svg: { type: 'string' },
  utilization: { type: 'string' },
  'writes-per-second': { type: 'string' },
} as const;

const TARGETS = ['stream', 'index', 'table'];

/** Options that only one kind of plan uses. The rate and the head-room of a stream also apply to the index of a sample. */
const OF_STREAM = ['bytes-per-second', 'consumers', 'enhanced-fan-out-consumers', 'keys', 'polls-per-second'] as const;
/** Options for an index whose shard and value are in one attribute. */
const BESIDE_VALUE = ['separator', 'shard-placement', 'shard-width'] as const;
const OF_INDEX = [
  'first-shard',
  'item-kb',
  'overload',
  'page-items',
  'pages-per-second',
  'partitions',
  'share',
  'stored-gb',
  'utilization',
  ...BESIDE_VALUE,
] as const;

/** `even-shards plan`. */
export async function plan(args: string[]): Promise<void> {
  if (args[0] === 'item') return planItem(args.slice(1));
  if (args[0] === 'overload') return planOverload(args.slice(1));
  const { flags, target } = planFlags(args);
  const language = languageOf(COMMAND, flags.language);
  if (flags.help) return printText(HELP);
  if (flags.shards !== undefined) return printDivided(flags, language);
  const prices = flags.prices === undefined ? undefined : pricesFile(flags.prices);
  const { input, key } = flags;
  if (input !== undefined && key === undefined) return whichKey(input, flags);
  const sample =
    input && (await withProgress('records read', (onProgress) => readSample(input, { key: key!, onProgress })));
  const planned = {
    ...(sample && { sample: summaryOf(sample, key!) }),
    ...(wants('stream', target, flags) && { stream: inFlagTerms(COMMAND, () => plannedStream(flags, sample, prices)) }),
    ...(wants('index', target, flags) && {
      index: inFlagTerms(COMMAND, () => plannedIndex(flags, kindOf(target, flags), sample, prices)),
    }),
  };
  if (flags.json) printText(JSON.stringify(planned, flags.keyspaces ? withoutCost : undefined, 2));
  else print(planReport(planned, language));
}

function planFlags(args: string[]) {
  const config = { args, options: OPTIONS, allowPositionals: true } as const;
  const { values: flags, positionals } = parsedFlags(COMMAND, config);
  const [target, ...more] = positionals;
  if (target !== undefined && !TARGETS.includes(target)) {
    throw new UsageError(`can plan a stream, an index, a table, an item or an overload, not "${target}"`, COMMAND);
  }
  if (more.length > 0) throw new UsageError(`unexpected argument '${more[0]}'`, COMMAND);
  if (flags.help) return { flags, target };
  if (flags.shards !== undefined) {
    refuseOthers(flags, target);
    return { flags, target };
  }
  if (flags.key !== undefined && flags.input === undefined) throw new UsageError('--key needs --input', COMMAND);
  if (flags.svg !== undefined && (flags.input === undefined || flags.key !== undefined)) {
    throw new UsageError('--svg draws the comparison of keys: give --input, and leave out --key', COMMAND);
  }
  if (flags.input !== undefined && flags.keys !== undefined) {
    throw new UsageError('--input already contains the keys: leave out --keys', COMMAND);
  }
  refuseIdle(flags, target);
  for (const [kind, options] of [
    ['stream', OF_STREAM],
    ['index', OF_INDEX],
  ] as const) {
    const idle = wants(kind, target, flags) ? undefined : options.find((option) => flags[option] !== undefined);
    if (idle !== undefined) throw new UsageError(`--${idle} has no effect without a plan of the ${kind}`, COMMAND);
  }
  if (flags.overload !== undefined && flags.utilization !== undefined) {
    throw new UsageError('--overload and --utilization set the same value: give only one', COMMAND);
  }
  if (flags['local-index'] && (target !== 'table' || flags['stored-gb'] === undefined)) {
    throw new UsageError(
      '--local-index applies only to the stored bytes of a table: give table and --stored-gb',
      COMMAND,
    );
  }
  if (flags.keyspaces && target === 'table') {
    throw new UsageError('--keyspaces plans a table of Amazon Keyspaces: give index, not table', COMMAND);
  }
  if (flags.keyspaces && (wants('stream', target, flags) || !wants('index', target, flags))) {
    throw new UsageError('--keyspaces plans one table: give index, and no rate of a stream', COMMAND);
  }
  if (flags.input !== undefined) return { flags, target };
  const [stream, index] = [flags['records-per-second'], flags['writes-per-second']];
  if (!isOfIndex(target) && stream === undefined && (target === 'stream' || index === undefined)) {
    throw new UsageError('give --input, --records-per-second or --writes-per-second', COMMAND);
  }
  if (isOfIndex(target) && index === undefined) {
    throw new UsageError(`${target === 'table' ? 'a table' : 'an index'} needs --writes-per-second`, COMMAND);
  }
  return { flags, target };
}

/** The options of a division of shards. */
const OF_DIVISION: readonly string[] = ['shards', 'share', 'language', 'json'];

/** @throws UsageError for an option that the division of shards ignores */
function refuseOthers(flags: Flags, target: string | undefined): void {
  if (target !== 'index' || flags.share === undefined)
    throw new UsageError('--shards needs index and --share', COMMAND);
  const others = (Object.keys(OPTIONS) as (keyof Flags & string)[]).filter((option) => !OF_DIVISION.includes(option));
  const idle = others.find((option) => flags[option] !== undefined && flags[option] !== false);
  if (idle !== undefined) throw new UsageError(`--${idle} has no effect with --shards`, COMMAND);
}

/** Divides a given number of shards among the values of an index. */
function printDivided(flags: Flags, language: Language): void {
  const shares = sharesOf(flags.share!);
  const asked = numberOf(COMMAND, 'shards', flags.shards)!;
  const byValue = inFlagTerms(COMMAND, () => weightedShards({ shards: asked, shares }));
  const most = Object.entries(byValue).find(([, count]) => count > MAX_INDEX_SHARDS);
  if (most !== undefined) {
    const [value, count] = most;
    throw new UsageError(
      `--shards gives ${value} ${count} shards, but a value has at most ${MAX_INDEX_SHARDS}: a query reads every shard for each page`,
      COMMAND,
    );
  }
  const counts = Object.values(byValue);
  const shards = counts.reduce((sum, count) => sum + count, 0);
  if (flags.json) {
    printText(JSON.stringify({ shards, byValue }, null, 2));
    return;
  }
  const all = Object.values(shares).reduce((sum, share) => sum + share, 0);
  const more =
    shards > asked ? `; each value gets at least one, and its count is rounded up from ${asked} in total` : '';
  print([
    `${counted(shards, 'shard')} of ${counted(counts.length, 'value')}${more}`,
    '',
    ...textTable(
      ['value', 'share', 'shards'],
      Object.entries(byValue).map(([value, count]) => [value, percent(shares[value]! / all), count]),
    ),
    '',
    ...indexSnippet({ shards, byValue }, exampleIndex('value'), language),
  ]);
}

/** The options of a comparison of keys. */
const OF_COMPARISON: readonly string[] = ['input', 'json', 'svg', 'records-per-second', 'writes-per-second'];

/** @throws UsageError for an option that this plan ignores: the user would think that the plan considers it */
function refuseIdle(flags: Flags, target: string | undefined): void {
  const [records, writes] = [flags['records-per-second'], flags['writes-per-second']];
  const refuse = (isIdle: boolean, option: keyof Flags & string, why: string): void => {
    if (isIdle && flags[option] !== undefined && flags[option] !== false) {
      throw new UsageError(`--${option} has no effect ${why}`, COMMAND);
    }
  };
  if (flags.input !== undefined && flags.key === undefined) {
    const why = 'in a comparison of keys: give --key to plan with one';
    if (target !== undefined) throw new UsageError(`${target} has no effect ${why}`, COMMAND);
    const options = Object.keys(OPTIONS) as (keyof Flags & string)[];
    for (const option of options) refuse(!OF_COMPARISON.includes(option), option, why);
    refuse(records !== undefined, 'writes-per-second', 'with --records-per-second in a comparison of keys');
  }
  const isRateOfSample = flags.input !== undefined && writes === undefined;
  if (!wants('stream', target, flags)) {
    refuse(true, 'balanced', 'without a plan of the stream');
    refuse(!isRateOfSample, 'records-per-second', 'for an index: its rate is --writes-per-second');
    refuse(!isRateOfSample || records !== undefined, 'head-room', 'with the rate of an index');
  }
  refuse(!wants('index', target, flags), 'writes-per-second', 'for a stream: its rate is --records-per-second');
  for (const option of ['average-of-peak', 'prices'] as const) {
    refuse(flags.keyspaces, option, 'with --keyspaces, whose cost the plan does not compute');
  }
}

/** Leaves out the cost of a plan for Amazon Keyspaces, because the known prices are prices of DynamoDB. */
function withoutCost(key: string, value: unknown): unknown {
  return key === 'monthlyCost' ? undefined : value;
}

type Flags = ReturnType<typeof parsedFlags<{ options: typeof OPTIONS }>>['values'];

/** Whether to plan a stream or an index: the user names it, gives its rate, or gives a sample. A sample plans both. */
function wants(kind: 'stream' | 'index', target: string | undefined, flags: Flags): boolean {
  const rate = kind === 'stream' ? 'records-per-second' : 'writes-per-second';
  if (target === undefined) return flags.input !== undefined || flags[rate] !== undefined;
  return kind === 'stream' ? target === 'stream' : isOfIndex(target);
}

function isOfIndex(target: string | undefined): boolean {
  return target === 'index' || target === 'table';
}

function kindOf(target: string | undefined, { keyspaces }: Flags): PlannedKind {
  if (keyspaces) return 'keyspaces';
  return target === 'table' ? 'table' : 'index';
}

function summaryOf(sample: TrafficSample, keyField: string): SampleSummary {
  return { keyField, records: sample.records, keys: sample.keys.size, busiest: busiestKey(sample) };
}

function plannedStream(flags: Flags, sample: TrafficSample | undefined, prices: Partial<ListPrices> | undefined) {
  const number = (flag: keyof Flags & string) => numberOf(COMMAND, flag, flags[flag] as string | undefined);
  const common = {
    headRoom: number('head-room'),
    consumers: number('consumers'),
    pollsPerSecond: number('polls-per-second'),
    enhancedFanOutConsumers: number('enhanced-fan-out-consumers'),
    probability: number('probability'),
    averageOfPeak: number('average-of-peak'),
    prices,
  };
  const recordsPerSecond = number('records-per-second');
  const bytesPerSecond = number('bytes-per-second');
  if (sample === undefined) {
    const { balanced } = flags;
    const traffic = { ...common, recordsPerSecond: recordsPerSecond!, bytesPerSecond, keys: number('keys'), balanced };
    return { traffic, rateIsLimit: false, balanced, plan: planStream(traffic) };
  }
  const rate = recordsPerSecond ?? largestRate(sample, common.headRoom);
  const recordSizes = [...sample.sizes].map(([bytes, share]) => ({ bytes, share }));
  const traffic = {
    ...common,
    recordsPerSecond: rate,
    ...(bytesPerSecond === undefined ? { recordSizes } : { bytesPerSecond }),
    hottestKeyShare: busiestKey(sample).share,
  };
  const { shards } = planStream(traffic);
  const placement = samplePlacement(sample, { recordsPerSecond: rate, headRoom: common.headRoom, shards });
  const design = designOf(placement, flags.balanced);
  return {
    traffic: { ...traffic, recordSizes: undefined },
    rateIsLimit: recordsPerSecond === undefined,
    balanced: design.balanced,
    plan: planStream({ ...traffic, placement: design.placement }),
    placement,
  };
}

/** Chooses balanced keys if the user wants them or if no number of shards is enough with MD5. */
function designOf(placed: SamplePlacement, balanced: boolean): { balanced: boolean; placement?: KeyPlacement } {
  const { shardsByHash, busiestShareByHash, shardsIfBalanced, busiestShareIfBalanced } = placed;
  if (shardsByHash !== undefined && !balanced) {
    return { balanced: false, placement: { shards: shardsByHash, busiestShare: busiestShareByHash! } };
  }
  if (shardsIfBalanced === undefined) return { balanced };
  return { balanced: true, placement: { shards: shardsIfBalanced, busiestShare: busiestShareIfBalanced! } };
}

/**
 * If the user names no key, the command compares the fields of the sample as keys.
 *
 * @throws InvalidInputError if no field can be a key
 */
async function whichKey(input: readonly string[], flags: Flags): Promise<void> {
  const samples = await withProgress('records read', (onProgress) => readFields(input, onProgress));
  if (samples.fields.length === 0) {
    const problem = 'no field has a non-empty text, a number or a boolean in every record, so no field can be a key';
    throw new InvalidInputError(`${input.join(', ')}: ${problem}`);
  }
  const rate = flags['records-per-second'] ?? flags['writes-per-second'];
  const recordsPerSecond = numberOf(COMMAND, 'records-per-second', rate) ?? DEFAULT_RATE;
  if (!(recordsPerSecond > 0)) throw new UsageError(`--records-per-second must be above 0, got ${rate}`, COMMAND);
  const comparison = compareKeys(samples, recordsPerSecond);
  if (flags.svg !== undefined) writeOutput(flags.svg, keyPicture(comparison));
  if (flags.json) printText(JSON.stringify(comparison, null, 2));
  else print(keyLines(comparison));
}

function plannedIndex(
  flags: Flags,
  kind: PlannedKind,
  sample: TrafficSample | undefined,
  prices: Partial<ListPrices> | undefined,
) {
  const number = (flag: keyof Flags & string) => numberOf(COMMAND, flag, flags[flag] as string | undefined);
  const fromSample = sample && {
    writesPerSecond: number('records-per-second') ?? largestRate(sample, number('head-room')),
    itemKb: Math.min(MAX_ITEM_KB, sample.bytes / sample.records / 1_024),
    shares: Object.fromEntries(sample.keys),
  };
  const traffic = {
    writesPerSecond: number('writes-per-second') ?? fromSample!.writesPerSecond,
    itemKb: number('item-kb') ?? fromSample?.itemKb,
    shares: flags.share ? sharesOf(flags.share) : fromSample?.shares,
    utilization: number('utilization') ?? utilizationOf(number('overload')),
    partitions: number('partitions'),
    probability: number('probability'),
    pagesPerSecond: number('pages-per-second'),
    pageItems: number('page-items'),
    averageOfPeak: number('average-of-peak'),
    storedGb: number('stored-gb'),
    hasLocalSecondaryIndex: flags['local-index'],
    firstShard: number('first-shard'),
    prices,
  };
  if (kind !== 'keyspaces' && traffic.itemKb !== undefined && traffic.itemKb > MAX_ITEM_KB) {
    throw new InvalidArgumentError(
      'itemKb',
      traffic.itemKb,
      `at most ${MAX_ITEM_KB}, the size of the largest item of DynamoDB`,
    );
  }
  const plan = planIndex(traffic);
  const formula = formulaNumber(traffic, plan);
  return {
    traffic: { ...traffic, shares: undefined },
    shardFormat: shardFormatOf(flags, kind, traffic.shares !== undefined),
    plan,
    ...(formula.shards < plan.shards && { formula }),
    tradeOffs: tradeOffs(traffic),
    kind,
  };
}

/** The shard format in the flags. */
function shardFormatOf(flags: Flags, kind: PlannedKind, isByValue: boolean): ShardFormat {
  const besideValue = BESIDE_VALUE.find((flag) => flags[flag] !== undefined);
  if (besideValue !== undefined && kind === 'keyspaces') {
    throw new UsageError(
      `--${besideValue} has no effect with --keyspaces, because the shard has a separate column`,
      COMMAND,
    );
  }
  if (besideValue !== undefined && kind === 'index' && !isByValue) {
    const problem = `--${besideValue} applies only if the shard and a value share an attribute, and this index has no value: give --share VALUE=N, or table`;
    throw new UsageError(problem, COMMAND);
  }
  const shardFormat = {
    firstShard: numberOf(COMMAND, 'first-shard', flags['first-shard']),
    separator: flags.separator,
    shardWidth: numberOf(COMMAND, 'shard-width', flags['shard-width']),
    shardPlacement: flags['shard-placement'] as ShardFormat['shardPlacement'],
  };
  const wrong = wrongPartOf(shardFormat);
  if (wrong !== undefined) throw new InvalidArgumentError(wrong, shardFormat[wrong], ALLOWED_SHARD_FORMAT[wrong]);
  return shardFormat;
}

function utilizationOf(overload: number | undefined): number | undefined {
  if (overload === undefined) return undefined;
  // These overloads give the utilizations from 0.05 to 0.95, and 1.
  if (overload !== 0 && !(overload >= 0.053 && overload <= 19)) {
    throw new UsageError(
      `--overload must be a number from 0.053 to 19, or 0 for the formula of AWS, got ${overload}`,
      COMMAND,
    );
  }
  return 1 / (1 + overload);
}

/** The same traffic on more partitions: the index then needs fewer shards, and pages are cheaper. Leaves out designs that are impossible with any number of shards. */
function tradeOffs(traffic: IndexTraffic): TradeOff[] {
  const options = [0.7, 0.5, 0.35, 0.25].flatMap((utilization) => {
    try {
      const { partitions, shards, page } = planIndex({ ...traffic, utilization, partitions: undefined });
      return [{ utilization, partitions, shards, readUnitsPerPage: page.readUnits }];
    } catch (error) {
      if (error instanceof InvalidArgumentError) return [];
      throw error;
    }
  });
  return options.filter(({ partitions }, index) => partitions !== options[index - 1]?.partitions);
}

function sharesOf(texts: readonly string[]): Record<string, number> {
  const shares = texts.map((text) => {
    const [, value, share] = /^(.+)=([^=]+)$/s.exec(text) ?? [];
    const number = Number(share);
    if (value !== undefined && share!.trim() !== '' && number >= 0) return [value, number] as const;
    throw new UsageError(`--share must be VALUE=N with a number of at least 0, got "${text}"`, COMMAND);
  });
  const repeated = shares.find(([value], index) => shares.findIndex(([other]) => other === value) < index);
  if (repeated !== undefined) throw new UsageError(`--share names ${repeated[0]} twice`, COMMAND);
  if (shares.every(([, share]) => share === 0)) throw new UsageError('one --share must be above 0', COMMAND);
  return Object.fromEntries(shares);
}
