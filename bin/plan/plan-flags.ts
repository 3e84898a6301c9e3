import { LIST_PRICES } from '../../lib/core/planning/list-prices';
import { numberOf, parsedFlags, UsageError } from '../flags';

export const PLAN_COMMAND = 'even-shards plan';

export const PLAN_HELP = `usage: even-shards plan [stream | index | table] [options]
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
export const BESIDE_VALUE = ['separator', 'shard-placement', 'shard-width'] as const;
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

export type PlanFlags = ReturnType<typeof parsedFlags<{ options: typeof OPTIONS }>>['values'];
type PlanFlag = keyof typeof OPTIONS;

const ALL_FLAGS = Object.keys(OPTIONS) as PlanFlag[];

/**
 * The flags of `even-shards plan`, and what it plans: a stream, an index or a table. Undefined if only the flags show it.
 *
 * @throws UsageError if the command line is wrong, or if the plan would ignore a flag: the user would think that the plan considers it
 */
export function planFlags(args: string[]): { flags: PlanFlags; target: string | undefined } {
  const config = { args, options: OPTIONS, allowPositionals: true } as const;
  const { values: flags, positionals } = parsedFlags(PLAN_COMMAND, config);
  const [target, ...more] = positionals;
  refuse(
    target !== undefined && !TARGETS.includes(target),
    `can plan a stream, an index, a table, an item or an overload, not "${target}"`,
  );
  refuse(more.length > 0, `unexpected argument '${more[0]}'`);
  if (flags.help) return { flags, target };
  if (flags.shards !== undefined) checkDivision(flags, target);
  else {
    checkSample(flags);
    if (flags.input !== undefined && flags.key === undefined) checkComparison(flags, target);
    checkRates(flags, target);
    checkKinds(flags, target);
  }
  return { flags, target };
}

function refuse(isWrong: boolean, problem: string): void {
  if (isWrong) throw new UsageError(problem, PLAN_COMMAND);
}

function refuseIdle(isIdle: boolean, flag: PlanFlag, flags: PlanFlags, why: string): void {
  refuse(isIdle && flags[flag] !== undefined && flags[flag] !== false, `--${flag} has no effect ${why}`);
}

/** The flags of a division of shards. */
const OF_DIVISION: readonly PlanFlag[] = ['shards', 'share', 'language', 'json'];

function checkDivision(flags: PlanFlags, target: string | undefined): void {
  refuse(target !== 'index' || flags.share === undefined, '--shards needs index and --share');
  for (const flag of ALL_FLAGS) refuseIdle(!OF_DIVISION.includes(flag), flag, flags, 'with --shards');
}

function checkSample({ input, key, keys, svg }: PlanFlags): void {
  refuse(key !== undefined && input === undefined, '--key needs --input');
  refuse(
    svg !== undefined && (input === undefined || key !== undefined),
    '--svg draws the comparison of keys: give --input, and leave out --key',
  );
  refuse(input !== undefined && keys !== undefined, '--input already contains the keys: leave out --keys');
}

/** The flags of a comparison of keys. */
const OF_COMPARISON: readonly PlanFlag[] = ['input', 'json', 'svg', 'records-per-second', 'writes-per-second'];

function checkComparison(flags: PlanFlags, target: string | undefined): void {
  const why = 'in a comparison of keys: give --key to plan with one';
  refuse(target !== undefined, `${target} has no effect ${why}`);
  for (const flag of ALL_FLAGS) refuseIdle(!OF_COMPARISON.includes(flag), flag, flags, why);
  const hasRecords = flags['records-per-second'] !== undefined;
  refuseIdle(hasRecords, 'writes-per-second', flags, 'with --records-per-second in a comparison of keys');
}

/** The rate of a plan, and the flags that belong to it. */
function checkRates(flags: PlanFlags, target: string | undefined): void {
  const { input, 'records-per-second': records, 'writes-per-second': writes } = flags;
  const isRateOfSample = input !== undefined && writes === undefined;
  if (!wants('stream', target, flags)) {
    refuseIdle(true, 'balanced', flags, 'without a plan of the stream');
    refuseIdle(!isRateOfSample, 'records-per-second', flags, 'for an index: its rate is --writes-per-second');
    refuseIdle(!isRateOfSample || records !== undefined, 'head-room', flags, 'with the rate of an index');
  }
  const isIdle = !wants('index', target, flags);
  refuseIdle(isIdle, 'writes-per-second', flags, 'for a stream: its rate is --records-per-second');
  for (const flag of ['average-of-peak', 'prices'] as const) {
    refuseIdle(flags.keyspaces, flag, flags, 'with --keyspaces, whose cost the plan does not compute');
  }
}

/** The flags of each kind of plan, and a rate for each. */
function checkKinds(flags: PlanFlags, target: string | undefined): void {
  for (const [kind, own] of [
    ['stream', OF_STREAM],
    ['index', OF_INDEX],
  ] as const) {
    for (const flag of own) refuseIdle(!wants(kind, target, flags), flag, flags, `without a plan of the ${kind}`);
  }
  const { input, keyspaces, overload, utilization } = flags;
  refuse(
    overload !== undefined && utilization !== undefined,
    '--overload and --utilization set the same value: give only one',
  );
  refuse(
    flags['local-index'] && (target !== 'table' || flags['stored-gb'] === undefined),
    '--local-index applies only to the stored bytes of a table: give table and --stored-gb',
  );
  refuse(keyspaces && target === 'table', '--keyspaces plans a table of Amazon Keyspaces: give index, not table');
  refuse(
    keyspaces && (wants('stream', target, flags) || !wants('index', target, flags)),
    '--keyspaces plans one table: give index, and no rate of a stream',
  );
  if (input !== undefined) return;
  const { 'records-per-second': records, 'writes-per-second': writes } = flags;
  refuse(
    !isOfIndex(target) && records === undefined && (target === 'stream' || writes === undefined),
    'give --input, --records-per-second or --writes-per-second',
  );
  refuse(
    isOfIndex(target) && writes === undefined,
    `${target === 'table' ? 'a table' : 'an index'} needs --writes-per-second`,
  );
}

/** Whether to plan a stream or an index: the user names it, gives its rate, or gives a sample. A sample plans both. */
export function wants(kind: 'stream' | 'index', target: string | undefined, flags: PlanFlags): boolean {
  const rate = kind === 'stream' ? 'records-per-second' : 'writes-per-second';
  if (target === undefined) return flags.input !== undefined || flags[rate] !== undefined;
  return kind === 'stream' ? target === 'stream' : isOfIndex(target);
}

function isOfIndex(target: string | undefined): boolean {
  return target === 'index' || target === 'table';
}

/** Returns the number in a flag. */
export function numbersOf(flags: PlanFlags): (flag: PlanFlag) => number | undefined {
  return (flag) => numberOf(PLAN_COMMAND, flag, flags[flag] as string | undefined);
}

/** The shares of values in the flag `--share`. */
export function sharesOf(texts: readonly string[]): Record<string, number> {
  const shares = texts.map((text) => {
    const [, value, share] = /^(.+)=([^=]+)$/s.exec(text) ?? [];
    const number = Number(share);
    if (value !== undefined && share!.trim() !== '' && number >= 0) return [value, number] as const;
    throw new UsageError(`--share must be VALUE=N with a number of at least 0, got "${text}"`, PLAN_COMMAND);
  });
  const repeated = shares.find(([value], index) => shares.findIndex(([other]) => other === value) < index);
  if (repeated !== undefined) throw new UsageError(`--share names ${repeated[0]} twice`, PLAN_COMMAND);
  if (shares.every(([, share]) => share === 0)) throw new UsageError('one --share must be above 0', PLAN_COMMAND);
  return Object.fromEntries(shares);
}
