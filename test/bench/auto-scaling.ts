import { LOAD_SHAPES } from '../support/fakes/load-shapes';
import { writeGuideTable } from '../support/guide-table';
import { HEADER, scalingRow } from '../support/tables/scaling-table';

/**
 * Simulates a year of loads, minute by minute. Compares the cost of automatic scaling with a fixed count for the peak,
 * with a stream that only doubles and halves its shard count, and with on-demand mode. Writes the table of decision
 * 0018.
 *
 *   npm run bench auto-scaling
 */
async function main(): Promise<void> {
  const rows: string[][] = [];
  for (const shape of LOAD_SHAPES) rows.push(await scalingRow(shape));
  writeGuideTable('docs/decisions/0018-scaling-reads-three-alarms.md', 'npm run bench auto-scaling', HEADER, rows);
}

void main();
