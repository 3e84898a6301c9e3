/** Text of somebody else as a terminal may show it: nothing in it steers the terminal. */
export function printable(text: string): string {
  return text.replace(
    /\p{Cc}|\p{Cf}/gu,
    (character) => `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  );
}

const LONGEST_CELL = 40;

/** A value as a cell of a table shows it: on one line, and short. */
export function cellText(value: unknown): string {
  const text = printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
  return text.length <= LONGEST_CELL ? text : `${text.slice(0, LONGEST_CELL - 1)}…`;
}
