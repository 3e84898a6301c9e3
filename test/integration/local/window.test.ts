import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { writeItems } from '../../../bin/local/sample/write-items';
import { FunctionLogs } from '../../../bin/local/window/function-logs';
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
    }));
    await writeItems(stack, tableName, items);
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

  test('gives the answer of a function, what it wrote and its metrics', async () => {
    const event = { records: [{ partitionKey: 'account-1', data: 'one' }] };
    const body = JSON.stringify({ name: PRODUCER, event });
    const response = await fetch(`${window.url}invoke`, { method: 'POST', body });
    expect(await response.json()).toEqual({
      answer: { failedRecordCount: 0, records: [expect.objectContaining({ attempts: 1 })] },
      ms: expect.any(Number),
      log: expect.arrayContaining([expect.stringContaining('UserRecordsPut')]),
      metrics: expect.arrayContaining([expect.objectContaining({ UserRecordsPut: 1 })]),
    });
  }, 60_000);

  const inBrowser = runs ? test : test.skip;
  inBrowser(
    'shows all of it in a browser, to any eye, and lets one load, query and invoke',
    async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [LOOK, window.url], { timeout: 200_000 });
      const { loads, query, answer, views, requests, errors, gone, many } = JSON.parse(stdout);
      expect({ requests, errors }).toEqual({ requests: [new URL(window.url).origin], errors: [] });
      const [naive, ordered] = loads;
      expect(Number(naive[4])).toBeGreaterThan(0);
      expect(ordered.slice(3)).toEqual(['by itself', '0', '0']);
      expect(query).toEqual(['5 items', 'What it took']);
      expect(answer).toContain('"error"');
      for (const { scheme, width, sideways, leastContrast, unnamed, shards, headings } of views) {
        expect({ scheme, width, sideways, unnamed, shards }).toEqual({
          scheme,
          width,
          sideways: 0,
          unnamed: [],
          shards: 4,
        });
        expect(leastContrast.contrast).toBeGreaterThan(4.5);
        expect(headings).toHaveLength(5);
      }
      expect(gone).toBe('the server has gone; it is tried again');
      expect(many).toMatchObject({ shards: 1_000, sideways: 0, unnamed: [] });
    },
    240_000,
  );
});
