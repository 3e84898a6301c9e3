import { writeGuideTable } from '../support/guide-table';
import { adaptiveRow, countsOf, HEADER, WRITES } from '../support/tables/adaptive-table';

/**
 * Compares adaptive counts with fixed counts that are too low, right and too high: the throttled writes, and the cost
 * of a page. Writes the table of decision 0084.
 *
 *   npm run bench adaptive
 */
async function main(): Promise<void> {
  const rows: string[][] = [];
  for (const writes of WRITES) {
    for (const counts of countsOf(writes)) rows.push(await adaptiveRow(writes, counts));
  }
  writeGuideTable(
    'docs/decisions/0084-a-count-grows-to-the-need-of-its-writes.md',
    'npm run bench adaptive',
    HEADER,
    rows,
  );
}

void main();
