import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(__dirname, '..', '..');

/**
 * A link to a file of this repository, as an absolute URL. Pages that are also published outside of the repository need
 * this form.
 */
const OURS =
  /^https:\/\/(github\.com\/cdk-even-shards\/cdk-even-shards\/(blob|tree)|raw\.githubusercontent\.com\/cdk-even-shards\/cdk-even-shards)\/main\//;

/** A link to a reference page on the site, as an absolute URL. The repository does not contain these pages. */
const REFERENCE = /^https:\/\/cdk-even-shards\.github\.io\/cdk-even-shards\/reference\//;

/** The links of a document to files that this repository contains. */
export function linksOf(text: string): string[] {
  return allLinks(text).filter((link) => OURS.test(link) || !link.startsWith('http'));
}

/** The links of a document to pages of the reference on the site. */
export function referenceLinksOf(text: string): string[] {
  return allLinks(text).filter((link) => REFERENCE.test(link));
}

/** The broken links of a document. Links to the reference work only after its build. */
export function brokenLinks(document: string, links: readonly string[], root = ROOT): string[] {
  return links.filter((link) => {
    const [path = '', anchor] = link
      .replace(OURS, '/')
      .replace(REFERENCE, '/dist/reference/')
      .replace(/^(\/dist\/reference\/.*)\.html/, '$1.md')
      .replace('/index.md', '/README.md')
      .split('#');
    const target = join(root, path === '' ? document : join(path.startsWith('/') ? '' : dirname(document), path));
    if (!existsSync(target) || anchor === undefined) return !existsSync(target);
    const page = statSync(target).isDirectory() ? join(target, 'README.md') : target;
    return !anchorsOf(readFileSync(page, 'utf8')).includes(anchor);
  });
}

/**
 * The anchors of a page: explicit anchors, and the anchors that GitHub generates from headings. GitHub adds a number to
 * a repeated heading.
 */
export function anchorsOf(page: string): string[] {
  const anchors = [...page.matchAll(/<a id="([^"]+)">/g)].map(([, anchor]) => anchor!);
  const seen = new Map<string, number>();
  for (const [, heading] of page.matchAll(/^#+ (.+)$/gm)) {
    const name = heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const earlier = seen.get(name) ?? 0;
    seen.set(name, earlier + 1);
    anchors.push(earlier === 0 ? name : `${name}-${earlier}`);
  }
  return anchors;
}

function allLinks(text: string): string[] {
  const links = text.matchAll(/\]\(([^)]+)\)|^\[[^\]]+\]: (\S+)$/gm);
  return [...links].map(([, inline, defined]) => inline ?? defined!);
}
