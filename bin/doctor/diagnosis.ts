import { guideAddress } from '../../lib/construct/guide-link';
import type { FindingId, WeightOf } from './findings';
import type { Missing } from './observations';
import type { Throttling } from './throttling';

/** A problem, and the change that solves it. */
export type Diagnosis = { [Id in FindingId]: DiagnosisOf<Id> }[FindingId];

interface DiagnosisOf<Id extends FindingId> extends Details {
  readonly id: Id;
  readonly weight: WeightOf<Id>;
  readonly path: string;
  readonly what: string;
  readonly change: string;
}

/** The facts and the code of a diagnosis. Absent if they do not apply. */
export interface Details {
  /** Which requests DynamoDB throttles, and why. */
  readonly throttling?: Pick<Throttling, 'operation' | 'cause' | 'events'>;
  /** The measured facts, each on a line. */
  readonly measured?: readonly string[];
  /** The CDK code of the changed resource. */
  readonly code?: readonly string[];
  /** The case of the guide that lists the steps of the change. */
  readonly guide?: string;
}

/** The diagnosis that something was not measured. */
export function notMeasured(path: string, noun: string, { why, change }: Missing): Diagnosis {
  return { id: 'notMeasured', weight: 'unknown', path, what: `${noun}: ${why}`, change };
}

/** The diagnosis that DynamoDB throttles requests, without more facts. */
export function throttled(path: string, { id, what, change, operation, cause, events }: Throttling): Diagnosis {
  return { id, weight: 'refused', path, what, change, throttling: { operation, cause, events } };
}

/** The headings of the guide `adopt.md` to which the advice links. */
export const ADOPTION_CASES = [
  'an-index-must-not-break-writers',
  'same-app-and-same-id',
  'same-app-not-convertible',
  'another-owner',
  'uneven-shards',
] as const;

type AdoptionCase = (typeof ADOPTION_CASES)[number];

/** The address of a case of the guide. */
export function adoptionGuide(of: AdoptionCase): string {
  return guideAddress('adopt', of);
}
