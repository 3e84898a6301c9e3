import { weightedShards } from '../../lib/core/planning/weighted-shards';
import { MAX_INDEX_SHARDS } from '../../lib/core/sharding/shard-count';
import { inFlagTerms, numberOf, UsageError } from '../flags';
import { counted, percent } from '../plain-text';
import { print, printText } from '../print';
import { textTable } from '../text-table';
import { exampleIndex, indexSnippet } from './cdk-snippet';
import type { Language } from './code-language';
import { PLAN_COMMAND, type PlanFlags, sharesOf } from './plan-flags';

/** Divides a given number of shards among the values of an index. */
export function printDivided(flags: PlanFlags, language: Language): void {
  const shares = sharesOf(flags.share!);
  const asked = numberOf(PLAN_COMMAND, 'shards', flags.shards)!;
  const byValue = inFlagTerms(PLAN_COMMAND, () => weightedShards({ shards: asked, shares }));
  const most = Object.entries(byValue).find(([, count]) => count > MAX_INDEX_SHARDS);
  if (most !== undefined) {
    const [value, count] = most;
    throw new UsageError(
      `--shards gives ${value} ${count} shards, but a value has at most ${MAX_INDEX_SHARDS}: a query reads every shard for each page`,
      PLAN_COMMAND,
    );
  }
  const counts = Object.values(byValue);
  const shards = counts.reduce((sum, count) => sum + count, 0);
  if (flags.json) {
    printText(JSON.stringify({ shards, byValue }, null, 2));
    return;
  }
  const all = Object.values(shares).reduce((sum, share) => sum + share, 0);
  const more =
    shards > asked ? `; each value gets at least one, and its count is rounded up from ${asked} in total` : '';
  print([
    `${counted(shards, 'shard')} of ${counted(counts.length, 'value')}${more}`,
    '',
    ...textTable(
      ['value', 'share', 'shards'],
      Object.entries(byValue).map(([value, count]) => [value, percent(shares[value]! / all), count]),
    ),
    '',
    ...indexSnippet({ shards, byValue }, exampleIndex('value'), language),
  ]);
}
