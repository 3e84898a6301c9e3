import { readGuide } from '../construct/guide-link';
import { type Finding, finding, type Location } from './finding';
import { type Properties, type ResourceChange, textOf } from './template';

/** A limit of a stream that a deployment should not decrease without preparation. */
interface Limit {
  readonly property: string;
  /** Its value if the template gives none. Source: the CloudFormation reference, AWS::Kinesis::Stream. */
  readonly absent: number;
  readonly id: string;
  readonly effect: 'lost' | 'failing';
  readonly consequence: (to: number) => string;
}

const LIMITS: readonly Limit[] = [
  {
    property: 'RetentionPeriodHours',
    absent: 24,
    id: 'Deployment.retentionLowered',
    effect: 'lost',
    consequence: (hours) =>
      `records that are older than ${hours} hours are gone, read or not: see that every consumer is nearer than that ` +
      'to the tip, by its iterator age',
  },
  {
    property: 'MaxRecordSizeInKiB',
    absent: 1_024,
    id: 'Deployment.recordSizeLowered',
    effect: 'failing',
    consequence: (kibibytes) => `producers of records of more than ${kibibytes} KiB fail: see that there are none`,
  },
];

/** What a deployment does to a Kinesis stream that stays. */
export function streamFindings({ deployed, coming, type, ...location }: ResourceChange): Finding[] {
  if (type !== 'AWS::Kinesis::Stream') return [];
  const [before, next] = [deployed.Properties ?? {}, coming.Properties ?? {}];
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
    `ShardCount would go from ${from} to ${to}, and Kinesis refuses more than twice or less than half of the open shards in ` +
    `one update. Give deployedShardCount: ${from} beside shardCount: ${to}, or deploy ${countsBetween(from, to).join(', ')} ` +
    `and then ${to}.${readGuide('resharding', 'change-a-shard-count')}`;
  return [finding(location, 'Deployment.shardCount', 'refused', 'split', text)];
}

function mode(location: Location, to: string): Finding[] {
  const change =
    to === 'ON_DEMAND'
      ? 'the stream would be on demand: Kinesis decides how many shards there are and which range of hash keys each has, so ' +
        'balanced explicit hash keys do not stay balanced'
      : 'the stream would be provisioned: it keeps the shards that it has, and ShardCount is an update from those, which ' +
        'Kinesis refuses beyond double or half. Look how many are open before';
  const text = `${change}. A stream changes its mode at most twice in 24 hours.`;
  return [finding(location, 'Deployment.streamMode', 'uneven', 'know', text)];
}

function encryption(location: Location, from: Properties, to: Properties): Finding[] {
  const [keyBefore, keyNext] = [keyOf(from), keyOf(to)];
  if (keyBefore === undefined || textOf(keyBefore) === textOf(keyNext)) return [];
  if (keyNext === undefined) {
    const text = 'StreamEncryption would go: records are stored without encryption from then on. Keep it.';
    return [finding(location, 'Deployment.encryptionRemoved', 'exposed', 'revise', text)];
  }
  const text =
    'the stream would be encrypted with another key: records that are in it stay under the earlier one, so keep that key, ' +
    'and the permission of consumers to decrypt with it, until the retention is over, and give producers and consumers ' +
    'their permissions on the new key before.';
  return [finding(location, 'Deployment.encryptionKey', 'failing', 'prepare', text)];
}

/** Finds that a limit of the stream decreases, which harms whoever needs the earlier one. */
function decreased(
  location: Location,
  { property, absent, id, effect, consequence }: Limit,
  before: Properties,
  next: Properties,
): Finding[] {
  const [from = absent, to = absent] = [before[property], next[property]];
  if (typeof from !== 'number' || typeof to !== 'number' || to >= from) return [];
  const text = `${property} would go from ${from} to ${to}: ${consequence(to)}.`;
  return [finding(location, id, effect, 'prepare', text)];
}

function modeOf({ StreamModeDetails }: Properties): string {
  const { StreamMode } = (StreamModeDetails ?? {}) as { StreamMode?: unknown };
  return typeof StreamMode === 'string' ? StreamMode : 'PROVISIONED';
}

function keyOf({ StreamEncryption }: Properties): unknown {
  return (StreamEncryption as { KeyId?: unknown } | undefined)?.KeyId;
}

/** The counts to deploy on the way, each twice or half of the one before. */
function countsBetween(from: number, to: number): number[] {
  const counts: number[] = [];
  for (let count = from; ; counts.push(count)) {
    const next = to > from ? count * 2 : Math.ceil(count / 2);
    if (to > from ? next >= to : next <= to) return counts;
    count = next;
  }
}
