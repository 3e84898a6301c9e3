import { readGuide } from '../construct/guide-link';
import { isReshardStep, planIndexReshard, targetOf } from '../core/sharded-index/change/plan-index-reshard';
import { isTableReshardStep, planTableReshard } from '../core/sharded-index/change/plan-table-reshard';
import type { IndexShards, ShardCount } from '../core/sharded-index/config/sharded-index-config';
import { type Finding, finding, type Location } from './finding';

/**
 * Finds changes of shard counts that skip a reshard step. Counts that are tokens are not checked.
 *
 * @param kind the construct class that has the shard counts
 * @param of the index or the table that has the shard counts
 */
export function skippedStep(
  location: Location,
  kind: string,
  of: string,
  deployed: IndexShards | undefined,
  shards: IndexShards,
): Finding[] {
  if (!areNumbers(deployed, shards) || isReshardStep(deployed, shards)) return [];
  const first = planIndexReshard(deployed, targetOf(shards)).find((step) => step.action === 'deploy')!;
  const text =
    `queries of ${of} would miss items if its shardCounts changed from ${asCode(deployed)} to ${asCode(shards)} in one ` +
    `deployment: first deploy ${asCode(first.shards)}.${readGuide('index-resharding', 'both-deployments')}`;
  return [finding(location, `${kind}.skippedStep`, 'missed', 'split', text)];
}

/** Finds changes of shard counts that skip a reshard step, for a table that is sharded by its own key. */
export function skippedTableStep(
  location: Location,
  deployed: IndexShards | undefined,
  shards: IndexShards,
): Finding[] {
  if (!areNumbers(deployed, shards) || isTableReshardStep(deployed, shards)) return [];
  const first = planTableReshard(deployed, targetOf(shards)).find((step) => step.action === 'deploy')!;
  const text =
    `readers would miss items, or writers would store items twice, if the shardCounts of the table changed from ${asCode(deployed)} to ` +
    `${asCode(shards)} in one deployment: first deploy ${asCode(first.shards)}.` +
    readGuide('key-sharded-tables', 'a-table-sharded-by-its-own-key');
  return [finding(location, 'KeyShardedTable.skippedStep', 'missed', 'split', text)];
}

/** Whether all counts in both templates are numbers. A count that is a token is not a number. */
function areNumbers(deployed: IndexShards | undefined, shards: IndexShards): deployed is IndexShards {
  return deployed !== undefined && [deployed, shards].every(hasNumbers);
}

function hasNumbers(shards: IndexShards): boolean {
  const { default: others, byValue } = Object(shards);
  return [others, ...Object.values(Object(byValue))].every((counts) =>
    ['write', 'read'].every((count) => typeof Object(counts)[count] === 'number'),
  );
}

function asCode({ default: others, byValue = {} }: IndexShards): string {
  const counts = (of: (count: ShardCount) => number) => {
    const values = Object.entries(byValue).map(([value, count]) => [value, of(count)]);
    if (values.length === 0) return `ShardCounts.uniform(${of(others)})`;
    return `ShardCounts.byValue(${JSON.stringify(Object.fromEntries(values))}, ${of(others)})`;
  };
  const writers = counts(({ write }) => write);
  const readers = counts(({ read }) => read);
  const earliest = counts(({ write, since = write }) => since);
  const reading = readers === writers ? writers : `${writers}.alsoReading(${readers})`;
  return earliest === writers ? reading : `${reading}.since(${earliest})`;
}
