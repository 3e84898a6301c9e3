// Plays a minute on the page of `even-shards local --serve`, in a headless browser, and takes its picture:
//
//     npm run tour [picture]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import chromium from '@sparticuz/chromium';
import puppeteer from 'puppeteer-core';

const [picture = 'docs/guides/window.png'] = process.argv.slice(2);
const cli = ['dist/bin/even-shards.js', 'local', '--serve', '--json', '--limits', '0.1'];
const local = spawn(process.execPath, cli, { stdio: ['ignore', 'pipe', 'ignore'] });
const [line] = await once(createInterface({ input: local.stdout }), 'line');
const { window: url, endpoints, tables } = JSON.parse(line);
const browser = await puppeteer.launch({
  headless: 'shell',
  args: chromium.args,
  executablePath: await chromium.executablePath(),
});
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 1500 });
await page.goto(url);
await page.waitForSelector('.bar');

console.log(`the page: ${url}`);
const [, , , , naive] = await load('PutRecords');
console.log(`PutRecords, as people write it: ${naive} records out of order`);
const [, , , , ordered] = await load('EvenShards/Producer');
console.log(`the ordered producer: ${ordered} records out of order`);

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const dynamodb = new DynamoDB({ region: 'us-east-1', credentials, endpoint: endpoints.dynamodb, maxAttempts: 1 });
console.log(`a status with one shard: ${await write('archived', 1)} of 150 writes to the table throttled`);
console.log(`a status with ten shards: ${await write('pending', 10)} of 150 writes to the table throttled`);

await choose('#query [name=index]', 'byStatus');
await page.type('#query [name=value]', 'pending');
await page.click('#query button[type=submit]');
await page.waitForSelector('#query-result table');
console.log('a page of the sharded status, in order');
await new Promise((resolve) => setTimeout(resolve, 1_000));
await page.evaluate(() => window.scrollTo(0, 0));
await page.screenshot({ path: picture });
console.log(`its picture: ${picture}`);

await browser.close();
dynamodb.destroy();
local.kill('SIGTERM');

/** Chooses the option whose text begins so. */
async function choose(selector, start) {
  const find = (select, text) => [...select.options].find((option) => option.text.startsWith(text)).value;
  await page.select(selector, await page.$eval(selector, find, start));
}

/** Lets the page put a load; returns its row. */
async function load(through) {
  await choose('#load select', through);
  const before = await page.$$eval('#loads tbody tr', (rows) => rows.length);
  await page.click('#load button');
  await page.waitForFunction(
    (n) => document.querySelectorAll('#loads tbody tr').length > n,
    { timeout: 120_000 },
    before,
  );
  return page.$eval('#loads tbody tr', (row) => [...row.cells].map((cell) => cell.textContent));
}

/** Writes jobs of 5 KB with a status that has so many shards; returns how many were throttled. */
async function write(status, shards) {
  const { indexes } = await page.evaluate(async () => (await fetch('app', { method: 'POST', body: '{}' })).json());
  const byStatus = indexes.find(({ index }) => index === 'byStatus');
  const puts = Array.from({ length: 150 }, (_, n) => {
    const attributes = {
      jobId: `${status}-${n}`,
      status,
      createdAt: new Date(1_767_225_600_000 + 60_000 * n).toISOString(),
      data: 'x'.repeat(5_000),
      [byStatus.partition.at(-1)]: `${status}#${n % shards}`,
    };
    const Item = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, { S: value }]));
    return dynamodb.putItem({ TableName: tables['EvenShards/Jobs'], Item });
  });
  const settled = await Promise.allSettled(puts);
  return settled.filter((put) => put.status === 'rejected').length;
}
