import { writeGuideTable } from '../support/guide-table';
import { contentionRows } from '../support/tables/contention';

/**
 * Measures parallel allocations on one registry, from one process and from many processes. Writes the table of decision
 * 0013.
 *
 *     npm run bench registry
 */
const HEADER = [
  'ledgers',
  'callers of each',
  'new owners',
  'commits',
  'requests',
  'time',
  'with lost responses',
  'calls that failed',
];

async function main(): Promise<void> {
  writeGuideTable(
    'docs/decisions/0013-one-conditional-write-commits-a-change.md',
    'npm run bench registry',
    HEADER,
    await contentionRows(),
  );
}

void main();
