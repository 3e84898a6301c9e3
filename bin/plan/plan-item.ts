import { type ItemTraffic, planHotItem } from '../../lib/core/planning/plan-hot-item';
import { inFlagTerms, numberOf, parsedFlags, UsageError } from '../flags';
import { roughPercent } from '../plain-text';
import { print, printText } from '../print';

const COMMAND = 'even-shards plan item';

const HELP = `usage: even-shards plan item --reads-per-second N [options]

Checks whether one item is read more often than its partition allows. More shards do not help. Computes the reads behind a cache.

  --reads-per-second N  reads of the item in its busiest second
  --item-kb N           size of a read: the item, or the page that contains it, at most 1024 (default: 1)
  --consistent          strongly consistent reads: they cost twice as much, and no cache answers them
  --cache-seconds N     how long a cache may return an item (default: 1)
  --caches N            number of caches: each execution environment of a function has its own cache (default: 1)
  --json                print the plan as one JSON document
  --help                show this text`;

const OPTIONS = {
  'cache-seconds': { type: 'string' },
  caches: { type: 'string' },
  consistent: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
  'item-kb': { type: 'string' },
  json: { type: 'boolean', default: false },
  'reads-per-second': { type: 'string' },
} as const;

/** `even-shards plan item`. */
export function planItem(args: string[]): void {
  const { values: flags } = parsedFlags(COMMAND, { args, options: OPTIONS });
  if (flags.help) {
    printText(HELP);
    return;
  }
  const number = (flag: 'cache-seconds' | 'caches' | 'item-kb' | 'reads-per-second') =>
    numberOf(COMMAND, flag, flags[flag]);
  const readsPerSecond = number('reads-per-second');
  if (readsPerSecond === undefined) throw new UsageError('give --reads-per-second', COMMAND);
  const traffic = {
    readsPerSecond,
    itemKb: number('item-kb') ?? 1,
    consistentRead: flags.consistent,
    cacheSeconds: number('cache-seconds') ?? 1,
    caches: number('caches') ?? 1,
  };
  if (flags.json) printText(JSON.stringify(planOf(traffic), null, 2));
  else print(report(traffic));
}

function planOf(traffic: ItemTraffic) {
  return inFlagTerms(COMMAND, () => planHotItem(traffic));
}

function report(traffic: Required<ItemTraffic>): string[] {
  const { readsPerSecond, itemKb, consistentRead, cacheSeconds, caches } = traffic;
  const { readUnitsPerSecond, partitionUse, cachedReadUnitsPerSecond, advice } = planOf(traffic);
  const reads = `${consistentRead ? 'consistent' : 'eventually consistent'} reads of ${figure(itemKb)} KB`;
  const cached = `${figure(caches)} ${caches === 1 ? 'cache' : 'caches'} of ${figure(cacheSeconds)} s`;
  return [
    `one item, ${figure(readsPerSecond)} ${reads} a second`,
    '',
    `without a cache: ${figure(readUnitsPerSecond)} read units a second, ${roughPercent(partitionUse)} of what its partition takes`,
    ...(consistentRead ? [] : [`with ${cached}: ${figure(cachedReadUnitsPerSecond)} read units a second at most`]),
    '',
    advice,
  ];
}

function figure(number: number): string {
  return number.toLocaleString('en-US', { maximumFractionDigits: 2 });
}
