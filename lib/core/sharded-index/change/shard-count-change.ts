import { isObject } from '../../kernel/checks';
import { InvalidArgumentError } from '../../kernel/errors';
import { checkIndexShardCount } from '../../sharding/shard-count';
import type { IndexShards, ShardCount } from '../config/sharded-index-config';

/**
 * The new shard counts of an index or a table. The shard count of a value is the number of shards over which writers
 * spread its items.
 */
export interface IndexShardTarget {
  /** The shard count of the whole table, or of every value that `byValue` does not name. From 1 to 10,000. */
  default: number;
  /**
   * The shard counts of single values, each from 1 to 10,000.
   * @default every value has the default count
   */
  byValue?: Record<string, number>;
}

interface CountDeployment {
  action: 'deploy';
  shards: IndexShards;
  reason: string;
}

/** The shard counts during a change: each deployment takes them closer to the target. */
export class PlannedCounts {
  constructor(
    /** The counts after the last deployment of the plan. */
    public shards: IndexShards,
    private readonly target: IndexShardTarget,
  ) {}

  /**
   * Adds a deployment that changes the default count and the count of every value to the next count. Adds nothing if no count
   * changes.
   */
  deploy(next: (now: ShardCount, goal: number) => ShardCount, reason: string): CountDeployment[] {
    const shards = eachCount(this.shards, this.target, next);
    if (isSameSharding(shards, this.shards)) return [];
    this.shards = shards;
    return [{ action: 'deploy', shards, reason }];
  }
}

/** Computes the next default counts, and the next counts of every value that has its own counts now or in the target. */
export function eachCount(
  now: IndexShards,
  target: IndexShardTarget,
  next: (now: ShardCount, goal: number) => ShardCount,
): IndexShards {
  const others = next(now.default, target.default);
  const values = Object.keys({ ...now.byValue, ...target.byValue });
  const byValue = values.sort().map((value) => {
    const count = next(countOf(now, value), ownOr(target.byValue, value, target.default));
    return [value, count] as const;
  });
  // If the next counts of a value are the default counts, the value needs no counts of its own.
  const distinct = byValue.filter(
    ([value, count]) => Object.hasOwn(target.byValue ?? {}, value) || !isSameCount(count, others),
  );
  return distinct.length === 0 ? { default: others } : { default: others, byValue: Object.fromEntries(distinct) };
}

function countOf({ default: others, byValue }: IndexShards, value: string): ShardCount {
  return ownOr(byValue, value, others);
}

function ownOr<V>(byValue: Record<string, V> = {}, value: string, otherwise: V): V {
  return Object.hasOwn(byValue, value) ? byValue[value]! : otherwise;
}

/** Whether a rule holds between two sets of counts. Compares the default counts, and the counts of every value. */
export function holdsForEachCount(
  a: IndexShards,
  b: IndexShards,
  rule: (a: ShardCount, b: ShardCount) => boolean,
): boolean {
  const values = Object.keys({ ...a.byValue, ...b.byValue });
  return rule(a.default, b.default) && values.every((value) => rule(countOf(a, value), countOf(b, value)));
}

/** Whether both sets of counts are the same for every value. */
export function isSameSharding(a: IndexShards, b: IndexShards): boolean {
  return holdsForEachCount(a, b, isSameCount);
}

function isSameCount(a: ShardCount, b: ShardCount): boolean {
  return a.write === b.write && a.read === b.read && (a.since ?? a.write) === (b.since ?? b.write);
}

/** Whether writers spread any value over fewer shards than before. */
export function isDecreased(before: IndexShards, now: IndexShards): boolean {
  return !holdsForEachCount(before, now, (a, b) => a.write <= b.write);
}

/** @throws InvalidArgumentError or InvalidShardCountError if the target is not an object with valid shard counts */
export function checkTarget(target: IndexShardTarget): void {
  if (!isObject(target)) {
    throw new InvalidArgumentError('target', target, 'an object with a default shard count');
  }
  checkIndexShardCount('target.default', target.default);
  for (const [value, count] of Object.entries(target.byValue ?? {})) {
    checkIndexShardCount(`target.byValue[${JSON.stringify(value)}]`, count);
  }
}
