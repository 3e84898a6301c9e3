// Uses the page of `even-shards local --serve` for two minutes in a headless browser, as a user does, and takes a
// screenshot:
//
//     npm run tour [picture]
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { launchBrowser } from './headless-browser.mjs';

const require = createRequire(import.meta.url);
const { AdaptiveIndex, DynamoDbShardCountReader } = require('../dist/lib/core/adaptive-counts/index.js');
const { shardAttributes } = require('../dist/lib/core/sharded-index/index.js');

const [picture = 'docs/guides/console.png'] = process.argv.slice(2);
const app = mkdtempSync(join(tmpdir(), 'tour-app-'));
execFileSync(process.execPath, ['scripts/tour-app.mjs'], { env: { ...process.env, CDK_OUTDIR: app }, stdio: 'pipe' });
const cli = ['dist/bin/even-shards.js', 'local', '--app', app, '--serve', '--json', '--limits', '0.1'];
const local = spawn(process.execPath, cli, { stdio: ['ignore', 'pipe', 'ignore'] });
const [line] = await once(createInterface({ input: local.stdout }), 'line');
const { console: url, endpoints, indexes, tables } = JSON.parse(line);
const browser = await launchBrowser();
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 1600 });
await page.goto(url);
await page.waitForSelector('.bar');

console.log(`the page: ${url}`);
await load((partitionKey) => ({ partitionKey }));
console.log('the producer sends 1,000 records of 20 keys, in order; MD5 places the keys');
await load((partitionKey) => ({ partitionKey, hashKeyOwner: partitionKey }));
console.log('the producer sends them again; a registry places the keys evenly');

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const dynamodb = new DynamoDB({ region: 'us-east-1', credentials, endpoint: endpoints.dynamodb, maxAttempts: 1 });

const REPOSITORIES = ['org-1/repo-1', 'org-2/repo-1', 'org-3/repo-1'];
for (const repository of REPOSITORIES.slice(1)) await addRepository(repository);
for (const number of [1, 2]) await commit(number);
await until('the commits of two repositories are stored', async () =>
  (await stored()).slice(1).every((commits) => commits.length === 2),
);
await until('a key is parked', async () => parked().includes('2 records wait'));
const why = parked()
  .split('\n')
  .find((each) => each.includes('Error'));
console.log(`the commits of org-1/repo-1 wait, and the commits of two other repositories are stored:${why}`);
await addRepository('org-1/repo-1');
console.log(
  `the repository is in the table now. even-shards parked resume: ${parked('resume', 'org-1/repo-1').trim()}`,
);

const config = indexes['Tour/Jobs/byStatus'];
const index = new AdaptiveIndex(config, new DynamoDbShardCountReader(dynamodb, config));

console.log(`the index has one shard: ${await write('before')} of 150 writes to its table throttled`);
// Does the work of the deployed controller. It includes the 45 seconds in which readers load the new counts.
await choose('#invoke select', 'Tour/Controller');
await page.$eval('#invoke textarea', (event) => {
  event.value = '{"value":"pending","count":10}';
});
await page.click('#invoke button');
await page.waitForFunction(() => document.querySelector('#answer').textContent.includes('"to": 10'), {
  timeout: 90_000,
});
console.log(`its count has grown to ten: ${await write('after')} of 150 writes to its table throttled`);

await until('the parked key is retried', async () => parked().startsWith('no key is parked'), 90_000);
const areOrdered = (await stored()).every((commits) => commits.join() === '1,2');
console.log(
  `meanwhile, the commits of org-1/repo-1 were stored; all commits are ${areOrdered ? 'in order' : 'OUT OF ORDER'}`,
);

await choose('#stored select', 'byStatus');
await page.click('#stored button');
await page.waitForSelector('#stored-result table');
const where = ['--app', app, '--kinesis-endpoint', endpoints.kinesis, '--dynamodb-endpoint', endpoints.dynamodb];
const times = evenShards('query', 'byStatus', '--value', 'pending', '--all', '--json', ...where)
  .trim()
  .split('\n')
  .map((each) => JSON.parse(each).createdAt);
const isOrdered = times.length > 0 && times.every((time, at) => at === 0 || times[at - 1] <= time);
console.log(`the items of old and new shards, ${isOrdered ? 'in order' : 'OUT OF ORDER'}`);
await page.evaluate(() => window.scrollTo(0, 0));
await page.screenshot({ path: picture });
console.log(`its picture: ${picture}`);

await browser.close();
dynamodb.destroy();
local.kill('SIGTERM');
rmSync(app, { recursive: true });
process.exitCode = isOrdered && areOrdered ? 0 : 1;

/** Sends the requests that the page sends. */
async function ask(action, input) {
  const response = await fetch(new URL(action, url), { method: 'POST', body: JSON.stringify(input) });
  return response.json();
}

/** Sends a commit of each repository through the producer. */
async function commit(number) {
  const records = REPOSITORIES.map((partitionKey) => ({ partitionKey, data: { commit: number } }));
  const { error } = await ask('invoke', { name: 'Tour/CommitsProducer/Function', event: { records } });
  if (error !== undefined) throw new Error(error);
}

async function addRepository(repository) {
  const Item = { repository: { S: repository }, commits: { L: [] } };
  await dynamodb.putItem({ TableName: tables['Tour/Repositories'], Item });
}

/** For each repository, the numbers of the stored commits. */
async function stored() {
  const TableName = tables['Tour/Repositories'];
  const items = REPOSITORIES.map((repository) =>
    dynamodb.getItem({ TableName, Key: { repository: { S: repository } }, ConsistentRead: true }),
  );
  return (await Promise.all(items)).map(({ Item }) => (Item?.commits.L ?? []).map(({ N }) => N));
}

/** The output of `even-shards parked`. */
function parked(...change) {
  const where = [
    '--table',
    tables['Tour/Consumer/ParkingTable'],
    '--consumer',
    'cache',
    '--endpoint',
    endpoints.dynamodb,
  ];
  return evenShards('parked', ...where, ...change);
}

function evenShards(...args) {
  return execFileSync(process.execPath, ['dist/bin/even-shards.js', ...args], { encoding: 'utf8' });
}

async function until(what, holds, mostMs = 30_000) {
  const end = performance.now() + mostMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${mostMs / 1_000} s: ${what}`);
    await sleep(250);
  }
}

/** Chooses the option whose text begins with this text. */
async function choose(selector, start) {
  const find = (select, text) => [...select.options].find((option) => option.text.startsWith(text)).value;
  await page.select(selector, await page.$eval(selector, find, start));
}

/** Sends records of 20 keys through the producer. The second key has half the records of the first key, and so on. */
async function load(keysOf) {
  const keys = Array.from({ length: 20 }, (_, n) => Array(Math.round(278 / (n + 1))).fill(`key-${n}`)).flat();
  for (let start = 0; start < keys.length; start += 40) {
    const records = keys.slice(start, start + 40).map((partitionKey) => ({ ...keysOf(partitionKey), data: 'x' }));
    const { answer, error } = await ask('invoke', { name: 'Tour/Producer/Function', event: { records } });
    if (answer?.failedRecordCount !== 0) throw new Error(error ?? JSON.stringify(answer));
  }
}

/**
 * Writes jobs of 5 KB with the same status, in parallel and with the current shard counts. Returns the number of
 * throttled writes.
 */
async function write(name) {
  const resolved = await index.forWriting();
  const puts = Array.from({ length: 150 }, (_, n) => {
    const job = {
      jobId: `${name}-${n}`,
      status: 'pending',
      createdAt: new Date(1_767_225_600_000 + 60_000 * n).toISOString(),
      data: 'x'.repeat(5_000),
    };
    const attributes = { ...job, ...shardAttributes(resolved, job) };
    const Item = Object.fromEntries(Object.entries(attributes).map(([attribute, value]) => [attribute, { S: value }]));
    return dynamodb.putItem({ TableName: config.tableName, Item });
  });
  const settled = await Promise.allSettled(puts);
  return settled.filter((put) => put.status === 'rejected').length;
}
