import { checkIndexShards } from '../config/check-sharded-config';
import type { IndexShards, ShardCount } from '../config/sharded-index-config';
import { CountsOnTheWay, checkTarget, eachCount, holdsForEachCount, type IndexShardTarget } from './shard-count-change';

/**
 * One step of a change of shard counts. Begin a step only when the step before is complete everywhere.
 *
 * - `deploy`: give these shard counts to every reader and every writer of the index, in any order, or only to those that
 *   `to` names. The step is complete when all of them have the counts, and when no write with the earlier counts, or
 *   without a shard, is still in flight.
 * - `drain`: empty these shards. The step is complete when they hold no item of the index any more, because each item
 *   was written again with its new shard attribute, as `reshardItems` does, or has expired, or was deleted.
 * - `backfill`: give every item of the table its shard. The step is complete when `reshardItems` has gone over all segments.
 */
export type IndexReshardStep =
  | { action: 'deploy'; shards: IndexShards; to?: 'writers' | 'readers'; reason: string }
  | { action: 'drain'; ranges: DrainRange[]; reason: string }
  | { action: 'backfill'; reason: string };

/** A range of shards to drain: of one value, or of all values that have no counts of their own. */
export interface DrainRange {
  /** The value whose shards these are. Absent: the values, or the whole table, that the default count applies to. */
  value?: string;
  /** The first shard of the range, 0-based. */
  from: number;
  /** The last shard of the range, 0-based and inclusive. */
  to: number;
}

/**
 * The steps that take an index from its deployed shard counts to new ones. Use it whenever you change the shard count
 * of an index that holds items. At every moment of the change, readers ask every shard that writers have written to, no
 * matter in which order the readers and writers take a step.
 *
 * When a count grows, readers take it first. When it shrinks, readers take it last. A plan has two steps if counts only
 * grow, three if they only shrink, at most four if both happen, and none if nothing changes. To go on with an
 * interrupted plan, plan again from the counts that are deployed.
 *
 * @param current the counts that every reader and writer has now. Undefined: the index is adopted on a table that has items,
 *   which writers, a backfill and readers do in three steps
 * @param target the shard counts that writers will have in the end
 * @throws InvalidArgumentError if the target is not an object
 * @throws InvalidShardCountError unless every count is a whole number from 1 to 10,000
 * @throws InvalidIndexConfigError if a read count is smaller than its write count
 */
export function planIndexReshard(current: IndexShards | undefined, target: IndexShardTarget): IndexReshardStep[] {
  checkTarget(target);
  if (current === undefined) return adoption(target);
  checkIndexShards('current', current);
  const counts = new CountsOnTheWay(current, target);
  const grown = counts.deploy(
    ({ write, read }, goal) => ({ write, read: Math.max(read, goal) }),
    'readers must ask the new shards before writers write to them',
  );
  const used = counts.deploy(
    ({ read }, goal) => ({ write: goal, read }),
    'writers spread items over the new number of shards',
  );
  const ranges = drainRanges(counts.shards);
  const reason = 'readers must still find the items in the shards that writers no longer use';
  const drain: IndexReshardStep[] = ranges.length === 0 ? [] : [{ action: 'drain', ranges, reason }];
  const shrunk = counts.deploy(
    ({ write }) => ({ write, read: write }),
    'readers need to ask only the shards that writers use',
  );
  return [...grown, ...used, ...drain, ...shrunk];
}

/** When the backfill begins, no more items without a shard may be written. When readers begin, none may be left. */
function adoption(target: IndexShardTarget): IndexReshardStep[] {
  const both = (count: number): ShardCount => ({ write: count, read: count });
  const shards = eachCount({ default: both(target.default) }, target, (_, goal) => both(goal));
  return [
    {
      action: 'deploy',
      shards,
      to: 'writers',
      reason: 'writers must give shards to new items before old ones get theirs',
    },
    { action: 'backfill', reason: 'items that were there before have no shard, and no query finds them' },
    { action: 'deploy', shards, to: 'readers', reason: 'the index holds every item' },
  ];
}

/**
 * Whether every reader and every writer may go from the current counts to the next ones in any order, and readers still ask
 * every shard that writers have written to: present readers ask the shards of future writers, and the other way around.
 * Shards that are read but not written to now count as drained.
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
