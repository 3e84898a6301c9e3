// Uses the page of a running `even-shards local --serve` as a person does, in a headless browser; prints what it saw.
import chromium from '@sparticuz/chromium';
import puppeteer from 'puppeteer-core';
import { defineContrast } from '../define-contrast.mjs';

const [url, picture] = process.argv.slice(2);
const browser = await puppeteer.launch({
  headless: 'shell',
  args: chromium.args,
  executablePath: await chromium.executablePath(),
});
const page = await browser.newPage();
await page.evaluateOnNewDocument(defineContrast);
const requests = new Set();
const errors = [];
page.on('request', (request) => requests.add(new URL(request.url()).origin));
page.on('console', (message) => errors.push(message.text()));
page.on('pageerror', (error) => errors.push(String(error)));

const textOf = (selector) => page.$eval(selector, (element) => element.textContent);
const until = (condition, ...values) => page.waitForFunction(condition, { timeout: 90_000 }, ...values);
const isLive = () =>
  document.querySelector('#connection').textContent === 'live' && document.querySelector('.bar') !== null;

await page.setViewport({ width: 1280, height: 900 });
await page.goto(url);
await until(isLive);

const loads = [];
for (const way of ['put-records', 'producer']) {
  await page.select('#load select', way);
  await page.$eval('#load [name=records]', (input) => {
    input.value = '600';
  });
  await page.click('#load button');
  await until((n) => document.querySelectorAll('#loads tr').length > n, loads.length);
  loads.push(await page.$eval('#loads tr', (row) => [...row.cells].map((cell) => cell.textContent)));
}

await page.type('#query [name=value]', 'pending');
await page.select('#query [name=index]', 'byStatus');
await page.$eval('#query [name=limit]', (input) => {
  input.value = '5';
});
await page.click('#query button');
await until(() => document.querySelector('#query-result caption') !== null);
const firstPage = await textOf('#query-result tbody');
await page.click('#next-page');
await until((first) => document.querySelector('#query-result tbody').textContent !== first, firstPage);
const query = await page.$$eval('#query-result caption', (captions) => captions.map(({ textContent }) => textContent));

// By keyboard alone.
await page.focus('#invoke textarea');
await page.keyboard.press('Tab');
await page.keyboard.press('Enter');
await until(() => document.querySelector('#answer').textContent !== '');
const answer = await textOf('#answer');

await page.reload();
await until(isLive);
const views = [];
for (const scheme of ['light', 'dark']) {
  for (const width of [1400, 400]) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.setViewport({ width, height: 900 });
    await new Promise((resolve) => setTimeout(resolve, 700));
    views.push({ scheme, width, ...(await page.evaluate(look)) });
  }
}
if (picture !== undefined) {
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
  await page.setViewport({ width: 1280, height: 900 });
  await page.screenshot({ path: picture });
}
const seenErrors = [...errors];

// A server that has gone, and comes back with 1,000 shards and as many values as it tells of.
const load = { count: 1, amount: 1, throttled: 0 };
const large = {
  atMs: 1,
  streams: [
    {
      path: 'Large/Events',
      shards: Array.from({ length: 1_000 }, (_, n) => ({
        shardId: `shard-${n}`,
        from: n / 1_000,
        to: (n + 1) / 1_000,
        ...load,
      })),
      keys: Array.from({ length: 10 }, (_, n) => ({ key: 'k'.repeat(200), at: n / 10, isPlaced: false, ...load })),
    },
  ],
  indexes: [
    {
      path: 'Large/Table',
      index: 'byValue',
      entries: Array.from({ length: 1_000 }, (_, n) => ({ value: `value-${n}`, shard: n % 7, ...load })),
      shardCounts: { default: { write: 7, read: 7 } },
    },
  ],
  tables: [],
};
let isGone = true;
await page.setRequestInterception(true);
page.on('request', (request) => {
  if (!request.url().endsWith('/events')) return request.continue();
  if (isGone) return request.abort();
  return request.respond({ contentType: 'text/event-stream', body: `data: ${JSON.stringify(large)}\n\n` });
});
await page.reload();
await until(() => document.querySelector('#connection').className === 'lost');
const gone = await textOf('#connection');
isGone = false;
await until(() => document.querySelectorAll('.bar .shard').length === 1_000);
const many = await page.evaluate(look);
await browser.close();
console.log(JSON.stringify({ loads, query, answer, views, requests: [...requests], errors: seenErrors, gone, many }));

/** Runs in the page. */
function look() {
  const texts = [
    ...document.querySelectorAll('h1, h2, h3, p, a, th, td, caption, label, button, input, select, textarea'),
  ];
  const contrasts = texts.map((element) => ({
    text: element.textContent || element.name,
    contrast: globalThis.contrastOf(element),
  }));
  const unnamed = [...document.querySelectorAll('input, select, textarea, svg[role=img], [role=region]')].filter(
    (element) => !element.getAttribute('aria-label') && !element.closest('label'),
  );
  return {
    sideways: document.documentElement.scrollWidth - window.innerWidth,
    leastContrast: contrasts.reduce((least, each) => (each.contrast < least.contrast ? each : least)),
    unnamed: unnamed.map(({ outerHTML }) => outerHTML.slice(0, 80)),
    shards: document.querySelectorAll('.bar .shard').length,
    headings: [...document.querySelectorAll('h2')].map(({ textContent }) => textContent),
  };
}
