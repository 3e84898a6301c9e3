import { writeGuideTable } from '../support/guide-table';
import { TIE_CASES, TIES_HEADER, tiesRow } from '../support/tables/fan-out/ties-table';

/**
 * Measures the cost of paging through 10,000 items of one day. The index is in memory and charges as DynamoDB does, so the
 * numbers are exact. Writes the table of decision 0048.
 *
 *     npm run bench fan-out-ties
 */
async function main(): Promise<void> {
  const rows = await Promise.all(TIE_CASES.map(tiesRow));
  writeGuideTable(
    'docs/decisions/0048-few-waves-or-few-read-units.md',
    'npm run bench fan-out-ties',
    TIES_HEADER,
    rows,
  );
}

void main();
