import { InvalidArgumentError } from '../foundation/errors';
import { checkShardCount, MAX_INDEX_SHARDS } from '../foundation/shard-count';
import { checkIndexShards, type IndexShards, type ShardCount } from './sharded-index-config';

/**
 * One step of a change of shard counts. A step is over when what it says holds everywhere; only then the next begins.
 *
 * - `deploy`: every reader and every writer of the index has these counts, and what writers had under way before has
 *   been written. In which order they get them does not matter.
 * - `drain`: no item of the index is in one of these shards any more, because it was written again with its new shard
 *   attribute, or expired, or was deleted.
 */
export type IndexReshardStep =
  | { action: 'deploy'; shards: IndexShards; reason: string }
  | { action: 'drain'; ranges: DrainRange[]; reason: string };

/** The shards `from` to `to`, both inclusive, of one value, or of all values without counts of their own. */
export interface DrainRange {
  /** Absent: the values, or the whole table, that the default count is for. */
  value?: string;
  from: number;
  to: number;
}

/** How many shards writers shall spread the items of each value over. */
export interface IndexShardTarget {
  default: number;
  byValue?: Record<string, number>;
}

/**
 * The steps that take an index from the shard counts it is deployed with to new ones, such that at every moment, in
 * whatever order readers and writers take a step, readers ask every shard that writers have written to.
 *
 * Readers come first when a count grows, and last when it shrinks: at most three steps, none if nothing changes. A plan
 * that was interrupted is taken up by planning again from the counts that are deployed.
 *
 * @param current the counts that every reader and writer has now
 * @param target shards of each value: what writers shall spread items over
 * @throws InvalidShardCountError unless every count is a whole number from 1 to 10,000
 * @throws InvalidIndexConfigError if a read count is smaller than its write count
 */
export function planIndexReshard(current: IndexShards, target: IndexShardTarget): IndexReshardStep[] {
  checkIndexShards('current', current);
  checkTarget(target);
  const steps: IndexReshardStep[] = [];
  let deployed = current;
  const deploy = (next: (now: ShardCount, goal: number) => ShardCount, reason: string): void => {
    const shards = eachCount(deployed, target, next);
    if (isSameSharding(shards, deployed)) return;
    steps.push({ action: 'deploy', shards, reason });
    deployed = shards;
  };

  deploy(
    ({ write, read }, goal) => ({ write, read: Math.max(read, goal) }),
    'readers ask the new shards before anything is written to them',
  );
  deploy(({ read }, goal) => ({ write: goal, read }), 'writers spread items over the new number of shards');
  const ranges = drainRanges(deployed);
  if (ranges.length > 0) {
    steps.push({
      action: 'drain',
      ranges,
      reason: 'items in shards that nothing is written to any more still have to be found',
    });
  }
  deploy(({ write }) => ({ write, read: write }), 'readers ask no more shards than writers write to');
  return steps;
}

/** New counts of the default and of every value that has counts of its own, now or in the end. */
function eachCount(
  now: IndexShards,
  target: IndexShardTarget,
  next: (now: ShardCount, goal: number) => ShardCount,
): IndexShards {
  const others = next(now.default, target.default);
  const values = new Set([...Object.keys(now.byValue ?? {}), ...Object.keys(target.byValue ?? {})]);
  const byValue = [...values].sort().map((value) => {
    const count = next(countOf(now, value), ownOr(target.byValue, value, target.default));
    return [value, count] as const;
  });
  // A value that has ended where all others are needs no counts of its own.
  const distinct = byValue.filter(
    ([value, count]) => Object.hasOwn(target.byValue ?? {}, value) || !isSameCount(count, others),
  );
  return distinct.length === 0 ? { default: others } : { default: others, byValue: Object.fromEntries(distinct) };
}

function drainRanges({ default: others, byValue = {} }: IndexShards): DrainRange[] {
  const range = ({ write, read }: ShardCount): DrainRange[] => (read > write ? [{ from: write, to: read - 1 }] : []);
  return [
    ...range(others),
    ...Object.entries(byValue).flatMap(([value, count]) => range(count).map((shards) => ({ value, ...shards }))),
  ];
}

function countOf({ default: others, byValue }: IndexShards, value: string): ShardCount {
  return ownOr(byValue, value, others);
}

function ownOr<V>(byValue: Record<string, V> = {}, value: string, otherwise: V): V {
  return Object.hasOwn(byValue, value) ? byValue[value]! : otherwise;
}

function isSameSharding(a: IndexShards, b: IndexShards): boolean {
  const values = [...Object.keys(a.byValue ?? {}), ...Object.keys(b.byValue ?? {})];
  return (
    isSameCount(a.default, b.default) && values.every((value) => isSameCount(countOf(a, value), countOf(b, value)))
  );
}

function isSameCount(a: ShardCount, b: ShardCount): boolean {
  return a.write === b.write && a.read === b.read;
}

function checkTarget(target: IndexShardTarget): void {
  if (typeof target !== 'object' || target === null) {
    throw new InvalidArgumentError('target', target, 'an object with a default shard count');
  }
  checkShardCount('target.default', target.default, MAX_INDEX_SHARDS);
  for (const [value, count] of Object.entries(target.byValue ?? {})) {
    checkShardCount(`target.byValue[${JSON.stringify(value)}]`, count, MAX_INDEX_SHARDS);
  }
}
