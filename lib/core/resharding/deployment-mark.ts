import { checkTextFormat } from '../kernel/format-version';
import { parseTagTime, tagMillisecond } from './stream-tags';

/** The tag with which a deployment marks the stream that it reshards. */
export const DEPLOYMENT_TAG = 'even-shards/deployment';

/** A deployment that reshards a stream. If there are several deployments, the latest of them decides the shard count. */
export interface DeploymentMark {
  /** When the deployment began, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly shardCount: number;
}

/** How long a mark is valid: as long as CloudFormation waits for a custom resource. */
const MARK_LIFETIME_MS = 60 * 60_000;

/** The allowed difference between the clocks of two processes that write marks. */
const CLOCK_SKEW_MS = 60_000;

const MARK = /^(\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z)=(\d{1,5})$/;

/**
 * Returns `undefined` if no deployment has begun in the last hour. Ignores a mark from the future, because a process with a wrong
 * clock has written the mark. Otherwise this mark would stop every deployment until the time of the mark.
 *
 * @throws NewerFormatError if a later release wrote the mark in a format that this release cannot read
 */
export function parseDeploymentMark(tagValue: string | undefined, now: number): DeploymentMark | undefined {
  checkTextFormat('deployment mark', tagValue);
  const [, time, shardCount] = MARK.exec(tagValue ?? '') ?? [];
  const startedAt = parseTagTime(time ?? '');
  const isOfLastHour = startedAt > now - MARK_LIFETIME_MS && startedAt <= now + CLOCK_SKEW_MS;
  return isOfLastHour ? { startedAt, shardCount: Number(shardCount) } : undefined;
}

export function formatDeploymentMark({ startedAt, shardCount }: DeploymentMark): string {
  return `${tagMillisecond(startedAt)}=${shardCount}`;
}
