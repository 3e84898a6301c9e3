import {
  type AttributeRejections,
  indexRejections,
  type RejectionReason,
  rejectionReasonOf,
} from '../../lib/core/sharded-index/config/index-rejections';
import { counted, percent } from '../plain-text';
import { adoptionGuide } from './adoption-guide';
import type { Diagnosis } from './diagnosis';
import { isMissing } from './missing';
import type { UnshardedKey } from './observations';
import { estimatedShare, sampledItems } from './table-sample';

/** The items of the sample that an index would reject: the index that the user wants to add, or this index. */
export function rejectedItems({ path, indexName, wanted, key, sample }: UnshardedKey): Diagnosis[] {
  if (sample === undefined || isMissing(sample)) return [];
  const attributes = wanted ?? (indexName === undefined ? [] : key);
  const { items, rejected, byAttribute } = indexRejections(attributes, sampledItems(sample));
  if (rejected === 0) return [];
  const { share, error } = estimatedShare(sample, (item) =>
    attributes.some((attribute) => rejectionReasonOf(attribute, item) !== undefined),
  );
  const range = sample.isWhole
    ? ''
    : `, ${percent(Math.max(0, share - error))} to ${percent(Math.min(1, share + error))} of the table`;
  const what = `an index on ${attributes.map(({ name }) => name).join(', ')} would reject puts of ${counted(rejected, 'item')} of ${items.toLocaleString('en')} in the sample (${percent(share)}${range})`;
  return [
    {
      id: 'rejectedByIndex',
      weight: 'refused',
      path,
      what,
      change:
        'correct these items and the writers that put them, before you add the index: from its creation, DynamoDB rejects each put of such an item',
      measured: byAttribute.filter((each) => each.rejected > 0).map(rejectionLine),
      guide: adoptionGuide('an-index-must-not-break-writers'),
    },
  ];
}

const REASONS: Record<RejectionReason, string> = {
  otherType: 'with another type',
  null: 'NULL',
  empty: 'empty',
  tooLong: 'too long',
};

function rejectionLine({ attribute: { name, type }, share, byReason, absent }: AttributeRejections): string {
  const reasons = (Object.entries(byReason) as [RejectionReason, number][]).map(
    ([reason, count]) => `${count.toLocaleString('en')} ${REASONS[reason]}`,
  );
  const without = absent > 0 ? `; ${counted(absent, 'item')} without it, which the index does not contain` : '';
  return `${name} (type ${type}): ${percent(share)} rejected, ${reasons.join(', ')}${without}`;
}
