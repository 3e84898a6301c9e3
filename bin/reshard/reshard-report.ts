import type { DrainRange, IndexReshardStep } from '../../lib/core/sharded-index/plan-index-reshard';
import type { TableReshardStep } from '../../lib/core/sharded-index/plan-table-reshard';
import type { IndexShards, ShardCount } from '../../lib/core/sharded-index/sharded-index-config';
import { quoted } from '../plan/cdk-snippet';

type Step = IndexReshardStep | TableReshardStep;

/** The steps of a change of shard counts as text, with the shardCounts of each deployment as CDK code. */
export function reshardReport(steps: readonly Step[]): string[] {
  if (steps.length === 0) return ['nothing changes: there is nothing to deploy'];
  return [
    ...steps.flatMap((step, index) => [`${index + 1}. ${step.action}: ${step.reason}`, ...detailsOf(step), '']),
    'Begin a step when the step before it is complete everywhere: when a deployment has reached every reader and writer,',
    COMPLETE[besidesDeployments(steps) ?? 'drain'],
  ];
}

function besidesDeployments(steps: readonly Step[]): keyof typeof COMPLETE | undefined {
  for (const { action } of steps) if (action !== 'deploy') return action;
  return undefined;
}

/** What the step besides the deployments waits for. */
const COMPLETE = {
  drain: 'and when drained shards hold no item, because each was written again, has expired, or was deleted.',
  backfill: 'and when reshardItems, or IndexResharding, has gone over the whole table.',
  move: 'and when reshardItems has gone over the whole table and has refused no item.',
};

function detailsOf(step: Step): string[] {
  if (step.action === 'drain') return step.ranges.map(rangeLine);
  if (step.action !== 'deploy') return [];
  const to = 'to' in step ? `${step.to}: ` : '';
  return [`   ${to}shardCounts: ${shardCountsCode(step.shards)}`];
}

function rangeLine({ value, from, to }: DrainRange): string {
  const shards = from === to ? `shard ${from}` : `shards ${from} to ${to}`;
  return `   ${shards} of ${value === undefined ? 'the table, or of every value without a count of its own' : quoted(value)}`;
}

/** The counts of writers and, if there are others, of readers and of items, as an app gives them to an index or a table. */
export function shardCountsCode(shards: IndexShards): string {
  const writers = countsCode(shards, ({ write }) => write);
  const readers = countsCode(shards, ({ read }) => read);
  const items = countsCode(shards, ({ write, since = write }) => since);
  const reading = writers === readers ? writers : `${writers}.alsoReading(${readers})`;
  return items === writers ? reading : `${reading}.since(${items})`;
}

function countsCode({ default: others, byValue }: IndexShards, of: (count: ShardCount) => number): string {
  if (byValue === undefined) return `ShardCounts.uniform(${of(others)})`;
  const counts = Object.entries(byValue).map(([value, count]) => `${keyCode(value)}: ${of(count)}`);
  return `ShardCounts.byValue({ ${counts.join(', ')} }, ${of(others)})`;
}

/** A value as a key of an object literal, in which a plain __proto__ would set the prototype. */
function keyCode(value: string): string {
  return value === '__proto__' ? `['__proto__']` : quoted(value);
}
