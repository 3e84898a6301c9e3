import { readFileSync } from 'node:fs';
import { LOAD_SHAPES } from '../../support/fakes/load-shapes';
import { scalingRow } from '../../support/tables/scaling-table';

const decision = readFileSync('docs/decisions/0018-scaling-reads-three-alarms.md', 'utf8');

describe('the table of scaling in decision 0018', () => {
  test('has a row for every load', () => {
    for (const { name } of LOAD_SHAPES) expect(decision).toContain(`\n| ${name} |`);
  });

  // Computes only some loads, because all loads would take a minute.
  test.each(LOAD_SHAPES.filter(({ name }) => name.startsWith('office') || name.endsWith('1:8')))(
    'has the values that `npm run bench auto-scaling` computes: $name',
    async (shape) => {
      expect(decision).toContain(`\n| ${(await scalingRow(shape)).join(' | ')} |\n`);
    },
    60_000,
  );
});
