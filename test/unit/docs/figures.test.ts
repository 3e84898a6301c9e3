import { readdirSync, readFileSync } from 'node:fs';
import { HELD } from './figures/held';

/** Compares the defaults and limits in the guides with the constants of the library. */

const guides = readdirSync('docs/guides').filter((name) => name in HELD);

const withoutLinks = (text: string) => text.replaceAll(/\]\([^)]*\)/g, ']').replaceAll(/\s+/g, ' ');

test.each(guides)('%s states the defaults and limits of the library', (name) => {
  const text = withoutLinks(readFileSync(`docs/guides/${name}`, 'utf8'));
  expect(HELD[name]!.filter((phrase) => !text.includes(phrase))).toEqual([]);
});
