/**
 * Makes foreign text safe for a terminal: the text cannot control the terminal, change the text direction, or begin a line. It uses the
 * escapes of JSON, so a JSON text keeps its meaning.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** A number with its noun: "1 shard", "1,000 shards". */
export function counted(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : nouns}`;
}

/** A share as a percentage with at most three significant digits: "12.5%". */
export function percent(share: number): string {
  return `${Number((100 * share).toPrecision(3))}%`;
}

/** A share as a whole percentage, such as "125%". A share below 10% has two significant digits, such as "2.5%". */
export function roughPercent(share: number): string {
  const percents = 100 * share;
  return `${percents >= 10 ? Math.round(percents).toLocaleString('en') : Number(percents.toPrecision(2))}%`;
}

/** An amount of US dollars: "$1,234.50". */
export function dollars(amount: number): string {
  return `$${amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

const LONGEST_CELL = 40;

/** The text of a value for a table cell: on one line, and short. */
export function cellText(value: unknown): string {
  return cutShort(printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')), LONGEST_CELL);
}

/** A text cut to a number of columns of a terminal. No character is cut in two. */
export function cutShort(text: string, columns: number): string {
  let [short, width] = ['', 0];
  for (const { segment } of CHARACTERS.segment(text)) {
    width += columnsOf(segment);
    if (width > columns) return `${short}…`;
    if (width < columns) short += segment;
  }
  return text;
}

/** Finds the parts of a text that people see as one character, such as a letter with its accents or an emoji. */
const CHARACTERS = new Intl.Segmenter();

/** Characters of East Asian scripts and emoji, which a terminal draws twice as wide as other characters. */
const WIDE =
  /\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Emoji_Presentation}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
const ASCII = /^[ -~]*$/;

/** How many columns of a terminal a text takes. */
export function columnsOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of CHARACTERS.segment(text)) columns += WIDE.test(segment) ? 2 : 1;
  return columns;
}

/** A text as one word of a shell command. */
export function shellWord(text: string): string {
  return /^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
