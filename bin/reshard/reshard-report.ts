import type { DrainRange, IndexReshardStep } from '../../lib/core/sharded-index/plan-index-reshard';
import type { IndexShards, ShardCount } from '../../lib/core/sharded-index/sharded-index-config';
import { quoted } from '../plan/cdk-snippet';

/** The steps of a change of shard counts as text, with the shardCounts of each deployment as CDK code. */
export function reshardReport(steps: readonly IndexReshardStep[]): string[] {
  if (steps.length === 0) return ['nothing changes: there is nothing to deploy'];
  return [
    ...steps.flatMap((step, index) => [`${index + 1}. ${step.action}: ${step.reason}`, ...detailsOf(step), '']),
    'Begin a step when the step before it is complete everywhere: when a deployment has reached every reader and writer,',
    'and when drained shards hold no item, because each was written again, has expired, or was deleted.',
  ];
}

function detailsOf(step: IndexReshardStep): string[] {
  if (step.action === 'backfill') return [];
  return step.action === 'deploy' ? [`   shardCounts: ${shardCountsCode(step.shards)}`] : step.ranges.map(rangeLine);
}

function rangeLine({ value, from, to }: DrainRange): string {
  const shards = from === to ? `shard ${from}` : `shards ${from} to ${to}`;
  return `   ${shards} of ${value === undefined ? 'the table, or of every value without a count of its own' : quoted(value)}`;
}

/** The counts of writers and, if readers ask more shards, of readers: as an app gives them to an index. */
export function shardCountsCode(shards: IndexShards): string {
  const [writers, readers] = [countsCode(shards, 'write'), countsCode(shards, 'read')];
  return writers === readers ? writers : `${writers}.alsoReading(${readers})`;
}

function countsCode({ default: others, byValue }: IndexShards, side: keyof ShardCount): string {
  if (byValue === undefined) return `ShardCounts.uniform(${others[side]})`;
  const counts = Object.entries(byValue).map(([value, count]) => `${keyCode(value)}: ${count[side]}`);
  return `ShardCounts.byValue({ ${counts.join(', ')} }, ${others[side]})`;
}

/** A value as a key of an object literal, in which a plain __proto__ would set the prototype. */
function keyCode(value: string): string {
  return value === '__proto__' ? `['__proto__']` : quoted(value);
}
