import type { DrainRange, IndexReshardStep } from '../../lib/core/sharded-index/change/plan-index-reshard';
import type { TableReshardStep } from '../../lib/core/sharded-index/change/plan-table-reshard';
import type { IndexShards, ShardCount } from '../../lib/core/sharded-index/config/sharded-index-config';
import { counted } from '../plain-text';
import { quoted } from '../plan/code-language';

type Step = IndexReshardStep | TableReshardStep;

/**
 * The steps of a change of shard counts as text, with the shardCounts of each deployment as CDK code.
 *
 * @param waitSeconds the longest time for which an invocation with the earlier counts can run after a deployment
 * @param maximum the maximum shard count of an index with adaptive counts: the counts of the steps are its initial counts
 */
export function reshardReport(steps: readonly Step[], waitSeconds: number, maximum?: number): string[] {
  if (steps.length === 0) return ['the counts are the same: no deployment is necessary'];
  return [
    ...steps.flatMap((step, index) => [
      `${index + 1}. ${step.action}: ${step.reason}`,
      ...detailsOf(step, maximum),
      '',
    ]),
    ...completeLines(steps),
    ...waitLines(waitSeconds),
  ];
}

function completeLines(steps: readonly Step[]): string[] {
  const action = steps.map((step) => step.action).find((each) => each !== 'deploy');
  const deployed = 'when a deployment has reached every reader and writer';
  if (action === undefined) return [`Begin a step when the step before it is complete everywhere: ${deployed}.`];
  return [`Begin a step when the step before it is complete everywhere: ${deployed},`, COMPLETE[action]];
}

function waitLines(waitSeconds: number): string[] {
  const wait = waitSeconds % 60 === 0 ? counted(waitSeconds / 60, 'minute') : counted(waitSeconds, 'second');
  return [
    `After each deployment, also after the last deployment before step 1, wait another ${wait}: an invocation that began before`,
    'the deployment can use the earlier counts until then.',
    'To shorten the wait, give the longest timeout of your readers and writers as --longest-write SECONDS.',
  ];
}

/** The condition that must be true, after the deployment of a step, before the next step begins. */
const COMPLETE = {
  drain: 'and when the drained shards have no items: all were written again, have expired, or were deleted.',
  backfill: 'and when reshardItems, or IndexItemMover, has read the whole table.',
  move: 'and when reshardItems has read the whole table and has moved all items.',
};

function detailsOf(step: Step, maximum: number | undefined): string[] {
  if (step.action === 'drain') {
    const kept = maximum === undefined ? [] : ['   for a value with a larger count, only the shards above that count'];
    return [...step.ranges.map(rangeLine), ...kept];
  }
  if (step.action !== 'deploy') return [];
  const to = 'to' in step ? `${step.to}: ` : '';
  return [`   ${to}shardCounts: ${shardCountsCode(step.shards, maximum)}`];
}

function rangeLine({ value, from, to }: DrainRange): string {
  const shards = from === to ? `shard ${from}` : `shards ${from} to ${to}`;
  return `   ${shards} of ${value === undefined ? 'the table, or of every value without a count of its own' : quoted(value)}`;
}

/**
 * The CDK code of shard counts: fixed counts, or the initial counts of adaptive counts with a maximum. Counts of readers and of items
 * are in the code only if they differ from the counts of writers.
 */
export function shardCountsCode(shards: IndexShards, maximum?: number): string {
  const fixed = countsCode(shards, ({ write }) => write);
  const readers = countsCode(shards, ({ read }) => read);
  const items = countsCode(shards, ({ write, since = write }) => since);
  const writers = maximum === undefined ? fixed : adaptiveCode(shards, maximum);
  const reading = fixed === readers ? writers : `${writers}.alsoReading(${readers})`;
  return items === fixed ? reading : `${reading}.since(${items})`;
}

function adaptiveCode({ default: others, byValue }: IndexShards, maximum: number): string {
  const initialByValue =
    byValue === undefined ? '' : `initialByValue: { ${valuesCode(byValue, ({ write }) => write)} }, `;
  return `ShardCounts.adaptive({ initial: ${others.write}, ${initialByValue}maximum: ${maximum} })`;
}

function countsCode({ default: others, byValue }: IndexShards, of: (count: ShardCount) => number): string {
  if (byValue === undefined) return `ShardCounts.uniform(${of(others)})`;
  return `ShardCounts.byValue({ ${valuesCode(byValue, of)} }, ${of(others)})`;
}

function valuesCode(byValue: Record<string, ShardCount>, of: (count: ShardCount) => number): string {
  return Object.entries(byValue)
    .map(([value, count]) => `${keyCode(value)}: ${of(count)}`)
    .join(', ');
}

/** A value as a key of an object literal, in which a plain __proto__ would set the prototype. */
function keyCode(value: string): string {
  return value === '__proto__' ? `['__proto__']` : quoted(value);
}
