import { guideAddress } from '../../lib/construct/guide-link';

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
