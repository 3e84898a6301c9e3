import type { Properties } from '../cloudformation/template';
import { readGuide } from '../construct/guide-link';
import type { ResourceChange } from './compared-stacks';
import { type Finding, finding, type Location } from './finding';
import { settingText } from './update-effects';

/** A limit of a stream that a deployment should not decrease without preparation. */
interface Limit {
  readonly property: string;
  /** The default value in CloudFormation. Source: the CloudFormation reference, AWS::Kinesis::Stream. */
  readonly defaultValue: number;
  readonly id: string;
  readonly effect: 'lost' | 'failing';
  readonly consequence: (to: number) => string;
}

const LIMITS: readonly Limit[] = [
  {
    property: 'RetentionPeriodHours',
    defaultValue: 24,
    id: 'Deployment.retentionLowered',
    effect: 'lost',
    consequence: (hours) =>
      `Kinesis deletes records that are older than ${hours} hours, even unread records: first check that the iterator age of ` +
      'every consumer is below this time',
  },
  {
    property: 'MaxRecordSizeInKiB',
    defaultValue: 1_024,
    id: 'Deployment.recordSizeLowered',
    effect: 'failing',
    consequence: (kibibytes) =>
      `records of more than ${kibibytes} KiB fail: first check that no producer writes such records`,
  },
];

/** Findings for a Kinesis stream that is in both templates. */
export function streamFindings({ deployed, synthesized, type, ...location }: ResourceChange): Finding[] {
  if (type !== 'AWS::Kinesis::Stream') return [];
  const [before, next] = [deployed.Properties ?? {}, synthesized.Properties ?? {}];
  const [modeBefore, modeNext] = [modeOf(before), modeOf(next)];
  return [
    ...(modeBefore === modeNext ? shardCount(location, before.ShardCount, next.ShardCount) : mode(location, modeNext)),
    ...encryption(location, before, next),
    ...LIMITS.flatMap((limit) => decreased(location, limit, before, next)),
  ];
}

function shardCount(location: Location, from: unknown, to: unknown): Finding[] {
  if (typeof from !== 'number' || typeof to !== 'number' || (to <= 2 * from && 2 * to >= from)) return [];
  const text =
    `ShardCount would change from ${from} to ${to}, and Kinesis rejects more than twice or less than half of the open shards in ` +
    `one update. Deploy ${countsBetween(from, to).join(', ')} and then ${to}. A UniformStream with deployedShardCount: ${from} and ` +
    `shardCount: ${to} needs one deployment.${readGuide('resharding', 'change-a-shard-count')}`;
  return [finding(location, 'Deployment.shardCount', 'refused', 'split', text)];
}

function mode(location: Location, to: string): Finding[] {
  const change =
    to === 'ON_DEMAND'
      ? 'the stream would be on-demand: Kinesis chooses the number of shards and their hash key ranges, so ' +
        'balanced explicit hash keys do not stay balanced'
      : 'the stream would be provisioned: CloudFormation updates its present number of shards to ShardCount, and ' +
        'Kinesis rejects more than twice or less than half of this number. First check the number of open shards';
  const text = `${change}. The mode of a stream can change at most twice in 24 hours.`;
  return [finding(location, 'Deployment.streamMode', 'uneven', 'know', text)];
}

function encryption(location: Location, from: Properties, to: Properties): Finding[] {
  const [keyBefore, keyNext] = [keyOf(from), keyOf(to)];
  if (keyBefore === undefined || settingText(keyBefore) === settingText(keyNext)) return [];
  if (keyNext === undefined) {
    const text =
      'StreamEncryption would be removed: Kinesis then stores new records without encryption. Keep StreamEncryption.';
    return [finding(location, 'Deployment.encryptionRemoved', 'exposed', 'revise', text)];
  }
  const text =
    'the stream would be encrypted with another key: existing records stay encrypted with the earlier key, so keep that key ' +
    'and the decrypt permissions of consumers until the retention period is over. First grant producers and consumers ' +
    'permissions on the new key.';
  return [finding(location, 'Deployment.encryptionKey', 'failing', 'prepare', text)];
}

/** Findings for a decreased limit of the stream. */
function decreased(
  location: Location,
  { property, defaultValue, id, effect, consequence }: Limit,
  before: Properties,
  next: Properties,
): Finding[] {
  const [from = defaultValue, to = defaultValue] = [before[property], next[property]];
  if (typeof from !== 'number' || typeof to !== 'number' || to >= from) return [];
  const text = `${property} would decrease from ${from} to ${to}: ${consequence(to)}.`;
  return [finding(location, id, effect, 'prepare', text)];
}

function modeOf({ StreamModeDetails }: Properties): string {
  const { StreamMode } = (StreamModeDetails ?? {}) as { StreamMode?: unknown };
  return typeof StreamMode === 'string' ? StreamMode : 'PROVISIONED';
}

function keyOf({ StreamEncryption }: Properties): unknown {
  return (StreamEncryption as { KeyId?: unknown } | undefined)?.KeyId;
}

/** The shard counts to deploy between `from` and `to`. Each count is twice or half of the count before it. */
function countsBetween(from: number, to: number): number[] {
  const counts: number[] = [];
  for (let count = from; ; counts.push(count)) {
    const next = to > from ? count * 2 : Math.ceil(count / 2);
    if (to > from ? next >= to : next <= to) return counts;
    count = next;
  }
}
