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

/** Chooses the option whose text begins so. */
const choose = (selector, start) =>
  page.$eval(
    selector,
    (select, text) => {
      select.value = [...select.options].find((option) => option.text.startsWith(text)).value;
      select.dispatchEvent(new Event('change'));
    },
    start,
  );
const fill = (selector, text) =>
  page.$eval(
    selector,
    (input, value) => {
      input.value = value;
    },
    text,
  );

const loads = [];
for (const through of ['PutRecords', 'EvenShards/Producer']) {
  await choose('#load select', through);
  await fill('#load [name=records]', '600');
  await page.click('#load button');
  await until((n) => document.querySelectorAll('#loads tbody tr').length > n, loads.length);
  loads.push(await page.$eval('#loads tbody tr', (row) => [...row.cells].map((cell) => cell.textContent)));
}

const ask = async () => {
  await page.$eval('#query-result', (place) => place.replaceChildren());
  await page.click('#query button[type=submit]');
  await until(() => document.querySelector('#query-result tbody') !== null);
};
const rowsOf = (selector) =>
  page.$$eval(`${selector} tbody tr`, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
await choose('#query [name=index]', 'byStatus');
await fill('#query [name=value]', 'pending');
await fill('#query [name=limit]', '5');
await ask();
const timeLine = await textOf('#query-result figcaption');
const requestBars = await page.$$eval('.time-line rect', (bars) => bars.length);
const firstPage = await textOf('#query-result tbody');
await page.click('#next-page');
await until((first) => document.querySelector('#query-result tbody').textContent !== first, firstPage);
const query = await page.$$eval('#query-result .caption', (captions) => captions.map(({ textContent }) => textContent));
await choose('#query [name="operator createdAt"]', 'between');
await fill('#query [name="from createdAt"]', '2026-01-01T00:00:10Z');
await fill('#query [name="to createdAt"]', '2026-01-01T00:00:14Z');
await ask();
const between = await rowsOf('#query-result > .wide-table');
await fill('#query [name=filterAttribute]', 'jobId');
await fill('#query [name=filterValue]', 'job-12');
await ask();
const filtered = await rowsOf('#query-result > .wide-table');

await choose('#stored select', 'byStatus');
await page.click('#stored button');
await until(() => document.querySelectorAll('#stored-result table').length === 2);
const stored = [await rowsOf('#stored-result > :nth-child(1)'), await rowsOf('#stored-result > :nth-child(2)')];

// By keyboard alone.
await page.focus('#invoke textarea');
await page.keyboard.press('Tab');
await page.keyboard.press('Enter');
await until(() => document.querySelector('#answer').textContent !== '');
const answer = await textOf('#answer');

const views = [];
for (const scheme of ['light', 'dark']) {
  for (const width of [1400, 800, 400]) {
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
await page.reload();
await until(isLive);
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
      partitionKeys: 10_000,
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
const done = { loads, query, timeLine, requestBars, between, filtered, stored, answer, views };
console.log(JSON.stringify({ ...done, requests: [...requests], errors: seenErrors, gone, many }));

/** Runs in the page. */
function look() {
  const texts = [
    ...document.querySelectorAll(
      'h1, h2, h3, p, a, th, td, b, legend, figcaption, label, button, input, select, textarea, pre',
    ),
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
    height: document.documentElement.scrollHeight,
    ...overlaps(),
    headings: [...document.querySelectorAll('h2')].map(({ textContent }) => textContent),
  };

  /** Texts that lie on one another, and texts that are cut where nothing scrolls and no dots say so. */
  function overlaps() {
    const places = [];
    const cut = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement: element, textContent } = walker.currentNode;
      if (textContent.trim() === '' || element.closest('option, script, title, textarea') !== null) continue;
      const range = document.createRange();
      range.selectNodeContents(walker.currentNode);
      for (const rect of range.getClientRects()) {
        const box = visible(rect, element);
        if (box.right - box.left > 1 && box.bottom - box.top > 1) places.push({ element, text: textContent, ...box });
      }
      const style = getComputedStyle(element);
      const isCut = element.scrollWidth > element.clientWidth + 1 && style.overflowX === 'hidden';
      if (isCut && style.textOverflow !== 'ellipsis') cut.push(textContent.slice(0, 40));
    }
    for (const field of document.querySelectorAll('input, select, textarea, button, svg')) {
      const { left, right, top, bottom } = field.getBoundingClientRect();
      places.push({ element: field, text: field.name ?? field.tagName, left, right, top, bottom });
    }
    const pairs = [];
    for (const [at, a] of places.entries()) {
      for (const b of places.slice(at + 1)) {
        if (a.element === b.element || a.element.contains(b.element) || b.element.contains(a.element)) continue;
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        // Lines of text touch: their boxes are higher than their letters.
        if (across > 1 && down > 3) pairs.push(`${a.text.slice(0, 40)} on ${b.text.slice(0, 40)}`);
      }
    }
    return { pairs, cut };
  }

  /** What is left of a box within what it is in: the rest is scrolled away or has dots in its place. */
  function visible({ left, right, top, bottom }, element) {
    const box = { left, right, top, bottom };
    for (let around = element; around !== null; around = around.parentElement) {
      if (getComputedStyle(around).overflowX === 'visible') continue;
      const outer = around.getBoundingClientRect();
      box.left = Math.max(box.left, outer.left);
      box.right = Math.min(box.right, outer.right);
      box.top = Math.max(box.top, outer.top);
      box.bottom = Math.min(box.bottom, outer.bottom);
    }
    return box;
  }
}
