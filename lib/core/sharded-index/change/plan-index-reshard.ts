import { checkIndexShards } from '../config/check-sharded-config';
import type { IndexShards, ShardCount } from '../config/sharded-index-config';
import { checkTarget, eachCount, holdsForEachCount, type IndexShardTarget, PlannedCounts } from './shard-count-change';

/**
 * One step of a change of the shard counts. Begin a step only after the previous step is complete.
 *
 * - `deploy`: deploy these shard counts to every reader and every writer of the index. If `to` is set, deploy the counts only
 *   to the readers, or only to the writers. The order of the deployments does not matter. The step is complete when all these
 *   readers and writers have the counts, and no write with the earlier counts or without a shard is still in flight.
 * - `drain`: empty these shards. Run `reshardItems`, which gives each item its new shard attribute, or wait until the items
 *   have expired or are deleted. The step is complete when the shards hold no items of the index.
 * - `backfill`: give every item of the table its shard. The step is complete when `reshardItems` has processed all segments.
 */
export type IndexReshardStep =
  | { action: 'deploy'; shards: IndexShards; to?: 'writers' | 'readers'; reason: string }
  | { action: 'drain'; ranges: DrainRange[]; reason: string }
  | { action: 'backfill'; reason: string };

/** A range of shards to drain, of one value or of all values that have no counts of their own. */
export interface DrainRange {
  /**
   * The value of the shards to drain. Absent: drain the shards of the whole table, or of every value with the default count.
   */
  value?: string;
  /** The first shard of the range, 0-based. */
  from: number;
  /** The last shard of the range, 0-based and inclusive. */
  to: number;
}

/** The target of a plan that ends with these counts of writers. */
export function targetOf({ default: others, byValue = {} }: IndexShards): IndexShardTarget {
  const counts = Object.entries(byValue).map(([value, { write }]) => [value, write] as const);
  return { default: others.write, byValue: Object.fromEntries(counts) };
}

/**
 * Plans how to change the shard counts of an index that holds items. After each step, and while a step is being deployed,
 * readers query every shard that writers have written to. Within a step, you can deploy readers and writers in any order.
 *
 * If a count grows, readers are deployed before writers. If a count shrinks, writers are deployed before readers. A plan has
 * two steps if counts only grow, and three steps if counts only shrink. If some counts grow and some shrink, the plan has at
 * most four steps. If no count changes, the plan has no step. To continue an interrupted plan, call this function again with
 * the counts that are deployed now.
 *
 * @param current the counts that every reader and writer has now. Undefined: the index is new on a table that already has
 *   items. The plan then has three steps: deploy to writers, backfill, deploy to readers
 * @param target the shard counts that writers have after the last step
 * @throws InvalidArgumentError if the target is not an object
 * @throws InvalidShardCountError if a count is not an integer from 1 to 10,000
 * @throws InvalidIndexConfigError if a read count is smaller than its write count
 */
export function planIndexReshard(current: IndexShards | undefined, target: IndexShardTarget): IndexReshardStep[] {
  checkTarget(target);
  if (current === undefined) return adoption(target);
  checkIndexShards('current', current);
  const counts = new PlannedCounts(current, target);
  const grown = counts.deploy(
    ({ write, read }, goal) => ({ write, read: Math.max(read, goal) }),
    'readers must query the new shards before writers use them',
  );
  const used = counts.deploy(
    ({ read }, goal) => ({ write: goal, read }),
    'writers spread items over the new number of shards',
  );
  const ranges = drainRanges(counts.shards);
  const reason = 'the shards that writers no longer use still contain items';
  const drain: IndexReshardStep[] = ranges.length === 0 ? [] : [{ action: 'drain', ranges, reason }];
  const shrunk = counts.deploy(
    ({ write }) => ({ write, read: write }),
    'readers query only the shards that writers use',
  );
  return [...grown, ...used, ...drain, ...shrunk];
}

function adoption(target: IndexShardTarget): IndexReshardStep[] {
  const both = (count: number): ShardCount => ({ write: count, read: count });
  const shards = eachCount({ default: both(target.default) }, target, (_, goal) => both(goal));
  return [
    {
      action: 'deploy',
      shards,
      to: 'writers',
      reason: 'writers must give new items a shard before the backfill begins',
    },
    { action: 'backfill', reason: 'existing items have no shard, and queries do not find them' },
    { action: 'deploy', shards, to: 'readers', reason: 'the index contains every item' },
  ];
}

/**
 * Whether readers and writers may change from the current counts to the next counts in any order. This change is safe if
 * readers with the current counts query all shards of writers with the next counts, and readers with the next counts query all
 * shards of writers with the current counts. If only readers use a shard now, the shard must already be empty.
 */
export function isReshardStep(current: IndexShards, next: IndexShards): boolean {
  return holdsForEachCount(current, next, (from, to) => to.write <= from.read && to.read >= from.write);
}

function drainRanges({ default: others, byValue = {} }: IndexShards): DrainRange[] {
  const range = ({ write, read }: ShardCount): DrainRange[] => (read > write ? [{ from: write, to: read - 1 }] : []);
  return [
    ...range(others),
    ...Object.entries(byValue).flatMap(([value, count]) => range(count).map((shards) => ({ value, ...shards }))),
  ];
}
