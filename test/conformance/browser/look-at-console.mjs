// Uses the page of a running `even-shards local --serve` in a headless browser as a user does. Prints the observations as JSON.
import { look, openConsole } from './console-browser.mjs';

const [url, picture] = process.argv.slice(2);
const { browser, page, requests, errors, until, isLive, textOf, rowsOf, choose, fill } = await openConsole(url);

// The controller takes 45 seconds to increase a count: first for readers, then for writers.
await choose('#invoke select', 'App/Controller');
await fill('#invoke textarea', '{"value":"tenant-1","count":4}');
await page.click('#invoke button');

await until(() =>
  [...document.querySelectorAll('#stream-list td')].some(({ textContent }) => textContent === 'registry'),
);
const busiest = await rowsOf('#stream-list .wide-table:last-child');

await choose('#stored select', 'byStatus');
await page.click('#stored button');
await until(() => document.querySelectorAll('#stored-result table').length === 2);
const stored = [await rowsOf('#stored-result > :nth-child(2)'), await rowsOf('#stored-result > :nth-child(3)')];
const storedCells = await page.$$eval('#stored-result .heat svg', (rows) =>
  rows.map((row) => row.querySelectorAll('.hot').length),
);

await until(() => document.querySelector('#answer').textContent !== '');
await until(() => document.querySelectorAll('.counts + .wide-table tbody tr').length === 2);
const raised = await textOf('#answer');
const counts = {
  picture: await page.$eval('.histories svg', (svg) => svg.getAttribute('aria-label')),
  changes: await rowsOf('.counts + .wide-table'),
};

// The user uses only the keyboard.
await fill('#invoke textarea', '{}');
await page.$eval('#answer', (place) => place.replaceChildren());
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
await isLive();
const seenErrors = [...errors];

// The server stops and starts again.
let isGone = true;
await page.setRequestInterception(true);
page.on('request', (request) => (isGone && request.url().includes('/events') ? request.abort() : request.continue()));
await page.reload();
await until(() => document.querySelector('#connection').className === 'lost');
const gone = await textOf('#connection');
isGone = false;
await isLive();
await browser.close();
const done = { busiest, stored, storedCells, raised, counts, answer };
console.log(JSON.stringify({ ...done, views, requests: [...requests], errors: seenErrors, gone }));
