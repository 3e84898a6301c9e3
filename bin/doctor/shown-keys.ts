import type { IndexKeyAttribute } from '../../lib/core/sharded-index/config/index-rejections';
import { counted, percent, roughPercent } from '../plain-text';
import type { Language } from '../plan/code-language';
import type { BusyKey } from './hot-load';
import { isMissing, type UnshardedKey } from './observations';
import { estimatedShare, keyText, sampledValues, type TableSample } from './table-sample';

/** How to print keys and code. */
export interface AdviceOptions {
  readonly showKeys: boolean;
  readonly language: Language;
}

/** Most keys in a line. */
const MAX_SHOWN = 3;

/** The text for a key: its value, or a name if keys are hidden. Keys are data of the application. */
export function shownKey(value: string, rank: number, { showKeys }: Pick<AdviceOptions, 'showKeys'>): string {
  return showKeys ? value : `key${rank + 1}`;
}

/** Lines with the busiest keys of Contributor Insights and of a sample. */
export function keyLines({ key, report, sample, tableName }: UnshardedKey, options: AdviceOptions): string[] {
  const list = (keys: readonly BusyKey[]) =>
    keys
      .slice(0, MAX_SHOWN)
      .map(({ value, share }, n) => `${shownKey(JSON.stringify(value), n, options)} ${roughPercent(share)}`)
      .join(', ');
  const hidden = options.showKeys ? '' : '. --show-keys prints the keys';
  const lines: string[] = [];
  if (report !== undefined && !isMissing(report)) {
    const keys = report.partitionKeys.map(({ key: values, share }) => ({ value: values.join(' + '), share }));
    lines.push(`keys, by ${report.counted} in Contributor Insights: ${list(keys)}${hidden}`);
  }
  const [partition] = key.filter(({ role }) => role === 'partition');
  if (sample !== undefined && partition !== undefined) {
    const values = sampledValues(sample, partition.name);
    if (values.length > 0) lines.push(`keys, by stored items of ${tableName}: ${list(values)}${hidden}`);
    lines.push(reliability(sample, partition, values[0]?.value));
  }
  return lines;
}

/** How much the share of a value in a sample can differ from its share of the table. */
function reliability(sample: TableSample, { name }: IndexKeyAttribute, value: string | undefined): string {
  const items = sample.segments.reduce((sum, each) => sum + each.items.length, 0);
  const cost = `${counted(items, 'item')} of ${counted(sample.segments.length, 'segment')}, for ${counted(sample.readUnits, 'read unit')}`;
  if (sample.isWhole) return `sample: the whole table, ${cost}`;
  const { error } = estimatedShare(
    sample,
    ({ [name]: attribute }) => attribute !== undefined && keyText(attribute) === value,
  );
  const bound =
    error === 1
      ? 'some segments have only items of one partition key, or there are too few segments, so the shares of the table are not known'
      : `a share of the table differs by at most ${percent(Number(error.toFixed(3)))} with a probability of 95%`;
  return `sample: ${cost}; ${bound}. The sample shows stored items, not writes`;
}
