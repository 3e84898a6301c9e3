import { LOAD_SHAPES } from '../support/fakes/load-shapes';
import { writeGuideTable } from '../support/guide-table';
import { HEADER, scalingRow } from '../support/tables/scaling-table';

/**
 * A year of loads, minute by minute: what a stream costs that is scaled, against one with a fixed count at the peak, one
 * that doubles and halves with half of the updates kept for growing, and on-demand mode. It writes the table of decision 0018.
 *
 *   npm run bench auto-scaling
 */
async function main(): Promise<void> {
  const rows: string[][] = [];
  for (const shape of LOAD_SHAPES) rows.push(await scalingRow(shape));
  writeGuideTable('docs/decisions/0018-scaling-reads-three-alarms.md', 'npm run bench auto-scaling', HEADER, rows);
}

void main();
