import { readFileSync } from 'node:fs';
import { FEW_OF_EACH, FIRST_WAVES, firstWaveRow } from '../../support/tables/fan-out/first-wave-table';
import { type PageCost, pageCost } from '../../support/tables/fan-out/page-cost';
import { overFloor, pageRow, SHOWN, SITUATIONS } from '../../support/tables/fan-out/read-units-tables';
import { STRAGGLER_CASES, stragglersRow } from '../../support/tables/fan-out/stragglers-table';
import { TIE_CASES, tiesRow } from '../../support/tables/fan-out/ties-table';

/**
 * Compares the tables of decision 0048 with their benches. The tests compute only some cells, because all cells would take
 * minutes.
 */

const decision = readFileSync('docs/decisions/0048-few-waves-or-few-read-units.md', 'utf8');

const rowOf = (cells: readonly string[]): string => `\n| ${cells.join(' | ')} |\n`;

/** The cells of the row that starts with this text. */
function cellsOf(name: string): string[] {
  const line = decision.split('\n').find((each) => each.startsWith(`| ${name} |`));
  return line?.split('|').map((cell) => cell.trim()) ?? [];
}

describe('the measurements of the fan-out query', () => {
  test.each(SHOWN.filter(({ limit }) => limit < 1_000))(
    'show the cost of a page of $limit items of $bytes bytes from $shards shards',
    async (combination) => {
      expect(decision).toContain(rowOf(await pageRow(combination)));
    },
  );

  test.each(SITUATIONS)('name the most expensive combinations for items $name with $sizes sizes', async (situation) => {
    const [units, waves] = cellsOf(`${situation.name}, ${situation.sizes}`).filter((cell) => cell.includes(' x '));
    await expectCombination(units, situation, overFloor);
    await expectCombination(waves, situation, (cost) => cost.waves);
  });

  test('show the cost of a page for each size of the first wave', async () => {
    for (const { name } of FIRST_WAVES) expect(cellsOf(name)).toHaveLength(9);
    const built = FIRST_WAVES.find(({ name }) => name.endsWith('as built'))!;
    expect(decision).toContain(rowOf(await firstWaveRow(built)));
    for (const combination of FEW_OF_EACH.slice(0, 4)) {
      const { shards, limit } = combination;
      expect(await pageCost('skewed', false, combination, built.items(limit / shards))).toEqual(
        await pageCost('skewed', false, combination),
      );
    }
  }, 60_000);

  test.each(TIE_CASES)('show the cost of pages with equal sort keys: $name', async (each) => {
    expect(decision).toContain(rowOf(await tiesRow(each)));
  });

  test.each(STRAGGLER_CASES.filter(({ shards }) => shards === 20))(
    'show the effect of hedging for $shards shards and a budget of $hedgeBudget',
    async (each) => {
      expect(decision).toContain(rowOf(await stragglersRow(each)));
    },
    60_000,
  );

  test('show every number of shards with and without hedging', () => {
    for (const { shards, hedgeBudget } of STRAGGLER_CASES) {
      expect(cellsOf(`${shards}, ${hedgeBudget === 0 ? 'none' : `${100 * hedgeBudget} %`}`)).toHaveLength(7);
    }
  });
});

/** Computes a cell such as "2.34 (100 x 100 x 4,000)" again. */
async function expectCombination(
  cell: string | undefined,
  { layout, warm }: (typeof SITUATIONS)[number],
  of: (cost: PageCost) => number,
): Promise<void> {
  const [number, ...combination] = (cell ?? '').replaceAll(',', '').match(/[\d.]+/g) ?? [];
  const [shards, limit, bytes] = combination.map(Number) as [number, number, number];
  expect(of(await pageCost(layout, warm, { shards, limit, bytes })).toFixed(2)).toBe(number);
}

test('decision 0048 shows that pages with known sizes cost at most 2.5 times the minimum, and that pages of skewed shards cost more with a larger first wave', () => {
  const mostOf = (name: string, column: number) => Number.parseFloat(cellsOf(name)[column]!);
  const known = SITUATIONS.filter(({ warm }) => warm).map(({ name, sizes }) => mostOf(`${name}, ${sizes}`, 3));
  expect(Math.max(...known)).toBeLessThanOrEqual(2.5);
  const built = FIRST_WAVES.findIndex(({ name }) => name.endsWith('as built'));
  const skewed = FIRST_WAVES.map(({ name }) => mostOf(name, 5));
  expect(skewed[built]).toBeLessThanOrEqual(2.5);
  expect(Math.min(...skewed.slice(built + 1))).toBeGreaterThan(2.5);
});
