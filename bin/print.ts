import { printable } from './plain-text';

/**
 * The only way of a command to write to the terminal. Its lines contain texts of data, files, templates and AWS, so nothing in a line can
 * control the terminal or begin a further line. JSON stays the same JSON, because escaped characters stand in its strings.
 */
export function print(lines: string | readonly string[]): void {
  console.log(safe(lines));
}

/** The same on standard error. */
export function printError(lines: string | readonly string[]): void {
  console.error(safe(lines));
}

/** Prints a text that has lines of its own: a help text, or JSON. */
export function printText(text: string): void {
  print(text.split('\n'));
}

/** Prints what went wrong. Further lines of a message are indented, so that none of them looks like a line of the command. */
export function printProblem(problem: string): void {
  printError(problem.split('\n').map((line, index) => (index === 0 ? line : `  ${line}`)));
}

function safe(lines: string | readonly string[]): string {
  return [lines].flat().map(safeLine).join('\n');
}

/** A tab is harmless, and logs of functions have them between their fields. */
function safeLine(line: string): string {
  return line.split('\t').map(printable).join('\t');
}
