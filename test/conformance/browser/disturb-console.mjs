// Tests the page under disturbances: many values, many shards, reloads, a lost network, and a suspended browser. Prints
// the observations as JSON.
import { createInterface } from 'node:readline';
import { look, openConsole } from './console-browser.mjs';

const [url] = process.argv.slice(2);
const { browser, page, requests, errors, until, isLive, textOf, rowsOf, fill } = await openConsole(url);

/** When this program prints a request, the parent process writes to the stack, and confirms the write with a line. */
const confirmations = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function request(what) {
  console.log(JSON.stringify({ what }));
  await confirmations.next();
}

/** The number of writes to the table of jobs, as the page shows it. */
const writesShown = async () => {
  const tables = await rowsOf('#index-list > .wide-table');
  return Number(tables.find(([path]) => path === 'App/Jobs')[1]);
};

await request('show many');
await until(() => document.querySelectorAll('.bar .shard').length === 1_000);
await until(() => /10,\d\d\d partition keys$/.test(document.querySelector('#index-list .note').textContent));
const many = {};
for (const width of [1400, 400]) {
  await page.setViewport({ width, height: 900 });
  many[width] = await page.evaluate(look);
}
await page.setViewport({ width: 1280, height: 900 });

// The user uses only the keyboard, from the top of the page to the search, and finds a value with few writes.
await page.evaluate(() => document.activeElement.blur());
let tabs = 0;
while ((await page.evaluate(() => document.activeElement.name)) !== 'search' && tabs++ < 40)
  await page.keyboard.press('Tab');
await page.keyboard.type('value-7777');
await page.keyboard.press('Enter');
await until(() => document.querySelector('#found').textContent === '1 partition keys found');
const found = await rowsOf('#index-list article .wide-table');
const focused = await page.evaluate(() => document.activeElement.name);
await page.keyboard.down('Control');
await page.keyboard.press('a');
await page.keyboard.up('Control');
await page.keyboard.type('no such value');
await until(() => document.querySelector('#found').textContent === '0 partition keys found');
const notFound = await textOf('#index-list .note');
await fill('#find input', '');
await page.$eval('#find input', (input) => input.dispatchEvent(new Event('input')));
await until(() => document.querySelector('#found').textContent === '');

// The network fails, and the browser shows its own error page. When the network works again, the page opens as usual.
await page.setOfflineMode(true);
await page.reload().catch(() => {});
await page.setOfflineMode(false);
await page.goto(url);
await isLive();
const seenErrors = [...errors];

// A closed laptop: the browser is suspended while 300 items are written.
const before = await writesShown();
const { pid } = browser.process();
process.kill(pid, 'SIGSTOP');
await request('write while it is closed');
process.kill(pid, 'SIGCONT');
while ((await writesShown()) < before + 300);
const connection = await textOf('#connection');
await browser.close();
const done = { many, found, focused, tabs, notFound, connection };
console.log(JSON.stringify({ what: 'done', ...done, requests: [...requests], errors: seenErrors }));
process.exit();
