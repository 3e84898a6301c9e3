import { execFile, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { LocalTable } from '../../../bin/local/assembly/deployment-plan';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { writeItems } from '../../../bin/local/sample/write-items';
import { FunctionLogs } from '../../../bin/local/window/function-logs';
import { shardedConfigs } from '../../../bin/local/window/sharded-configs';
import type { StoredItems } from '../../../bin/local/window/stored-items';
import { startWindow, type Window } from '../../../bin/local/window/window-server';
import type { WindowState } from '../../../bin/local/window/window-state';
import { shardAttributes } from '../../../lib/core';
import { synthesizeWindowApp } from './window-app';

const PRODUCER = 'App/Producer/Function';

const LOOK = join(__dirname, 'look-at-window.mjs');
const DISTURB = join(__dirname, 'disturb-window.mjs');
const inBrowser = process.platform === 'linux' && process.arch === 'x64' ? test : test.skip;

function tableAt({ tables }: LocalStack, path: string): LocalTable {
  return tables.find((table) => table.path === path)!;
}

/** Twelve sessions of a day, in a table that is sharded by its own key. */
async function writeSessions(stack: LocalStack, tableName: string): Promise<void> {
  const { config } = shardedConfigs(stack).find((each) => each.config.tableName === tableName)!;
  for (let n = 0; n < 12; n++) {
    const item = { day: 'monday', session: `s-${n}` };
    const Item = Object.entries({ ...item, ...shardAttributes(config, item) }).map(([name, S]) => [name, { S }]);
    await stack.clients.dynamodb.putItem({ TableName: tableName, Item: Object.fromEntries(Item) });
  }
}

describe('the window of a local stack', () => {
  let app: string;
  let stack: LocalStack;
  let window: Window;

  beforeAll(async () => {
    app = synthesizeWindowApp({ shardCount: 4 });
    const logs = new FunctionLogs();
    stack = await startLocal({ app, gates: { limits: 0.1 }, onFunctionLog: logs.sink });
    window = await startWindow(stack, stack.gates!, logs);
    const [jobs, sessions] = ['App/Jobs', 'App/Sessions'].map((path) => tableAt(stack, path)) as [
      LocalTable,
      LocalTable,
    ];
    const items = Array.from({ length: 40 }, (_, n) => ({
      jobId: `job-${n}`,
      status: n % 2 === 0 ? 'pending' : 'failed',
      tenant: `tenant-${n % 3}`,
      createdAt: `2026-01-01T00:00:${String(n).padStart(2, '0')}Z`,
      data: 'x'.repeat(3_000),
    }));
    await writeItems(stack, jobs.name, items);
    await writeSessions(stack, sessions.name);
    // An item that a plain update gave its value: no shard, so no query finds it.
    const Item = { jobId: { S: 'stray' }, status: { S: 'pending' }, createdAt: { S: '2026-01-02T00:00:00Z' } };
    await stack.ungatedClients.dynamodb.putItem({ TableName: jobs.name, Item });
  }, 120_000);
  afterAll(async () => {
    await window?.stop();
    await stack?.stop();
    rmSync(app, { recursive: true });
  });

  /** What is answered to a request as a browser, or anybody, sends it. */
  function status(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<number> {
    const { hostname, port } = new URL(window.url);
    return new Promise((resolve, reject) => {
      const request = httpRequest({ hostname, port, path, method, headers }, (response) => {
        response.destroy();
        resolve(response.statusCode!);
      });
      request.once('error', reject).end();
    });
  }

  async function nextState(search = ''): Promise<WindowState> {
    const response = await fetch(`${window.url}events?${new URLSearchParams({ search })}`);
    let text = '';
    for await (const chunk of response.body!) {
      text += Buffer.from(chunk).toString();
      if (text.includes('\n\n')) break;
    }
    return JSON.parse(text.slice('data: '.length, text.indexOf('\n\n')));
  }

  test('is for who has the token, at its own address, from no other page', async () => {
    const { pathname, host } = new URL(window.url);
    expect(await status(pathname)).toBe(200);
    expect(await status('/')).toBe(404);
    expect(await status(pathname.replace(/.\/$/, '_/'))).toBe(404);
    expect(await status(`${pathname}page.js`, { host: 'attacker.example' })).toBe(403);
    expect(await status(`${pathname}invoke`, { origin: 'https://attacker.example' }, 'POST')).toBe(403);
    expect(await status(`${pathname}invoke`, { origin: `http://${host}` }, 'GET')).toBe(404);
    expect(await status(`${pathname}../../package.json`)).toBe(404);
    expect(await status(`${pathname}constructor`)).toBe(404);
  });

  test('says what is wrong with what it is sent', async () => {
    const send = async (action: string, body: string) => {
      const response = await fetch(window.url + action, { method: 'POST', body });
      return [response.status, ((await response.json()) as { problem: string }).problem];
    };
    expect(await send('load', '{')).toEqual([400, expect.stringMatching(/body must be JSON/)]);
    expect(await send('load', '{"way":"naive"}')).toEqual([
      400,
      expect.stringMatching(/way must be producer or registry or put-records/),
    ]);
    expect(await send('invoke', '{"name":"Nobody"}')).toEqual([
      400,
      expect.stringMatching(/name must be one of the functions/),
    ]);
  });

  test('knows each shard, the writes of each shard of each index, and its limits', async () => {
    const state = await nextState();
    expect(state.limits).toEqual({ recordsPerSecond: 100, bytesPerSecond: 100_000, writeUnitsPerSecond: 100 });
    const [stream] = state.streams;
    expect(stream!.shards.map(({ from, to }) => [from, to])).toEqual([
      [0, 0.25],
      [0.25, 0.5],
      [0.5, 0.75],
      [0.75, 1],
    ]);
    const byStatus = state.indexes.find(({ index }) => index === 'byStatus')!;
    const writes = (value: string) =>
      byStatus.entries.filter((entry) => entry.value === value).reduce((sum, { count }) => sum + count, 0);
    expect([writes('pending'), writes('failed')]).toEqual([20, 20]);
    const byTime = state.indexes.find(({ index }) => index === 'byTime')!;
    expect(byTime.entries.reduce((sum, { count }) => sum + count, 0)).toBe(40);
    expect(state.tables.find(({ path }) => path === 'App/Jobs')).toMatchObject({ count: 40, throttled: 0 });
    const sessions = state.indexes.find(({ path }) => path === 'App/Sessions')!;
    expect(sessions.entries.map(({ value }) => value)).toEqual(['monday', 'monday', 'monday']);
    expect(sessions.entries.reduce((sum, { count }) => sum + count, 0)).toBe(12);
    expect(state.indexes.map(({ counts }) => counts)).toEqual([
      undefined,
      { maximum: 8, values: 0, latest: [] },
      undefined,
      undefined,
    ]);
  });

  test('counts what an index stores, and refuses one that the app does not have', async () => {
    const ask = async (index: string) => {
      const body = JSON.stringify({ path: 'App/Jobs', index });
      return (await fetch(`${window.url}stored`, { method: 'POST', body })).json();
    };
    const { values, strays, hidden } = (await ask('byTime')) as StoredItems;
    const items = values.flatMap(({ itemsOfShards }) => Object.values(itemsOfShards));
    expect(items.reduce((sum, count) => sum + count, 0)).toBe(40);
    expect({ missing: strays.missing, hidden }).toEqual({ missing: 1, hidden: 1 });
    expect(await ask('byNothing')).toEqual({
      problem: expect.stringMatching(
        /index must be one of byStatus of App\/Jobs, byTenant of App\/Jobs, byTime of App\/Jobs, App\/Sessions/,
      ),
    });
  });

  test('tells the busiest of 10,000 values, and the writes of all', async () => {
    const { arn } = stack.tables.find(({ path }) => path === 'App/Jobs')!;
    const { traffic } = stack.gates!;
    const before = traffic.total(`writes ${arn}/index/byStatus`).count;
    for (let n = 0; n < 10_000; n++) traffic.note(`writes ${arn}/index/byStatus`, `value-${n}#0`, 1, false);
    for (let n = 0; n < 50; n++) traffic.note(`writes ${arn}/index/byStatus`, 'value-7777#0', 1, false);
    const byStatus = (await nextState()).indexes.find(({ index }) => index === 'byStatus')!;
    expect(byStatus.entries).toHaveLength(1_000);
    expect(byStatus.entries[0]).toMatchObject({ value: 'value-7777', shard: 0, count: 51 });
    expect(byStatus.partitionKeys).toBeGreaterThanOrEqual(10_000);
    expect(traffic.total(`writes ${arn}/index/byStatus`).count).toBe(before + 10_050);
  });

  test('finds one of 10,000 values, however quiet, before others that contain its text in any case', async () => {
    const foundBy = async (search: string) => {
      const state = await nextState(search);
      expect(state.search).toBe(search);
      const { entries, found } = state.indexes.find(({ index }) => index === 'byStatus')!;
      return { found, values: entries.slice(0, 2).map(({ value }) => value) };
    };
    expect(await foundBy('value-123')).toEqual({ found: 11, values: ['value-123', 'value-1230'] });
    expect(await foundBy('VALUE-9999')).toEqual({ found: 1, values: ['value-9999'] });
    expect(await foundBy('value-1')).toMatchObject({ found: 1_111 });
    expect(await foundBy('nothing')).toEqual({ found: 0, values: [] });
  });

  test('names the owners of hash keys, and says where MD5 would put them', async () => {
    const records = Array.from({ length: 40 }, (_, n) => ({
      partitionKey: `order-${n}`,
      hashKeyOwner: `account-${n % 4}`,
      data: 'one',
    }));
    await stack.invoke(PRODUCER, { records });
    await stack.invoke(PRODUCER, { records: [{ partitionKey: 'by-hand', explicitHashKey: '0', data: 'one' }] });
    const keysNow = async () => (await nextState()).streams[0]!.keys;
    let keys = await keysNow();
    while (!keys.some(({ placedBy }) => placedBy === 'registry')) keys = await keysNow();
    const owners = keys.filter(({ placedBy }) => placedBy === 'registry');
    expect(owners.map(({ name, count }) => [name, count]).sort()).toEqual(
      [0, 1, 2, 3].map((n) => [`account-${n}`, 10]),
    );
    // One for each of the four shards, where MD5 of the same names would leave shards without one.
    expect(new Set(owners.map(({ at }) => Math.floor(4 * at))).size).toBe(4);
    expect(new Set(owners.map(({ md5At }) => Math.floor(4 * md5At))).size).toBeLessThan(4);
    expect(keys.find(({ name }) => name === 'by-hand')).toMatchObject({ placedBy: 'hash key', at: 0 });
    expect(keys.some(({ name }) => name.startsWith('order-'))).toBe(false);
  }, 60_000);

  test('remembers a load that runs while nobody looks, and what came of it', async () => {
    const body = JSON.stringify({ way: 'put-records', records: 20, keys: 2, skew: 0, bytes: 10, rate: 20 });
    const load = fetch(`${window.url}load`, { method: 'POST', body });
    const loadsNow = async () => (await nextState()).loads;
    while ((await loadsNow()).length === 0);
    expect(await loadsNow()).toEqual([expect.not.objectContaining({ result: expect.anything() })]);
    const { seconds } = (await (await load).json()) as { seconds: number };
    // Twenty a second, four at a time: the last four go after 0.8 seconds.
    expect(seconds).toBeGreaterThan(0.75);
    expect(await loadsNow()).toEqual([expect.objectContaining({ records: 20, result: expect.anything() })]);
  }, 60_000);

  test('gives the answer of a function, what it wrote and its metrics', async () => {
    const event = { records: [{ partitionKey: 'account-1', data: 'one' }] };
    const body = JSON.stringify({ name: PRODUCER, event });
    const response = await fetch(`${window.url}invoke`, { method: 'POST', body });
    expect(await response.json()).toEqual({
      answer: { failedRecordCount: 0, records: [expect.objectContaining({ attempts: 1 })] },
      ms: expect.any(Number),
      reads: [],
      log: expect.arrayContaining([expect.stringContaining('UserRecordsPut')]),
      metrics: expect.arrayContaining([expect.objectContaining({ UserRecordsPut: 1 })]),
    });
  }, 60_000);

  inBrowser(
    'shows all of it in a browser, to any eye, and lets one load, query, invoke and raise a count',
    async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [LOOK, window.url], { timeout: 500_000 });
      const {
        loads,
        busiest,
        query,
        timeLine,
        requestBars,
        between,
        filtered,
        sessions,
        stored,
        storedCells,
        ...rest
      } = JSON.parse(stdout);
      const { raised, counts, answer, views, requests, errors, gone } = rest;
      expect({ requests, errors }).toEqual({ requests: [new URL(window.url).origin], errors: [] });
      const [naive, ordered, owned] = loads;
      expect(naive[0]).toBe('PutRecords into App/Events');
      expect(Number(naive[4])).toBeGreaterThan(0);
      expect(ordered[0]).toBe(PRODUCER);
      expect(ordered.slice(3)).toEqual(['by itself', '0', '0']);
      expect(owned[0]).toBe(`${PRODUCER}, by registry`);
      expect(owned.slice(3)).toEqual(['by itself', '0', '0']);
      expect(busiest.find(([name]: string[]) => name === 'owner-0')).toMatchObject({
        1: 'registry',
        2: expect.stringMatching(/^[0-3]$/),
      });
      expect(query).toEqual(['5 items', 'What it took']);
      // At least one request for each of the ten shards of the value.
      expect(requestBars).toBeGreaterThanOrEqual(10);
      expect(timeLine).toMatch(new RegExp(`^${requestBars} requests in \\d rounds? over [\\d,.]+ milliseconds$`));
      expect(between.map(([, jobId]: string[]) => jobId)).toEqual(['job-10', 'job-12', 'job-14']);
      expect(filtered.map(([, jobId]: string[]) => jobId)).toEqual(['job-12']);
      expect(sessions.map(([, session]: string[]) => session)).toEqual(['s-0', 's-1', 's-10', 's-11', 's-2']);
      const [values, strays] = stored;
      expect(values.map(([value, , , items]: string[]) => [value, items]).sort()).toEqual([
        ['failed', '20'],
        ['pending', '20'],
      ]);
      // A cell for each shard that has items.
      expect(storedCells).toEqual(values.map(([, used]: string[]) => Number(used)));
      expect(strays).toEqual([
        ['missing', '1'],
        ['found by no query for their value', '1'],
      ]);
      expect(JSON.parse(raised).answer).toMatchObject({ values: [{ value: 'tenant-1', shards: 4 }] });
      expect(counts.picture).toMatch(
        /^tenant-1: writers used 1 of 1 shards, then 1 of 4 at \d+:\d\d, then 4 of 4 at \d+:\d\d$/,
      );
      expect(counts.changes.map(([value, , write, read]: string[]) => [value, write, read])).toEqual([
        ['tenant-1', '4', '4'],
        ['tenant-1', '1', '4'],
      ]);
      expect(answer).toContain('"answer"');
      expect(views).toHaveLength(6);
      for (const { scheme, width, sideways, leastContrast, unnamed, shards, headings, height, pairs, cut } of views) {
        expect({ scheme, width, sideways, unnamed, shards, pairs, cut }).toEqual({
          ...{ scheme, width, shards: 4 },
          ...{ sideways: 0, unnamed: [], pairs: [], cut: [] },
        });
        expect(leastContrast.contrast).toBeGreaterThan(4.5);
        expect(headings).toHaveLength(5);
        // The page is some 9,000 pixels high in the narrowest view. One long attribute that breaks nowhere made it 79,467.
        expect(height).toBeLessThan(20_000);
      }
      expect(gone).toBe('the server has gone; it is tried again');
    },
    540_000,
  );
});

inBrowser(
  'a window stands 1,000 shards, 10,000 values, long names, reloads, a lost network and a closed laptop',
  async () => {
    const app = synthesizeWindowApp({ shardCount: 1_000 });
    const stack = await startLocal({ app, gates: {} });
    const window = await startWindow(stack, stack.gates!, new FunctionLogs());
    const { name, arn } = tableAt(stack, 'App/Jobs');
    const write = (kind: string, count: number) =>
      writeItems(
        stack,
        name,
        Array.from({ length: count }, (_, n) => ({
          ...{ jobId: `${kind}-${n}`, status: kind.repeat(30), createdAt: `${n}`, tenant: 'one' },
        })),
      );
    const steps: Record<string, () => Promise<void>> = {
      'show many': async () => {
        for (let n = 0; n < 10_000; n++) {
          stack.gates!.traffic.note(`writes ${arn}/index/byStatus`, `value-${n}#0`, 1, false);
        }
        await write('long-name-', 100);
        const records = Array.from({ length: 10 }, (_, n) => ({ partitionKey: `${n}`.repeat(200), data: 'x' }));
        await stack.invoke(PRODUCER, { records });
      },
      'write while it is closed': async () => {
        await write('closed', 300);
        // So many states are told meanwhile that whoever keeps them for the page would have a lot.
        await sleep(3_000);
      },
    };
    const browsing = spawn(process.execPath, [DISTURB, window.url], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      let seen: Record<string, unknown> & { what: string } = { what: '' };
      for await (const line of createInterface({ input: browsing.stdout })) {
        seen = JSON.parse(line);
        if (seen.what === 'done') break;
        await steps[seen.what]!();
        browsing.stdin.write('\n');
      }
      const looks = { shards: 1_000, sideways: 0, unnamed: [], pairs: [], cut: [] };
      const load = ['PutRecords into App/Events', '200'];
      expect(seen).toMatchObject({
        what: 'done',
        many: { 1400: looks, 400: looks },
        found: [['value-7777', '1', '0', '1', '1', '0']],
        focused: 'search',
        notFound: expect.stringMatching(/^none of 10,\d\d\d partition keys has a value that contains “no such value”$/),
        whileItRuns: [[...load, 'running', '', '', '']],
        afterIt: [[...load, expect.stringMatching(/^\d/), '0', '0', '0']],
        connection: 'live',
        requests: [new URL(window.url).origin],
        errors: [],
      });
    } finally {
      browsing.kill();
      await window.stop();
      await stack.stop();
      rmSync(app, { recursive: true });
    }
  },
  540_000,
);
