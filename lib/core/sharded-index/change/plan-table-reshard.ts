import { checkIndexShards } from '../config/check-sharded-config';
import type { IndexShards, ShardCount } from '../config/sharded-index-config';
import { checkTarget, holdsForEachCount, type IndexShardTarget, PlannedCounts } from './shard-count-change';

/**
 * One step of a change of the shard counts of a table that is sharded by its own key. Begin a step only after the
 * previous step is complete.
 *
 * - `deploy`: deploy these shard counts to every reader and every writer of the table, in any order. The step is
 *   complete when all readers and writers have the counts, and no write with the earlier counts is still in flight.
 * - `move`: move each item to its place under the new count, with `reshardItems`. The step is complete when
 *   `reshardItems` has processed all segments and its report counts no refused item. If the count only grew, you can
 *   skip this step and the next step. A few items then keep two possible places.
 */
export type TableReshardStep =
  | { action: 'deploy'; shards: IndexShards; reason: string }
  | { action: 'move'; reason: string };

/**
 * Plans how to change the shard counts of a table that is sharded by its own key. Throughout the change, each item has at most
 * one place, and all readers and writers find the item there. Within a step, you can deploy readers and writers in any order.
 *
 * @param current the counts that every reader and writer has now
 * @param target the shard counts that writers have after the last step
 * @throws InvalidArgumentError if the target is not an object
 * @throws InvalidShardCountError if a count is not an integer from 1 to 10,000
 * @throws InvalidIndexConfigError if a count of `current` is invalid, for example if `read` is smaller than `write`
 */
export function planTableReshard(current: IndexShards, target: IndexShardTarget): TableReshardStep[] {
  checkIndexShards('current', current);
  checkTarget(target);
  const way = new PlannedCounts(current, target);
  const prepared = way.deploy(
    ({ write, read, since = write }, goal) => counts(write, Math.max(read, goal), Math.min(since, goal)),
    'every writer must know all places of an item before writers use another count',
  );
  const used = way.deploy(
    ({ write, read, since = write }, goal) => counts(goal, read, since),
    'writers use the new number of shards',
  );
  const reason = 'items stay at the places of earlier counts until reshardItems moves them';
  const isMoving = [way.shards.default, ...Object.values(way.shards.byValue ?? {})].some(isOpen);
  const move: TableReshardStep[] = isMoving ? [{ action: 'move', reason }] : [];
  const settled = way.deploy(({ write }) => counts(write, write, write), 'each item has one place');
  return [...prepared, ...used, ...move, ...settled];
}

/**
 * Whether readers and writers may change from the current counts to the next counts in any order. This change is safe if
 * readers with the current counts find the items of writers with the next counts, and readers with the next counts find the
 * items of writers with the current counts. Items at other places must already be moved.
 */
export function isTableReshardStep(current: IndexShards, next: IndexShards): boolean {
  const coversPlace = ({ write, read, since = write }: ShardCount, other: ShardCount) =>
    since <= other.write && other.write <= read;
  return holdsForEachCount(current, next, (from, to) => coversPlace(from, to) && coversPlace(to, from));
}

function counts(write: number, read: number, since: number): ShardCount {
  return { write, read, ...(since < write && { since }) };
}

/** Whether an item may still be at a place that writers no longer use. */
function isOpen({ write, read, since = write }: ShardCount): boolean {
  return since < read;
}
