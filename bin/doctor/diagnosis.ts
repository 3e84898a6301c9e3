import type { Throttling } from './throttling';

/**
 * How serious a problem is. `loss`: data is lost, or queries miss it. `refused`: requests are throttled or rejected
 * now. `uneven`: the load is uneven, and AWS throttles requests when the load grows. `limit`: a limit is near. `unknown`:
 * CloudWatch has no measurement, so a problem is possible. `safety`: a protection of data is turned off. `cost`: the
 * stack costs more than necessary.
 */
export type Weight = 'loss' | 'refused' | 'uneven' | 'limit' | 'unknown' | 'safety' | 'cost';

export const WEIGHTS: readonly Weight[] = ['loss', 'refused', 'uneven', 'limit', 'unknown', 'safety', 'cost'];

/** A problem, and the change that solves it. */
export interface Diagnosis {
  readonly id: string;
  readonly weight: Weight;
  readonly path: string;
  readonly what: string;
  readonly change: string;
  /** Which requests DynamoDB throttles, and why. Absent for other problems. */
  readonly throttling?: Pick<Throttling, 'operation' | 'cause' | 'events'>;
  /** The measured facts, each on a line. */
  readonly measured?: readonly string[];
  /** The CDK code of the changed resource. */
  readonly code?: readonly string[];
  /** The case of the guide that lists the steps of the change. */
  readonly guide?: string;
}
