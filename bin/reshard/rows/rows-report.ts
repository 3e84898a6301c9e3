import { shortened } from '../../../lib/core/kernel/errors';
import type { ReshardRowsReport, ShardedKeyspacesConfig, StrayRowsReport } from '../../../lib/core/keyspaces';

/**
 * The results of a run, or the sum of several runs. Each of these runs continued the previous run. A dry run has no
 * outcomes.
 */
export type RowsReport = StrayRowsReport & Partial<Pick<ReshardRowsReport, 'outcomes' | 'unverified'>>;

/** The maximum number of values whose counts are printed. */
const MAX_VALUES = 5;

const number = new Intl.NumberFormat('en');

/** The counts of the run. The report prints the counts because an old assembly can have other counts. */
export function countsLine({ shards: { default: others, byValue = {} } }: ShardedKeyspacesConfig): string {
  const own = Object.entries(byValue).map(([value, { write }]) => `${number.format(write)} of ${shortened(value)}`);
  const shown =
    own.length > MAX_VALUES ? [...own.slice(0, MAX_VALUES), `and ${own.length - MAX_VALUES} values more`] : own;
  return `rows belong to ${[`${number.format(others.write)} shards of each value`, ...shown].join(', ')}`;
}

/** The report as one line. */
export function rowsLine({ rowsScanned, strays, hidden, outcomes, unverified = 0 }: RowsReport): string {
  const found = `${number.format(rowsScanned)} rows read, ${number.format(strays)} in another shard than writers give them, ${number.format(hidden)} of these found by no query`;
  if (outcomes === undefined) return found;
  const counts = (['moved', 'settled', 'refused'] as const).map((name) => `${number.format(outcomes[name])} ${name}`);
  return `${found}; ${counts.join(', ')}, ${number.format(unverified)} unverified`;
}

/** Adds the results of an earlier run. */
export function sumOf(before: RowsReport | undefined, since: RowsReport): RowsReport {
  if (before === undefined) return { ...since };
  const { outcomes, unverified } = since;
  return {
    ...since,
    rowsScanned: before.rowsScanned + since.rowsScanned,
    strays: before.strays + since.strays,
    hidden: before.hidden + since.hidden,
    ...(outcomes && {
      outcomes: {
        moved: outcomes.moved + (before.outcomes?.moved ?? 0),
        settled: outcomes.settled + (before.outcomes?.settled ?? 0),
        refused: outcomes.refused + (before.outcomes?.refused ?? 0),
      },
    }),
    ...(unverified !== undefined && { unverified: unverified + (before.unverified ?? 0) }),
  };
}
