import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '..', '..', '..');

/** The documents, which must not contain retired words. */
const documents = ['README.md', 'CONTRIBUTING.md', 'docs'];
const sources: readonly string[] = ['lib', 'lambda', 'bin', 'examples'];

/** The page that lists the retired words. */
const exempt = [/^docs\/glossary\.md$/];

interface Finding {
  file: string;
  line: number;
  word: string;
}

describe('the glossary', () => {
  const words = retiredWords(readFileSync(join(root, 'docs/glossary.md'), 'utf8'));

  test('lists retired words, which the project no longer uses', () => {
    expect(words).toEqual(
      expect.arrayContaining(['under way', 'mend', 'literature', 'windowRows', 'parked shard', 'local window']),
    );
  });

  test('lists no retired word that a document contains', () => {
    const files = filesIn(documents, /\.md$/);
    expect(files).toEqual(
      expect.arrayContaining(['README.md', 'docs/guides/consuming.md', 'docs/decisions/README.md']),
    );
    expect(findingsIn(files)).toEqual([]);
  });

  test('lists no retired word that a source file contains', () => {
    expect(findingsIn(filesIn(sources, /\.ts$/))).toEqual([]);
  });

  test('the search finds whole words across lines and comment marks, in upper and lower case', () => {
    const text = ['One request is under', '   * way.', 'Mending takes', 'an amended plan', 'WindowRows'].join('\n');
    expect(wordsIn('example', text)).toEqual([
      { file: 'example', line: 1, word: 'under way' },
      { file: 'example', line: 3, word: 'mending' },
      { file: 'example', line: 5, word: 'windowRows' },
    ]);
  });

  function findingsIn(files: readonly string[]): Finding[] {
    return files.flatMap((file) => wordsIn(file, readFileSync(join(root, file), 'utf8')));
  }

  function wordsIn(file: string, text: string): Finding[] {
    const findings = words.flatMap((word) =>
      [...text.matchAll(patternOf(word))].map(({ index }) => ({ file, line: lineAt(text, index), word })),
    );
    return findings.sort((left, right) => left.line - right.line);
  }
});

/** The words in backticks in the last column of the glossary's tables. */
function retiredWords(glossary: string): string[] {
  const lastColumns = [...glossary.matchAll(/^\|.*\|([^|]*)\|$/gm)].map(([, column]) => column!);
  return lastColumns.flatMap((column) => [...column.matchAll(/`([^`]+)`/g)].map(([, word]) => word!));
}

/** A pattern that matches a retired word, also with an s at its end. */
function patternOf(word: string): RegExp {
  return new RegExp(`\\b${word.split(' ').join('[\\s*/>|]+')}s?\\b`, 'gi');
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

function filesIn(entries: readonly string[], names: RegExp): string[] {
  const files = entries.flatMap((entry) => (names.test(entry) ? [entry] : folderFiles(entry, names)));
  return files.filter((file) => !exempt.some((pattern) => pattern.test(file)));
}

function folderFiles(folder: string, names: RegExp): string[] {
  const paths = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => names.test(path)).map((path) => `${folder}/${path.replaceAll('\\', '/')}`);
}
