import { readFileSync } from 'node:fs';
import { adaptiveRow, countsOf, WRITES } from '../../support/tables/adaptive-table';

const text = readFileSync('docs/decisions/0084-a-count-grows-to-the-need-of-its-writes.md', 'utf8');

describe('the table of adaptive counts', () => {
  test('has a row for each kind of writes and each count', () => {
    for (const writes of WRITES) {
      expect(text.split(`\n| ${writes.name} |`)).toHaveLength(1 + countsOf(writes).length);
    }
  });

  // Computes only some rows, because all rows would take a minute.
  test.each([
    [0, 'reports'],
    [0, 10],
    [2, 'saturated keys'],
  ] as const)(
    'has the values that `npm run bench adaptive` computes: row %d, %s',
    async (row, counts) => {
      expect(text).toContain(`\n| ${(await adaptiveRow(WRITES[row]!, counts)).join(' | ')} |\n`);
    },
    60_000,
  );
});
