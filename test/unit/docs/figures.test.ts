import { readdirSync, readFileSync } from 'node:fs';
import { HELD } from './figures/held';
import { HELD_ELSEWHERE, NAMES } from './figures/held-elsewhere';

/** Every figure in a sentence of the guides is what decides it, or has another place that holds it. Tables of numbers and code have tests of their own. */

const guides = readdirSync('docs/guides').filter((name) => name.endsWith('.md') && name !== 'facts.md');

const withoutLinks = (text: string) => text.replaceAll(/\]\([^)]*\)/g, ']').replaceAll(/\s+/g, ' ');

/** The sentences of a guide: without code, tables, headings, and the numbers of lists. */
function sentencesOf(text: string): string {
  const prose = text
    .replaceAll(/^```.*?^```$/gms, '')
    .replaceAll(/^(\|.*|#+ .*|!\[.*|<!--.*)$/gm, '')
    .replaceAll(/^( *)(\*\*)?\d\. /gm, '$1$2');
  return withoutLinks(prose);
}

describe.each(guides)('a figure in a sentence of %s', (name) => {
  const text = readFileSync(`docs/guides/${name}`, 'utf8');
  const held = HELD[name] ?? [];
  const heldElsewhere = Object.values(HELD_ELSEWHERE[name] ?? {}).flat();

  test('is what decides it', () => {
    expect(held.filter((phrase) => !withoutLinks(text).includes(phrase))).toEqual([]);
  });

  test('that is held elsewhere is still there', () => {
    expect(heldElsewhere.filter((phrase) => !sentencesOf(text).includes(phrase))).toEqual([]);
  });

  test('is held', () => {
    const phrases = [...held, ...heldElsewhere, ...NAMES].toSorted((a, b) => b.length - a.length);
    const rest = phrases.reduce((left, phrase) => left.replaceAll(phrase, ''), sentencesOf(text));
    expect(rest.replaceAll(/`[^`]*`/g, '').match(/.{0,60}\d.{0,40}/g) ?? []).toEqual([]);
  });
});
