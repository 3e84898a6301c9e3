import { readGuide } from '../construct/guide-link';
import { AGGREGATION, HASH_BUCKETS } from '../core/contract/function-environment';
import { DEFAULT_HASH_BUCKETS } from '../core/stream-format/hash-buckets';
import { type Finding, finding } from './finding';
import { type Resource, type ResourceChange, textOf } from './template';

/** What a deployment does to a function of this library, or to what it reads through, that stays. */
export function functionFindings(change: ResourceChange): Finding[] {
  if (change.type === 'AWS::Lambda::Function') return hashBuckets(change);
  if (change.type === 'AWS::DAX::ParameterGroup') return parameters(change);
  return [];
}

/** The environment of a function, as its template has it. */
export function environmentOf({ Properties }: Resource): Readonly<Record<string, unknown>> {
  const { Variables } = (Properties?.Environment ?? {}) as { Variables?: Record<string, unknown> };
  return Variables ?? {};
}

function hashBuckets(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.coming].map(bucketsOf);
  if (before === next) return [];
  const words = (buckets: string | undefined) => (buckets === undefined ? 'none' : buckets);
  const text =
    `the hash buckets of what this function writes would go from ${words(before)} to ${words(next)}: keys move to other shards, ` +
    'and a record of a key can be read before earlier ones of it that wait in another shard. Stop the producers, let every ' +
    `consumer read to the end, and deploy then.${readGuide('ordered-producer', 'aggregates-across-keys')}`;
  return [finding(change, 'Deployment.hashBuckets', 'reordered', 'prepare', text)];
}

/** How many hash buckets decide the place of a record. Undefined: the hash of its key does. */
function bucketsOf(producer: Resource): string | undefined {
  const environment = environmentOf(producer);
  const given = environment[HASH_BUCKETS];
  if (given !== undefined) return typeof given === 'string' ? given : textOf(given);
  return environment[AGGREGATION] === 'packed' ? String(DEFAULT_HASH_BUCKETS) : undefined;
}

/** Source: the developer guide of DynamoDB, "Configuring TTL settings" of DAX: none that a cluster uses can be modified. */
function parameters(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.coming].map(({ Properties }) =>
    textOf(Properties?.ParameterNameValues),
  );
  if (before === next) return [];
  const text =
    'the parameters of DAX would change, and DAX refuses that for a group that a running cluster uses. Give the cluster ' +
    `another parameter group: another construct id makes one.${readGuide('sharded-tables', 'through-dax')}`;
  return [finding(change, 'Deployment.parameterGroup', 'refused', 'revise', text)];
}
