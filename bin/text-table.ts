import { columnsOf, printable } from './plain-text';

/** Formats rows as aligned lines with a line below the header. Numbers are right-aligned. A line break in a cell is escaped. */
export function textTable(titles: readonly string[], cells: readonly (readonly (string | number)[])[]): string[] {
  const header = titles.map(printable);
  const rows = cells.map((row) => row.map((cell) => (typeof cell === 'number' ? cell : printable(cell))));
  const widths = header.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, columnsOf(String(row[column]))), columnsOf(title)),
  );
  const line = (cells: readonly (string | number)[]): string =>
    cells
      .map((cell, column) => {
        const isNumber = typeof rows[0]?.[column] === 'number';
        const padding = ' '.repeat(widths[column]! - columnsOf(String(cell)));
        return isNumber ? padding + cell : cell + padding;
      })
      .join('  ')
      .trimEnd();
  return [line(header), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].map(
    (text) => `  ${text}`,
  );
}
