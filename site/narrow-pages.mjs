// Opens every page of the built site as wide as a telephone, and fails if one of them scrolls sideways.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import chromium from '@sparticuz/chromium';
import puppeteer from 'puppeteer-core';
import { ROOT } from './pages.mjs';

const WIDTH = 400;
const SITE = join(ROOT, 'dist/site');

if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.warn(`no page was looked at: the headless browser of npm runs on Linux x64, this is ${process.platform}`);
  process.exit(0);
}
const browser = await puppeteer.launch({
  headless: 'shell',
  args: chromium.args,
  executablePath: await chromium.executablePath(),
});
const page = await browser.newPage();
await page.setViewport({ width: WIDTH, height: 800 });
const names = readdirSync(SITE, { recursive: true }).filter((name) => name.endsWith('.html'));
const wide = [];
for (const name of names) {
  await page.goto(pathToFileURL(join(SITE, name)).href);
  const sideways = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (sideways > 0) wide.push(`${name} by ${sideways} pixels`);
}
await browser.close();
if (names.length === 0 || wide.length > 0) {
  console.error(`of ${names.length} pages, these scroll sideways at ${WIDTH} pixels:\n${wide.join('\n')}`);
  process.exit(1);
}
