import { existsSync, readFileSync } from 'node:fs';
import models from './models.json';
import mutants from './mutants.json';

/** `npm run mutants` shows that each of them is caught, which takes a minute or two. */
describe.each([...mutants, ...models])('the mutant of: $rule', ({ file, text, replacement, suite }) => {
  test('replaces a text that its file has once', () => {
    expect(readFileSync(file, 'utf8').split(text)).toHaveLength(2);
    expect(replacement).not.toBe(text);
  });

  test('names a suite that is there', () => {
    expect(existsSync(suite)).toBe(true);
  });
});

test('a mutant that no test can find is one of a line that is there', () => {
  const lines = readFileSync('test/models/mutants/equivalents.tsv', 'utf8').trimEnd().split('\n');
  const gone = lines.filter((line) => {
    const [file, text] = line.split('\t');
    return !existsSync(file!) || !readFileSync(file!, 'utf8').includes(text!);
  });
  expect(gone).toEqual([]);
});
