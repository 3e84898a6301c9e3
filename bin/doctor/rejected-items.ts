import {
  type AttributeRejections,
  type IndexKeyAttribute,
  indexRejections,
  type RejectionReason,
  rejectionReasonOf,
} from '../../lib/core/sharded-index/config/index-rejections';
import { counted, percent } from '../plain-text';
import { adoptionGuide, type Diagnosis, notMeasured } from './diagnosis';
import type { UnshardedKey } from './observations';
import { estimatedShare, sampledItems, type TableSample } from './table-sample';

/** The key of the index that a sample is compared with: the index that the user wants to add, or this index. */
function comparedKey({ wanted, indexName, key }: UnshardedKey): readonly IndexKeyAttribute[] {
  return wanted ?? (indexName === undefined ? [] : key);
}

/** The items of the sample that an index would reject, and key attributes that no item of the sample has. */
export function rejectedItems(unsharded: UnshardedKey): Diagnosis[] {
  const { path, wanted = [], sample } = unsharded;
  const attributes = comparedKey(unsharded);
  if (sample === undefined || attributes.length === 0) return [];
  const { items, rejected, byAttribute } = indexRejections(attributes, sampledItems(sample));
  // Without this finding, a wrong name of an attribute would look like a table without rejected items.
  const absent = wanted
    .filter((_, n) => byAttribute[n]!.absent === items)
    .map(({ name }) =>
      notMeasured(path, `the attribute ${name}`, {
        why: items === 0 ? 'the sample has no item' : 'no item of the sample has it',
        change: 'check the name, or read more items with --sample',
      }),
    );
  if (rejected === 0) return absent;
  return [
    {
      id: 'rejectedByIndex',
      weight: 'refused',
      path,
      what: `an index on ${named(attributes)} would reject puts of ${counted(rejected, 'item')} of ${shareOf(sample, attributes)}`,
      change:
        'correct these items and the writers that put them, before you add the index: from its creation, DynamoDB rejects each put of such an item',
      measured: byAttribute.filter((each) => each.rejected > 0).map(rejectionLine),
      guide: adoptionGuide('an-index-must-not-break-writers'),
    },
    ...absent,
  ];
}

/** A line for each index that a sample is compared with, also if the index rejects no item. */
export function comparisonLines(unsharded: UnshardedKey): string[] {
  const { tableName, sample } = unsharded;
  const attributes = comparedKey(unsharded);
  if (sample === undefined || attributes.length === 0) return [];
  const { rejected } = indexRejections(attributes, sampledItems(sample));
  return [
    `sample of ${tableName}: an index on ${named(attributes)} would reject ${rejected.toLocaleString('en')} of ${shareOf(sample, attributes)}`,
  ];
}

function named(attributes: readonly IndexKeyAttribute[]): string {
  return attributes.map(({ name, type }) => `${name} (${type})`).join(', ');
}

/** The number of items, and the share of rejected items with its range in the table. */
function shareOf(sample: TableSample, attributes: readonly IndexKeyAttribute[]): string {
  const { share, error } = estimatedShare(sample, (item) =>
    attributes.some((attribute) => rejectionReasonOf(attribute, item) !== undefined),
  );
  const range = `${percent(Math.max(0, share - error))} to ${percent(Math.min(1, share + error))} of the table with a probability of 95%`;
  return `${sampledItems(sample).length.toLocaleString('en')} in the sample (${percent(share)}${sample.isWhole ? ', the whole table' : `, ${range}`})`;
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
