import { overloadProbability } from '../../lib/core/planning/overload-probability';
import { shardsForOverload } from '../../lib/core/planning/shards-for-overload';
import { inFlagTerms, numberOf, parsedFlags, UsageError } from '../flags';
import { counted, percent } from '../plain-text';
import { print, printText } from '../print';

const COMMAND = 'even-shards plan overload';

/** The rule of thumb of "GSI Sharding in DynamoDB". */
const SHARDS_OF_A_PARTITION = 10;

const HELP = `usage: even-shards plan overload --partitions N [options]

Computes the probability that a partition gets more shards than it can serve, and the number of shards from which this is unlikely.
The hash of its key places each shard, independently of the other shards. The numbers are exact.

  --partitions N      partitions of the index or the table
  --shards K          number of shards (default: ${SHARDS_OF_A_PARTITION} for each partition, a rule of thumb)
  --overload PART     the load above its share that a partition can serve (default: 0.5)
  --utilization PART  instead of --overload: the average utilization of partitions; 0.7 allows 1 / 0.7 of the share
  --probability P     maximum probability of an overload (default: 0.05)
  --json              print one JSON document
  --help              show this text`;

const OPTIONS = {
  help: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  overload: { type: 'string' },
  partitions: { type: 'string' },
  probability: { type: 'string', default: '0.05' },
  shards: { type: 'string' },
  utilization: { type: 'string' },
} as const;

/** `even-shards plan overload`. */
export function planOverload(args: string[]): void {
  const { values: flags } = parsedFlags(COMMAND, { args, options: OPTIONS });
  if (flags.help) {
    printText(HELP);
    return;
  }
  const number = (flag: 'overload' | 'partitions' | 'probability' | 'shards' | 'utilization') =>
    numberOf(COMMAND, flag, flags[flag]);
  const partitions = number('partitions');
  if (partitions === undefined) throw new UsageError('give --partitions', COMMAND);
  const { shards = SHARDS_OF_A_PARTITION * partitions } = { shards: number('shards') };
  const probability = number('probability')!;
  const threshold = { overload: number('overload'), utilization: number('utilization') };
  const found = inFlagTerms(COMMAND, () => ({
    shardsToStayBelow: shardsForOverload({ partitions, probability, ...threshold }),
    probabilityOfOverload: overloadProbability({ shards, partitions, ...threshold }),
  }));
  if (flags.json) {
    printText(JSON.stringify({ partitions, shards, ...found }, null, 2));
    return;
  }
  const { overload = 0.5, utilization } = threshold;
  const bears = Number((utilization === undefined ? 1 + overload : 1 / utilization).toFixed(3));
  const lines = [
    `${counted(shards, 'shard')} on ${counted(partitions, 'partition')}; each partition can take ${bears} times its share`,
    '',
    `some partition gets more: ${percent(found.probabilityOfOverload)} of all placements`,
    `from ${counted(found.shardsToStayBelow, 'shard')} on: less than ${percent(probability)}`,
  ];
  print(lines);
}
