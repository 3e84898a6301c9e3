// Opens every page of the built site with the width of a phone. Fails if a page scrolls sideways or shows its menu, or if a search does
// not find the expected entries.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launchBrowser } from '../scripts/headless-browser.mjs';
import { ROOT } from './pages.mjs';

const WIDTH = 400;
/** The entries that a search on the first page must find. */
const SEARCHES = [
  ['UniformStream', 'reference/constructs/uniform-stream.html'],
  ['shards_unavailable', 'docs/guides/something-is-wrong.html#shards_unavailable'],
  ['fanOutQuery', 'reference/sharded-index.html#fanoutquery'],
];
const SITE = join(ROOT, 'dist/site');

if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.warn(`no page was looked at: the headless browser of npm runs on Linux x64, this is ${process.platform}`);
  process.exit(0);
}
const browser = await launchBrowser();
const page = await browser.newPage();
await page.setViewport({ width: WIDTH, height: 800 });
const names = readdirSync(SITE, { recursive: true }).filter((name) => name.endsWith('.html'));
const wide = [];
for (const name of names) {
  await page.goto(pathToFileURL(join(SITE, name)).href);
  const sideways = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (sideways > 0) wide.push(`${name} by ${sideways} pixels`);
  const isOpen = await page.evaluate(() => document.querySelector('nav details')?.open ?? false);
  if (isOpen) wide.push(`${name} with an open menu`);
}
const lost = [];
for (const [words, address] of SEARCHES) {
  await page.goto(pathToFileURL(join(SITE, 'index.html')).href);
  await page.type('#search', words);
  const selector = `#found a[href="${address}"]`;
  if ((await page.waitForSelector(selector, { timeout: 5_000 }).catch(() => null)) === null) lost.push(words);
}
await browser.close();
if (names.length === 0 || wide.length > 0 || lost.length > 0) {
  console.error(
    `of ${names.length} pages, these are not for ${WIDTH} pixels:\n${wide.join('\n')}\nnot found: ${lost.join(', ')}`,
  );
  process.exit(1);
}
