import type { Resource } from '../cloudformation/template';
import { readGuide } from '../construct/guide-link';
import { AGGREGATION, HASH_BUCKETS } from '../core/contract/function-environment';
import { DEFAULT_HASH_BUCKETS } from '../core/stream-format/hash-buckets';
import type { ResourceChange } from './compared-stacks';
import { type Finding, finding } from './finding';
import { settingText } from './update-effects';

/** Findings for a function of this library that is in both templates. */
export function functionFindings(change: ResourceChange): Finding[] {
  return change.type === 'AWS::Lambda::Function' ? hashBuckets(change) : [];
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
  if (hashBuckets !== undefined) return typeof hashBuckets === 'string' ? hashBuckets : settingText(hashBuckets);
  return environment[AGGREGATION] === 'packed' ? String(DEFAULT_HASH_BUCKETS) : undefined;
}
