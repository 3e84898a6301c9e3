import { parseTagTime, tagMillisecond } from './stream-tags';

/** The tag of a stream that names the deployment which takes the stream to a shard count. */
export const DEPLOYMENT_TAG = 'even-shards/deployment';

/** A deployment that takes a stream to a shard count. If there are several, the latest one decides. */
export interface DeploymentMark {
  /** When it began, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The count it takes the stream to. */
  readonly shardCount: number;
}

/** How long a mark counts: as long as CloudFormation waits for a custom resource. */
const LIFE_MS = 60 * 60_000;

/** The most by which the clocks of two processes that write marks may differ. */
const CLOCKS_DIFFER_MS = 60_000;

const MARK = /^(\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z)=(\d{1,5})$/;

/**
 * `undefined` if no deployment has begun in the last hour. A mark from the future was written by a clock that was wrong. It
 * is ignored, because it would stop every deployment before that time.
 */
export function parseDeploymentMark(tagValue: string | undefined, now: number): DeploymentMark | undefined {
  const [, time, shardCount] = MARK.exec(tagValue ?? '') ?? [];
  const startedAt = parseTagTime(time ?? '');
  const isOfLastHour = startedAt > now - LIFE_MS && startedAt <= now + CLOCKS_DIFFER_MS;
  return isOfLastHour ? { startedAt, shardCount: Number(shardCount) } : undefined;
}

export function formatDeploymentMark({ startedAt, shardCount }: DeploymentMark): string {
  return `${tagMillisecond(startedAt)}=${shardCount}`;
}
