import type { Resource } from '../cloudformation/template';
import { readGuide } from '../construct/guide-link';
import { AGGREGATION, HASH_BUCKETS } from '../core/contract/function-environment';
import { DEFAULT_HASH_BUCKETS } from '../core/stream-format/hash-buckets';
import { type ResourceChange, textOf } from './compared-stacks';
import { type Finding, finding } from './finding';

/**
 * The harmful effects of a deployment on a resource that is in both templates: a function of this library, or a DAX
 * parameter group.
 */
export function functionFindings(change: ResourceChange): Finding[] {
  if (change.type === 'AWS::Lambda::Function') return hashBuckets(change);
  if (change.type === 'AWS::DAX::ParameterGroup') return parameters(change);
  return [];
}

/** The environment variables of a function in its template. */
export function environmentOf({ Properties }: Resource): Readonly<Record<string, unknown>> {
  const { Variables } = (Properties?.Environment ?? {}) as { Variables?: Record<string, unknown> };
  return Variables ?? {};
}

function hashBuckets(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.synthesized].map(bucketsOf);
  if (before === next) return [];
  const describe = (buckets: string | undefined) => (buckets === undefined ? 'none' : buckets);
  const text =
    `the hash buckets of this producer would change from ${describe(before)} to ${describe(next)}: keys move to other shards, ` +
    'and consumers can read a record of a key before its earlier records, which wait in another shard. Stop the producers, wait until ' +
    `every consumer has read to the end of the stream, and then deploy.${readGuide('ordered-producer', 'aggregates-across-keys')}`;
  return [finding(change, 'Deployment.hashBuckets', 'reordered', 'prepare', text)];
}

/** The number of hash buckets of a producer. Undefined if the MD5 of a partition key decides its shard. */
function bucketsOf(producer: Resource): string | undefined {
  const environment = environmentOf(producer);
  const hashBuckets = environment[HASH_BUCKETS];
  if (hashBuckets !== undefined) return typeof hashBuckets === 'string' ? hashBuckets : textOf(hashBuckets);
  return environment[AGGREGATION] === 'packed' ? String(DEFAULT_HASH_BUCKETS) : undefined;
}

/**
 * DAX rejects changes of a parameter group that a running cluster uses. Source: the DynamoDB developer guide,
 * "Configuring TTL settings" of DAX.
 */
function parameters(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.synthesized].map(({ Properties }) =>
    textOf(Properties?.ParameterNameValues),
  );
  if (before === next) return [];
  const text =
    'the parameters of a DAX parameter group would change, and DAX rejects that while a running cluster uses the group. Give the cluster ' +
    `another parameter group, with another construct id.${readGuide('sharded-tables', 'through-dax')}`;
  return [finding(change, 'Deployment.parameterGroup', 'refused', 'revise', text)];
}
