import { writeGuideTable } from '../support/guide-table';
import { STRAGGLER_CASES, STRAGGLERS_HEADER, stragglersRow } from '../support/tables/fan-out/stragglers-table';

/**
 * Measures how long a page waits for its slowest shard, with and without hedging, on a virtual clock. Writes the table of
 * decision 0048.
 *
 *     npm run bench fan-out-stragglers
 */
async function main(): Promise<void> {
  const rows: string[][] = [];
  for (const each of STRAGGLER_CASES) rows.push(await stragglersRow(each));
  writeGuideTable(
    'docs/decisions/0048-few-waves-or-few-read-units.md',
    'npm run bench fan-out-stragglers',
    STRAGGLERS_HEADER,
    rows,
  );
}

void main();
