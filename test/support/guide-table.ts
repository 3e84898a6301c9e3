import { readFileSync, writeFileSync } from 'node:fs';

/** Prints a table and writes it into a guide between `<!-- begin: COMMAND -->` and `<!-- end -->`. Columns after the first contain numbers. */
export function writeGuideTable(guide: string, command: string, header: readonly string[], rows: string[][]): void {
  writeGuideBlock(guide, command, printTable(header, rows));
}

/** Prints a table in Markdown. Columns after the first contain numbers. */
export function printTable(header: readonly string[], rows: string[][]): string {
  const table = [header, ['---', ...Array(header.length - 1).fill('---:')], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
  console.log(table);
  return table;
}

/** Writes Markdown into a guide or a decision record, in place of the previous output of the command. */
export function writeGuideBlock(guide: string, command: string, markdown: string): void {
  const text = readFileSync(guide, 'utf8');
  const begin = `<!-- begin: ${command} -->`;
  const [before, rest] = text.split(begin) as [string, string | undefined];
  if (rest === undefined) throw new Error(`${guide} has no ${begin}`);
  const end = rest.indexOf('<!-- end -->');
  writeFileSync(guide, `${before}${begin}\n\n${markdown}\n\n${rest.slice(end)}`);
}
