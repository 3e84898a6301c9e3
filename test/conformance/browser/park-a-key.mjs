// Parks a key on the page of a running `even-shards local --serve` and resumes it, as a user does. Prints the observations as JSON.
import { look, openConsole } from './console-browser.mjs';

const [url] = process.argv.slice(2);
const { browser, page, errors, until, rowsOf, fill } = await openConsole(url);

async function put(partitionKey, data) {
  await fill('#put [name=partitionKey]', partitionKey);
  await fill('#put [name=data]', data);
  await page.click('#put button');
  await until(() => !document.querySelector('#put button').disabled);
}

const parkedRows = '#consumer-list > .wide-table:nth-child(2)';
await until(() => !document.querySelector('#put').hidden);
await put('ada', 'poison');
await until((rows) => document.querySelector(`${rows} tbody tr`) !== null, parkedRows);
const [[, , handledBefore]] = await rowsOf('#consumer-list > .wide-table:first-child');
await put('ada', 'behind the poison');
await put('bob', 'beside it');
const isHandled = (before) =>
  Number(document.querySelector('#consumer-list tbody tr').cells[2].textContent) >= Number(before) + 2;
await until(isHandled, handledBefore);
await until((rows) => document.querySelector(`${rows} tbody tr`)?.cells[1].textContent === '2', parkedRows);
const parked = await rowsOf(parkedRows);
const showsPayload = await page.$eval('main', (main) => main.innerText.includes('behind the poison'));
const views = [];
for (const width of [1400, 400]) {
  await page.setViewport({ width, height: 900 });
  views.push(await page.evaluate(look));
}
await page.$eval('[aria-label="skip ada"]', (button) => button.click());
await until((rows) => document.querySelector(rows) === null, parkedRows);
await browser.close();
console.log(JSON.stringify({ parked, showsPayload, views, errors }));
