import { Annotations, Stack, Token } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { readGuide } from '../../construct/guide-link';
import { isReshardStep, planIndexReshard } from '../../core/sharded-index/change/plan-index-reshard';
import { isTableReshardStep, planTableReshard } from '../../core/sharded-index/change/plan-table-reshard';
import type { IndexShards, ShardCount } from '../../core/sharded-index/config/sharded-index-config';

/**
 * Warns if shard counts skip a step from those that are deployed, as far as these can be known: a template says nothing of
 * counts that only the deployment knows.
 *
 * @param kind the construct that has the counts
 * @param of what queries are of: an index or a table
 */
export function warnOfSkippedStep(
  table: IConstruct,
  kind: string,
  of: string,
  deployed: IndexShards | undefined,
  shards: IndexShards,
): void {
  if (!areKnown(deployed, shards) || isReshardStep(deployed, shards)) return;
  const first = planIndexReshard(deployed, targetOf(shards)).find((step) => step.action === 'deploy')!;
  Annotations.of(table).addWarningV2(
    `cdk-even-shards:${kind}.skippedStep`,
    `queries of ${of} would miss items if its shardCounts went from ${asCode(deployed)} to ${asCode(shards)} in one ` +
      `deployment: deploy ${asCode(first.shards)} before.${readGuide('index-resharding', 'both-deployments')}`,
  );
}

/** The same of a table that is sharded by its own key. */
export function warnOfSkippedTableStep(
  table: IConstruct,
  deployed: IndexShards | undefined,
  shards: IndexShards,
): void {
  if (!areKnown(deployed, shards) || isTableReshardStep(deployed, shards)) return;
  const first = planTableReshard(deployed, targetOf(shards)).find((step) => step.action === 'deploy')!;
  Annotations.of(table).addWarningV2(
    'cdk-even-shards:KeyShardedTable.skippedStep',
    `items would be missed or be there twice if the shardCounts of the table went from ${asCode(deployed)} to ` +
      `${asCode(shards)} in one deployment: deploy ${asCode(first.shards)} before.` +
      readGuide('sharded-tables', 'a-table-sharded-by-its-own-key'),
  );
}

/** Whether synthesis can compare what is deployed with what it says now. */
function areKnown(deployed: IndexShards | undefined, shards: IndexShards): deployed is IndexShards {
  return deployed !== undefined && !hasToken(deployed) && !hasToken(shards);
}

/** The counts of writers. */
function targetOf({ default: others, byValue = {} }: IndexShards): Parameters<typeof planIndexReshard>[1] {
  const counts = Object.entries(byValue).map(([value, { write }]) => [value, write] as const);
  return { default: others.write, byValue: Object.fromEntries(counts) };
}

/** In a template, a token of an earlier synthesis is an object. */
function hasToken({ default: others, byValue = {} }: IndexShards): boolean {
  return [others, ...Object.values(byValue)].some(({ write, read }) =>
    [write, read].some((count) => typeof count !== 'number' || Token.isUnresolved(count)),
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

/** A property of a construct, as it is deployed, as synthesis has it now, and what a change of it does and what to do instead. */
export type Setting = readonly [property: string, deployed: unknown, next: unknown, consequence: string];

/**
 * Warns of each setting that is another one than the deployed one. Whoever changes it on purpose acknowledges the warning, of which
 * each property has its own.
 *
 * @param kind the construct that has the properties
 * @param of what the settings are of: an index or a table
 */
export function warnOfChangedSettings(construct: IConstruct, kind: string, of: string, settings: Setting[]): void {
  for (const [property, deployed, next, consequence] of settings) {
    const now: unknown = Stack.of(construct).resolve(next);
    if (!isKnown(deployed) || !isKnown(now) || asText(deployed) === asText(now)) continue;
    Annotations.of(construct).addWarningV2(
      `cdk-even-shards:${kind}.changed${property.charAt(0).toUpperCase()}${property.slice(1)}`,
      `${property} of ${of} would go from ${asText(deployed)} to ${asText(now)}: ${consequence}`,
    );
  }
}

/** A token is an object in a template, and what it will be is not known. */
function isKnown(setting: unknown): boolean {
  return [setting].flat().every((part) => typeof part !== 'object');
}

function asText(setting: unknown): string {
  return setting === undefined ? 'none' : JSON.stringify(setting);
}
