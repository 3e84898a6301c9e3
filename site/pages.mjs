import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository, whose documents the site shows. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const REPOSITORY = 'https://github.com/cdk-even-shards/cdk-even-shards';
const SITE = 'https://cdk-even-shards.github.io/cdk-even-shards/';
const OURS =
  /^https:\/\/(?:github\.com\/[^/]+\/[^/]+\/(?:blob|tree)|raw\.githubusercontent\.com\/[^/]+\/[^/]+)\/main\//;

const GUIDES = [
  'README',
  'something-is-wrong',
  'functions',
  'ordered-producer',
  'consuming',
  'hash-keys',
  'sharded-tables',
  'key-sharded-tables',
  'adaptive-counts',
  'fan-out-query',
  'keyspaces',
  'outbox',
  'planning',
  'resharding',
  'index-resharding',
  'monitoring',
  'metrics',
  'borders',
  'running-locally',
  'testing',
  'tenants',
  'other-languages',
  'versions',
  'uninstall',
  'limits',
  'facts',
  'threat-model',
];

/** The sections of the site with their pages. Guides that are not in the list above come last. */
export const sections = [
  { name: 'Start', documents: ['README.md', ...markdownIn('docs/start'), 'CHANGELOG.md'] },
  { name: 'Guides', documents: guides() },
  { name: 'Constructs', documents: ['dist/reference/README.md', ...markdownIn('dist/reference/constructs')] },
  { name: 'Doors', documents: [...markdownIn('dist/reference').slice(1), 'docs/glossary.md'] },
  {
    name: 'Project',
    documents: ['docs/architecture.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CODE_OF_CONDUCT.md', 'release/README.md'],
  },
  { name: 'Decisions', documents: markdownIn('docs/decisions') },
  { name: 'Examples', documents: examples() },
].map(({ name, documents }) => ({ name, pages: documents.map(pageOf) }));

const pages = sections.flatMap((section) => section.pages);
const addresses = new Map(pages.map(({ document, address }) => [document, address]));

function guides() {
  const documents = markdownIn('docs/guides');
  const order = (document) =>
    (GUIDES.indexOf(posix.basename(document, '.md')) + GUIDES.length + 1) % (GUIDES.length + 1);
  return documents.sort((a, b) => order(a) - order(b));
}

function examples() {
  const folders = readdirSync(join(ROOT, 'examples')).sort();
  return folders.map((name) => `examples/${name}/README.md`).filter((document) => existsSync(join(ROOT, document)));
}

function markdownIn(folder) {
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.md'));
  return names
    .sort((a, b) => (b === 'README.md') - (a === 'README.md') || (a < b ? -1 : 1))
    .map((name) => `${folder}/${name}`);
}

function pageOf(document) {
  const text = readFileSync(join(ROOT, document), 'utf8');
  const [, title = document] = /^# (.+)$/m.exec(text) ?? [];
  const address = document
    .replace(/^dist\//, '')
    .replace(/README\.md$/, 'index.md')
    .replace(/\.md$/, '.html');
  return { document, address, text, title: title.replaceAll(/<[^>]+>|`/g, '').trim() };
}

/** Converts the link of a document to its target on the site: a page, a picture, or a file in the repository. */
export function linkOn(document, link) {
  if (link.startsWith(SITE)) return relativeTo(document, link.slice(SITE.length));
  if (/^[a-z]+:/i.test(link) && !OURS.test(link)) return link;
  const [path, anchor] = link.split('#');
  const suffix = anchor === undefined ? '' : `#${anchor}`;
  if (path === '') return suffix;
  const file = OURS.test(path) ? path.replace(OURS, '') : posix.join(posix.dirname(document), path);
  const target = addresses.get(file) ?? addresses.get(posix.join(file, 'README.md'));
  if (target !== undefined) return relativeTo(document, target) + suffix;
  if (/^docs\/.*\.(svg|png|json)$/.test(file)) return relativeTo(document, file);
  return `${REPOSITORY}/blob/main/${file.replace(/\/$/, '')}${suffix}`;
}

/**
 * Returns a relative link from a page to an address of the site. With relative links, the site works without a server
 * and in any folder.
 */
export function relativeTo(document, address) {
  return posix.relative(posix.dirname(addresses.get(document)), address);
}
