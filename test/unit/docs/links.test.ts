import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brokenLinks, linksOf } from '../../support/document-links';

const ROOT = join(__dirname, '../../..');
const markdownIn = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
const read = (document: string) => readFileSync(join(ROOT, document), 'utf8');

test('README has no relative link, which would be broken on npm and PyPI', () => {
  expect(linksOf(read('README.md')).filter((link) => !link.startsWith('http'))).toEqual([]);
});

test.each([
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'release/README.md',
  ...['docs', 'docs/guides', 'docs/decisions'].flatMap(markdownIn),
])('%s has no broken link', (document) => {
  expect(brokenLinks(document, linksOf(read(document)))).toEqual([]);
});
