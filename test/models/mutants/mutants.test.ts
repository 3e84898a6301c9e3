import { existsSync, readFileSync } from 'node:fs';
import mutants from './mutants.json';

const record = readFileSync('docs/decisions/0021-mutants-say-how-many-random-cases-are-enough.md', 'utf8');

/** `npm run mutants` shows that each of them is caught, which takes a minute or two. */
describe.each(mutants)('the mutant of: $rule', ({ rule, file, text, replacement, suite }) => {
  test('replaces a text that its file has once', () => {
    expect(readFileSync(file, 'utf8').split(text)).toHaveLength(2);
    expect(replacement).not.toBe(text);
  });

  test('is listed in the decision, with the suite that catches it', () => {
    expect(existsSync(suite)).toBe(true);
    const name = suite.replace(/^test\/|\.test\.ts$/g, '');
    expect(record).toContain(`| ${rule} | \`${file.replace(/^lib\/core\//, '')}\` | \`${name}\` |`);
  });
});
