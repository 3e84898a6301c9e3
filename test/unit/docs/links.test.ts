import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brokenLinks, linksOf } from '../../support/document-links';

const ROOT = join(__dirname, '../../..');
const markdownIn = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
const read = (document: string) => readFileSync(join(ROOT, document), 'utf8');

test('README has no link that leads nowhere from the pages of npm and PyPI', () => {
  expect(linksOf(read('README.md')).filter((link) => !link.startsWith('http'))).toEqual([]);
});

test.each([
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'release/README.md',
  ...['docs', 'docs/guides', 'docs/decisions'].flatMap(markdownIn),
])('%s has links that lead somewhere', (document) => {
  expect(brokenLinks(document, linksOf(read(document)))).toEqual([]);
});
