import { printable } from './plain-text';

/**
 * Commands write to the terminal only with this function. Lines contain text from data, files, templates and AWS. The function escapes
 * this text, so that it cannot control the terminal or begin a line. JSON keeps its meaning, because JSON strings may contain escapes.
 */
export function print(lines: string | readonly string[]): void {
  console.log(safe(lines));
}

/** Prints lines on standard error. */
export function printError(lines: string | readonly string[]): void {
  console.error(safe(lines));
}

/** Prints a text with several lines: a help text, or JSON. */
export function printText(text: string): void {
  print(text.split('\n'));
}

/** Prints an error. Further lines of its message are indented, so that they do not look like lines of the command. */
export function printProblem(problem: string): void {
  printError(problem.split('\n').map((line, index) => (index === 0 ? line : `  ${line}`)));
}

function safe(lines: string | readonly string[]): string {
  return [lines].flat().map(safeLine).join('\n');
}

/** Keeps tabs, which are harmless: function logs have tabs between their fields. */
function safeLine(line: string): string {
  return line.split('\t').map(printable).join('\t');
}
