import { coresToCompare } from '../support/core-at';
import { printTable, writeGuideTable } from '../support/guide-table';
import { printMostExpensive } from '../support/tables/fan-out/drawn-cell';
import { FIRST_WAVE_HEADER, FIRST_WAVES, firstWaveRow } from '../support/tables/fan-out/first-wave-table';
import { type PageCost, pageCost } from '../support/tables/fan-out/page-cost';
import {
  COMBINATIONS,
  GROUP_HEADER,
  groupRows,
  overFloor,
  PAGE_HEADER,
  pageRow,
  SHOWN,
  SITUATION_HEADER,
  SITUATIONS,
  situationRow,
} from '../support/tables/fan-out/read-units-tables';

/**
 * Measures the read units, requests and waves of ordered pages. Compares them with the floor, which is the lowest
 * possible cost, and with a query that reads a whole page from every shard. The index is in memory and charges as
 * DynamoDB does, so the numbers are exact. Writes the tables of decision 0048, and prints the ten most expensive of
 * 300 random pages. "against REF" also measures the core at that commit. "cells" also prints the results of every combination of shards, limit and item bytes.
 *
 *     npm run bench fan-out-read-units [cells] [against REF]
 */
async function main(cells: boolean, benchArguments: string[]): Promise<void> {
  const decision = 'docs/decisions/0048-few-waves-or-few-read-units.md';
  const command = 'npm run bench fan-out-read-units';
  writeGuideTable(decision, command, PAGE_HEADER, await Promise.all(SHOWN.map(pageRow)));
  const rows: string[][] = [];
  for (const situation of SITUATIONS) {
    const costs: PageCost[] = [];
    for (const combination of COMBINATIONS) {
      costs.push(await pageCost(situation.layout, situation.warm, combination));
    }
    if (cells) printCells(`${situation.name}, ${situation.sizes}`, costs);
    if (rows.length === 0) printTable(GROUP_HEADER, groupRows(costs));
    rows.push(situationRow(situation, costs));
  }
  writeGuideTable(decision, `${command}, by layout`, SITUATION_HEADER, rows);
  const firstWaves: string[][] = [];
  for (const each of FIRST_WAVES) firstWaves.push(await firstWaveRow(each));
  writeGuideTable(decision, `${command}, by first wave`, FIRST_WAVE_HEADER, firstWaves);
  await printMostExpensive(300, 0, await coresToCompare(benchArguments));
}

function printCells(title: string, costs: readonly PageCost[]): void {
  const heads = ['shards', 'limit', 'bytes', 'units', 'floor', 'x floor', 'requests', 'waves', 'L each', 'all+sort'];
  console.log(`\n${title}\n${heads.map((head) => head.padStart(9)).join('')}`);
  for (const cost of costs) {
    const { shards, limit, bytes, units, floor, requests, waves, naive, all } = cost;
    const numbers = [shards, limit, bytes, units.toFixed(1), floor.toFixed(1), overFloor(cost).toFixed(2)];
    numbers.push(
      requests.toFixed(1),
      waves.toFixed(2),
      `${(naive / units).toFixed(1)}x`,
      `${(all / units).toFixed(0)}x`,
    );
    console.log(numbers.map((number) => String(number).padStart(9)).join(''));
  }
}

void main(process.argv[2] === 'cells', process.argv.slice(2));
