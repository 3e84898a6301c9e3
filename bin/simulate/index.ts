import { checkBetween, checkWhole } from '../../lib/core/kernel/checks';
import { checkStreamShardCount } from '../../lib/core/sharding/shard-count';
import { shardIndexOf, uniformRanges } from '../../lib/core/stream-format/hash-key-ranges';
import { hashPartitionKey } from '../../lib/core/stream-format/hash-key-space';
import { inFlagTerms, numberOf, parsedFlags, UsageError } from '../flags';
import { print, printText } from '../print';
import { busiestKey, readSample, withProgress } from '../samples/traffic-sample';
import { textTable } from '../text-table';
import { writeOutput } from '../write-output';
import { generatedKeys, KEY_FORMATS } from './generated-keys';
import { ItemPlacements, keyPlacements, weightedPlacement } from './simulation';
import { simulationPage } from './simulation-page';
import { simulationPicture } from './simulation-picture';
import { type SimulationReport, simulationLines } from './simulation-report';

const COMMAND = 'even-shards simulate';

const HELP = `usage: even-shards simulate [options]

Places keys on the shards of a stream, and items on the shards of an index, with each strategy. Prints the load of the busiest shard:
now, and after each doubling of the shards.

keys (in a stream, all records of a key go to one shard):
  --input FILE         newline-delimited JSON, one record a line, gzipped if named .gz; may be repeated
                       - is standard input
  --key NAME           the field with the key; required with --input
  --id NAME            the field that identifies a record for calculated suffixes (default: its key and a number)
  --keys N             number of generated keys, 1 to 10,000,000 (default: 64)
  --key-format FORMAT  format of generated keys: account, number or uuid; account and number count from 1 (default: account)
  --skew S             Zipf exponent of generated keys: 0 for equal keys, 1 for a few busy and many idle keys (default: 0)

shards:
  --shards N           1 to 5,000 (default: 8)
  --doublings N        0 to 4 (default: 2)
  --seed N             seed of the random generator (default: 1)

output:
  --each               print only the hash key and the shard of each key, by its MD5
  --json               print one JSON document instead of a table
  --html FILE          also write an HTML page with plots, which needs no network
  --svg FILE           also write the plots as a picture
  --help               show this text`;

const OPTIONS = {
  doublings: { type: 'string', default: '2' },
  each: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
  html: { type: 'string' },
  id: { type: 'string' },
  input: { type: 'string', multiple: true },
  json: { type: 'boolean', default: false },
  key: { type: 'string' },
  'key-format': { type: 'string' },
  keys: { type: 'string' },
  seed: { type: 'string', default: '1' },
  shards: { type: 'string', default: '8' },
  skew: { type: 'string' },
  svg: { type: 'string' },
} as const;

/** `NEEDS`: the command rejects the first option without the second. `EXCLUDES`: the command rejects the two options together. */
const NEEDS = [
  ['input', 'key'],
  ['key', 'input'],
  ['id', 'input'],
] as const;
const EXCLUDES = [
  ['input', 'keys'],
  ['input', 'key-format'],
  ['input', 'skew'],
] as const;
/** Options that `--each` does not use. */
const NOT_WITH_EACH = ['html', 'svg'] as const;

/** `even-shards simulate`. */
export async function simulate(args: string[]): Promise<void> {
  const flags = simulateFlags(args);
  if (flags === undefined) return printText(HELP);
  if (flags.each) return printEach(flags);
  const report = await simulated(flags);
  if (flags.html !== undefined) writeOutput(flags.html, simulationPage(report));
  if (flags.svg !== undefined) writeOutput(flags.svg, simulationPicture(report));
  if (flags.json) return printText(JSON.stringify({ ...report, keys: report.keys.length }, null, 2));
  print(simulationLines(report));
}

/** Prints where Kinesis places each key: its hash key, and its shard from 0 on. */
async function printEach(flags: SimulateFlags): Promise<void> {
  const ranges = uniformRanges(flags.shards);
  const placed = [...(await recordsByKey(flags, new ItemPlacements([], flags.seed)))].map(([key]) => {
    const hashKey = hashPartitionKey(key);
    return { key, hashKey: String(hashKey), shard: shardIndexOf(hashKey, ranges) };
  });
  if (flags.json) return printText(JSON.stringify(placed, null, 2));
  print(
    textTable(
      ['key', 'hash key', 'shard'],
      placed.map(({ key, hashKey, shard }) => [key, hashKey, shard]),
    ),
  );
}

async function simulated(flags: SimulateFlags): Promise<SimulationReport> {
  const { shards, doublings, seed } = flags;
  const shardCounts = Array.from({ length: doublings + 1 }, (_, level) => shards * 2 ** level);
  const items = new ItemPlacements(shardCounts, seed);
  const byKey = await withProgress('records placed', (onProgress) => recordsByKey(flags, items, onProgress));
  const keys = [...byKey];
  const records = keys.reduce((sum, [, count]) => sum + count, 0);
  const placements = [
    ...keyPlacements(keys, shardCounts),
    ...items.placements(),
    ...weightedPlacement(keys, shardCounts, seed),
  ];
  return { records, keys, busiest: busiestKey({ keys: byKey, records }), shardCounts, placements };
}

async function recordsByKey(
  flags: SimulateFlags,
  items: ItemPlacements,
  onProgress?: (placed: number) => void,
): Promise<ReadonlyMap<string, number>> {
  if (flags.input !== undefined) {
    const sample = await readSample(flags.input, {
      key: flags.key!,
      id: flags.id,
      onRecord: (_, id) => items.add(id),
      onProgress,
    });
    return sample.keys;
  }
  const keys = generatedKeys(flags.keys, flags.skew, flags.keyOf);
  let placed = 0;
  for (const [key, records] of keys) {
    for (let record = 1; record <= records; record++) {
      items.add(records === 1 ? key : `${key}/${record}`);
      placed += 1;
      if (placed % 100_000 === 0) onProgress?.(placed);
    }
  }
  return keys;
}

type SimulateFlags = NonNullable<ReturnType<typeof simulateFlags>>;

function simulateFlags(args: string[]) {
  const { values } = parsedFlags(COMMAND, { args, options: OPTIONS });
  if (values.help) return undefined;
  for (const [option, needed] of NEEDS) {
    if (values[option] !== undefined && values[needed] === undefined) {
      throw new UsageError(`--${option} needs --${needed}`, COMMAND);
    }
  }
  for (const [option, excluded] of EXCLUDES) {
    if (values[option] !== undefined && values[excluded] !== undefined) {
      throw new UsageError(`--${option} already contains the keys: leave out --${excluded}`, COMMAND);
    }
  }
  const unused = values.each ? NOT_WITH_EACH.find((option) => values[option] !== undefined) : undefined;
  if (unused !== undefined) throw new UsageError(`--each prints no plots: leave out --${unused}`, COMMAND);
  const format = values['key-format'] ?? 'account';
  const keyOf = Object.hasOwn(KEY_FORMATS, format) ? KEY_FORMATS[format] : undefined;
  if (keyOf === undefined) {
    throw new UsageError(
      `--key-format must be one of ${Object.keys(KEY_FORMATS).join(', ')}, got "${format}"`,
      COMMAND,
    );
  }
  const number = (flag: keyof typeof values, otherwise: number) =>
    numberOf(COMMAND, flag, values[flag] as string | undefined) ?? otherwise;
  const flags = {
    ...values,
    keyOf,
    shards: number('shards', 8),
    doublings: number('doublings', 2),
    seed: number('seed', 1),
    keys: number('keys', 64),
    skew: number('skew', 0),
  };
  inFlagTerms(COMMAND, () => {
    checkWhole('shards', flags.shards, 1, 5_000);
    checkWhole('doublings', flags.doublings, 0, 4);
    checkWhole('keys', flags.keys, 1, 10_000_000);
    checkBetween('skew', flags.skew, 0, 2);
    checkWhole('seed', flags.seed, 0, 2 ** 31);
    checkStreamShardCount('shards after all doublings', flags.shards * 2 ** flags.doublings);
  });
  return flags;
}
