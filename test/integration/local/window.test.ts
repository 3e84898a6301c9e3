import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { writeItems } from '../../../bin/local/sample/write-items';
import { FunctionLogs } from '../../../bin/local/window/function-logs';
import type { StoredItems } from '../../../bin/local/window/stored-items';
import { startWindow, type Window } from '../../../bin/local/window/window-server';
import type { WindowState } from '../../../bin/local/window/window-state';
import { indexConfig, PRODUCER, synthesizeReferenceApp } from '../reference-app';

const LOOK = join(__dirname, 'look-at-window.mjs');
const runs = process.platform === 'linux' && process.arch === 'x64';

describe('the window of a local stack', () => {
  let app: string;
  let stack: LocalStack;
  let window: Window;

  beforeAll(async () => {
    app = synthesizeReferenceApp();
    const logs = new FunctionLogs();
    stack = await startLocal({ app, gates: { limits: 0.1 }, onFunctionLog: logs.sink });
    window = await startWindow(stack, stack.gates!, logs);
    const { tableName } = indexConfig(stack, 'byStatus');
    const items = Array.from({ length: 40 }, (_, n) => ({
      jobId: `job-${n}`,
      status: n % 2 === 0 ? 'pending' : 'failed',
      createdAt: `2026-01-01T00:00:${String(n).padStart(2, '0')}Z`,
      data: 'x'.repeat(3_000),
    }));
    await writeItems(stack, tableName, items);
    // An item that a plain update gave its value: no shard, so no query finds it.
    const Item = { jobId: { S: 'stray' }, status: { S: 'pending' }, createdAt: { S: '2026-01-02T00:00:00Z' } };
    await stack.ungatedClients.dynamodb.putItem({ TableName: tableName, Item });
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

  async function nextState(): Promise<WindowState> {
    const response = await fetch(`${window.url}events`);
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
      expect.stringMatching(/way must be producer or put-records/),
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
    expect(state.tables.find(({ path }) => path === 'EvenShards/Jobs')).toMatchObject({ count: 40, throttled: 0 });
  });

  test('counts what an index stores, and refuses one that the app does not have', async () => {
    const ask = async (index: string) => {
      const body = JSON.stringify({ path: 'EvenShards/Jobs', index });
      return (await fetch(`${window.url}stored`, { method: 'POST', body })).json();
    };
    const { values, strays, hidden } = (await ask('byTime')) as StoredItems;
    const items = values.flatMap(({ itemsOfShards }) => Object.values(itemsOfShards));
    expect(items.reduce((sum, count) => sum + count, 0)).toBe(40);
    expect({ missing: strays.missing, hidden }).toEqual({ missing: 1, hidden: 1 });
    expect(await ask('byNothing')).toEqual({
      problem: expect.stringMatching(/index must be one of byStatus of EvenShards\/Jobs, byTime of EvenShards\/Jobs/),
    });
  });

  test('tells the busiest of 10,000 values, and the writes of all', async () => {
    const { arn } = stack.tables.find(({ path }) => path === 'EvenShards/Jobs')!;
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

  const inBrowser = runs ? test : test.skip;
  inBrowser(
    'shows all of it in a browser, to any eye, and lets one load, query and invoke',
    async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [LOOK, window.url], { timeout: 200_000 });
      const { loads, query, timeLine, requestBars, between, filtered, stored, answer, views, requests, ...rest } =
        JSON.parse(stdout);
      const { errors, gone, many } = rest;
      expect({ requests, errors }).toEqual({ requests: [new URL(window.url).origin], errors: [] });
      const [naive, ordered] = loads;
      expect(naive[0]).toBe('PutRecords into EvenShards/Events');
      expect(Number(naive[4])).toBeGreaterThan(0);
      expect(ordered[0]).toBe(PRODUCER);
      expect(ordered.slice(3)).toEqual(['by itself', '0', '0']);
      expect(query).toEqual(['5 items', 'What it took']);
      // At least one request for each of the ten shards of the value.
      expect(requestBars).toBeGreaterThanOrEqual(10);
      expect(timeLine).toMatch(new RegExp(`^${requestBars} requests in \\d rounds? over [\\d,.]+ milliseconds$`));
      expect(between.map(([, jobId]: string[]) => jobId)).toEqual(['job-10', 'job-12', 'job-14']);
      expect(filtered.map(([, jobId]: string[]) => jobId)).toEqual(['job-12']);
      const [values, strays] = stored;
      expect(values.map(([value, , , items]: string[]) => [value, items]).sort()).toEqual([
        ['failed', '20'],
        ['pending', '20'],
      ]);
      expect(strays).toEqual([
        ['missing', '1'],
        ['found by no query for their value', '1'],
      ]);
      expect(answer).toContain('"error"');
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
      expect(many).toMatchObject({ shards: 1_000, sideways: 0, unnamed: [], pairs: [], cut: [] });
    },
    240_000,
  );
});
