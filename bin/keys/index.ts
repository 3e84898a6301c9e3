import { checkWhole } from '../../lib/core/kernel/checks';
import { alternatingKey, leftToRightKey } from '../../lib/core/planning/earlier-key-orders';
import { BalancedKeyAllocator } from '../../lib/core/registry/balanced-key-allocator';
import { checkStreamShardCount, MAX_STREAM_SHARDS } from '../../lib/core/sharding/shard-count';
import { shardIndexOf, uniformRanges } from '../../lib/core/stream-format/hash-key-ranges';
import { checkSpace, HASH_KEY_SPACE } from '../../lib/core/stream-format/hash-key-space';
import { inFlagTerms, numberOf, parsedFlags, UsageError } from '../flags';
import { print, printText } from '../print';
import { allocatedKeys } from './allocated-keys';
import { KeyTree } from './key-tree';

const COMMAND = 'even-shards keys';

const HELP = `usage: even-shards keys [options]

Prints the next explicit hash keys that load the shards of a stream evenly, one a line. The command works offline. Pass the keys that are
already assigned with --allocated.

  --count N         number of keys (default: 14)
  --shards N        choose each key in the shard with the least load of N even shards (default: keys for any power of two)
  --allocated FILE  assigned keys, one a line, each with an optional weight after it; - is standard input
  --order ORDER     left-to-right, alternating or balanced, as in "Kinesis Hash Key Space Partitioning"; the first two are for
                    comparison (default: balanced)
  --space N         number of hash keys (default: 2^128); the article's examples have 128
  --tree            print the tree after each key, as in the article
  --json            print one JSON document
  --help            show this text

example: even-shards keys --count 7 --space 128 --tree`;

const OPTIONS = {
  allocated: { type: 'string' },
  count: { type: 'string', default: '14' },
  help: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  order: { type: 'string', default: 'balanced' },
  shards: { type: 'string' },
  space: { type: 'string' },
  tree: { type: 'boolean', default: false },
} as const;

const EARLIER_ORDERS: Readonly<Record<string, (n: number, space: bigint) => bigint>> = {
  'left-to-right': leftToRightKey,
  alternating: alternatingKey,
};

const MAX_KEYS = 1_000_000;

/** The maximum number of lines with `--tree`, because each line shows the whole tree. */
const MAX_TREES = 1_000;

export async function keys(args: string[]): Promise<void> {
  const { values: flags } = parsedFlags(COMMAND, { args, options: OPTIONS });
  if (flags.help) return printText(HELP);
  const asked = askedFor(flags);
  const given = flags.allocated === undefined ? [] : allocatedKeys(flags.allocated);
  const next = inFlagTerms(COMMAND, () => nextKeys(asked, given));
  const { shards, space } = asked;
  const ranges = shards === undefined ? undefined : uniformRanges(shards, space);
  const shardOf = (hashKey: bigint) => ranges && shardIndexOf(hashKey, ranges);
  if (flags.json) {
    const found = next.map((hashKey) => ({ hashKey: String(hashKey), shard: shardOf(hashKey) }));
    return printText(JSON.stringify(found, null, 2));
  }
  const tree = flags.tree ? new KeyTree(space) : undefined;
  for (const { hashKey } of given) tree?.add(hashKey);
  for (const hashKey of next) {
    tree?.add(hashKey);
    const shard = shardOf(hashKey);
    if (tree) print(`${given.length > 0 ? 'Next Key' : 'Key'}: ${hashKey} ${tree}`);
    else print(shard === undefined ? String(hashKey) : `${hashKey} ${shard}`);
  }
}

interface Asked {
  readonly count: number;
  readonly space: bigint;
  readonly shards: number | undefined;
  readonly earlierOrder: ((n: number, space: bigint) => bigint) | undefined;
}

type Flags = ReturnType<typeof parsedFlags<{ options: typeof OPTIONS }>>['values'];

function askedFor(flags: Flags): Asked {
  const { order, allocated, tree } = flags;
  const earlierOrder = Object.hasOwn(EARLIER_ORDERS, order) ? EARLIER_ORDERS[order] : undefined;
  if (earlierOrder === undefined && order !== 'balanced') {
    throw new UsageError(
      `--order must be one of ${[...Object.keys(EARLIER_ORDERS), 'balanced'].join(', ')}, got "${order}"`,
      COMMAND,
    );
  }
  const needsBalanced = allocated !== undefined ? 'allocated' : flags.shards !== undefined ? 'shards' : undefined;
  if (earlierOrder !== undefined && needsBalanced !== undefined) {
    throw new UsageError(`--order ${order} ignores shards and other keys: leave out --${needsBalanced}`, COMMAND);
  }
  if (tree && flags.shards !== undefined) {
    throw new UsageError('--tree prints the tree of the whole key space: leave out --shards', COMMAND);
  }
  const count = numberOf(COMMAND, 'count', flags.count)!;
  const shards = numberOf(COMMAND, 'shards', flags.shards);
  const space = spaceOf(flags.space);
  inFlagTerms(COMMAND, () => {
    checkWhole('count', count, 1, tree ? MAX_TREES : MAX_KEYS);
    if (shards !== undefined) checkStreamShardCount('shards', shards, Math.min(Number(space), MAX_STREAM_SHARDS));
  });
  if (BigInt(count) > space)
    throw new UsageError(`--count must be at most ${space} (the number of keys in the space)`, COMMAND);
  return { count, shards, space, earlierOrder };
}

function spaceOf(text: string | undefined): bigint {
  if (text === undefined) return HASH_KEY_SPACE;
  if (!/^\d{1,39}$/.test(text)) throw new UsageError(`--space must be a whole number, got "${text}"`, COMMAND);
  inFlagTerms(COMMAND, () => checkSpace(BigInt(text)));
  return BigInt(text);
}

function nextKeys(
  { count, space, shards, earlierOrder }: Asked,
  allocated: ReturnType<typeof allocatedKeys>,
): bigint[] {
  if (earlierOrder !== undefined) return Array.from({ length: count }, (_, n) => earlierOrder(n, space));
  const ranges = shards === undefined ? {} : { ranges: uniformRanges(shards, space) };
  const allocator = new BalancedKeyAllocator({ space, allocated, ...ranges });
  return Array.from({ length: count }, () => allocator.allocate());
}
