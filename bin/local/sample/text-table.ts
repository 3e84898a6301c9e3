/** Rows as aligned lines, numbers to the right, a rule below the header. */
export function textTable(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => String(row[column]).length)),
  );
  const line = (cells: readonly (string | number)[]): string =>
    cells
      .map((cell, column) => {
        const isNumber = typeof rows[0]?.[column] === 'number';
        return isNumber ? String(cell).padStart(widths[column]!) : String(cell).padEnd(widths[column]!);
      })
      .join('  ')
      .trimEnd();
  return [line(header), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].map(
    (text) => `  ${text}`,
  );
}
