// Puts a poison record, waits until the page of a running `even-shards local --serve` shows its parked key, and skips the
// record on the page, as a user does. Prints the observations as JSON.
import { Kinesis } from '@aws-sdk/client-kinesis';
import { look, openConsole } from './console-browser.mjs';

const [url, endpoint, StreamName] = process.argv.slice(2);
const { browser, page, errors, until, rowsOf } = await openConsole(url);
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const kinesis = new Kinesis({ endpoint, credentials, region: 'us-east-1' });

function put(PartitionKey, text) {
  return kinesis.putRecord({ StreamName, PartitionKey, Data: Buffer.from(text) });
}

const parkedRows = '#consumer-list > .wide-table:nth-child(2)';
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
const [[, , , , , , lastProblem]] = await rowsOf('#consumer-list > .wide-table:first-child');
const showsPayload = await page.$eval('main', (main) => main.innerText.includes('behind the poison'));
const views = [];
for (const width of [1400, 400]) {
  await page.setViewport({ width, height: 900 });
  views.push(await page.evaluate(look));
}
await page.$eval('[aria-label="skip ada"]', (button) => button.click());
await until((rows) => document.querySelector(rows) === null, parkedRows);
await browser.close();
kinesis.destroy();
console.log(JSON.stringify({ parked, lastProblem, showsPayload, views, errors }));
