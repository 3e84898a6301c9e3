import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startLocalConsole } from '../../../bin/local/console/console-server';
import { FunctionLogs } from '../../../bin/local/console/function-logs';
import { startLocal } from '../../../bin/local/run-local';
import { writeItems } from '../../../bin/local/write-items';
import { synthesizeConsumersApp } from '../../support/stacks/consumers-app';
import { startWatchedStack, tableAt, type WatchedStack, writeJobsAndSessions } from '../../support/watched-stack';

/** Opens the local console in a real browser. */

const PRODUCER = 'App/Producer/Function';

const LOOK = join(__dirname, 'look-at-console.mjs');
const BEGIN = join(__dirname, 'begin-in-console.mjs');
const PARK = join(__dirname, 'park-a-key.mjs');
const DISTURB = join(__dirname, 'disturb-console.mjs');
const inBrowser = process.platform === 'linux' && process.arch === 'x64' ? test : test.skip;

let watched: WatchedStack | undefined;
afterEach(async () => {
  await watched?.stop();
  watched = undefined;
});

inBrowser(
  'the local console shows shards, indexes and counts accessibly, and can invoke a function and increase a count',
  async () => {
    watched = await startWatchedStack({ shardCount: 4, limits: 0.1 });
    const { stack, localConsole } = watched;
    await writeJobsAndSessions(stack);
    const records = Array.from({ length: 40 }, (_, n) => ({
      ...{ partitionKey: `order-${n}`, hashKeyOwner: `owner-${n % 4}`, data: 'x' },
    }));
    await stack.invoke(PRODUCER, { records });
    const { stdout } = await promisify(execFile)(process.execPath, [LOOK, localConsole.url], { timeout: 500_000 });

    const { busiest, stored, storedCells, ...rest } = JSON.parse(stdout);
    const { raised, counts, answer, views, requests, errors, gone } = rest;
    expect({ requests, errors }).toEqual({ requests: [new URL(localConsole.url).origin], errors: [] });
    expect(busiest.find(([name]: string[]) => name === 'owner-0')).toMatchObject({
      1: 'registry',
      2: expect.stringMatching(/^[0-3]$/),
    });
    const [values, strays] = stored;
    expect(values.map(([value, , , items]: string[]) => [value, items]).sort()).toEqual([
      ['failed', '20'],
      ['pending', '20'],
    ]);
    // The table has a cell for each shard with items.
    expect(storedCells).toEqual(values.map(([, used]: string[]) => Number(used)));
    expect(strays).toEqual([
      ['missing', '1'],
      ['found by no query for their value', '1'],
    ]);
    expect(JSON.parse(raised).answer).toMatchObject({ values: [{ value: 'tenant-1', decision: 'increase', to: 4 }] });
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
      expect(headings).toHaveLength(3);
      // The page is about 9,000 pixels high in the narrowest view. A long attribute without a line break once made it 79,467 pixels high.
      expect(height).toBeLessThan(20_000);
    }
    expect(gone).toBe('the server does not respond; reconnecting');
  },
  540_000,
);

inBrowser(
  'the local console shows a poisoned key as parked while other keys continue, and resumes it',
  async () => {
    const app = synthesizeConsumersApp();
    const logs = new FunctionLogs();
    const stack = await startLocal({ app, gates: {}, onFunctionLog: logs.sink });
    const localConsole = await startLocalConsole(stack, stack.gates!, logs);
    try {
      const { kinesis } = stack.endpoints;
      const parking = [PARK, localConsole.url, kinesis, stack.streams[0]!.name];
      const { stdout } = await promisify(execFile)(process.execPath, parking, { timeout: 300_000 });
      const { parked, lastProblem, showsPayload, views, errors } = JSON.parse(stdout);
      expect(errors).toEqual([]);
      const [[key, records, , , lastError, buttons]] = parked;
      expect([key, records, buttons]).toEqual(['ada', '2', 'resumeskipdrop']);
      expect(lastError).toBe('Error: poison cannot be appended');
      expect(lastProblem).toBe('Error: poison cannot be appended');
      expect(showsPayload).toBe(false);
      for (const { sideways, unnamed, pairs, cut } of views) {
        expect({ sideways, unnamed, pairs, cut }).toEqual({ sideways: 0, unnamed: [], pairs: [], cut: [] });
      }
      const TableName = stack.tables.find(({ path }) => path === 'App/Lists')!.name;
      const textsOf = async (id: string) =>
        (await stack.ungatedClients.dynamodb.getItem({ TableName, Key: { id: { S: id } } })).Item?.texts?.L;
      expect(await textsOf('ada')).toEqual([{ S: 'behind the poison' }]);
      expect(await textsOf('bob')).toEqual([{ S: 'beside it' }]);
    } finally {
      await localConsole.stop();
      await stack.stop();
    }
  },
  340_000,
);

inBrowser(
  'the local console handles 1,000 shards, 10,000 values, long names, reloads, a lost network and a closed laptop',
  async () => {
    watched = await startWatchedStack({ shardCount: 1_000 });
    const { stack, localConsole } = watched;
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
        // During the pause, the server sends many states. If the server kept all these states for the suspended page,
        // it would use much memory.
        await sleep(3_000);
      },
    };
    const browsing = spawn(process.execPath, [DISTURB, localConsole.url], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      let seen: Record<string, unknown> & { what: string } = { what: '' };
      for await (const line of createInterface({ input: browsing.stdout })) {
        seen = JSON.parse(line);
        if (seen.what === 'done') break;
        await steps[seen.what]!();
        browsing.stdin.write('\n');
      }
      const looks = { shards: 1_000, sideways: 0, unnamed: [], pairs: [], cut: [] };
      expect(seen).toMatchObject({
        what: 'done',
        many: { 1400: looks, 400: looks },
        found: [['value-7777', '1', '0', '1', '1', '0']],
        focused: 'search',
        notFound: expect.stringMatching(/^none of 10,\d\d\d partition keys has a value that contains “no such value”$/),
        connection: 'live',
        requests: [new URL(localConsole.url).origin],
        errors: [],
      });
    } finally {
      browsing.kill();
    }
  },
  540_000,
);

inBrowser(
  'the local console of a new app offers events with which each function succeeds, and shows the error of an invocation',
  async () => {
    watched = await startWatchedStack({ shardCount: 4 });
    const { localConsole } = watched;
    const { WINDOW_PICTURES: pictures } = process.env;
    const browsing = [BEGIN, localConsole.url, ...(pictures === undefined ? [] : [pictures])];
    const { stdout } = await promisify(execFile)(process.execPath, browsing, { timeout: 500_000 });
    const { fresh, invocations, notJson, refused, requests, errors } = JSON.parse(stdout);

    expect({ requests, errors }).toEqual({ requests: [new URL(localConsole.url).origin], errors: [] });
    for (const { sideways, leastContrast, unnamed, pairs, cut } of fresh) {
      expect({ sideways, unnamed, pairs, cut }).toEqual({ sideways: 0, unnamed: [], pairs: [], cut: [] });
      expect(leastContrast.contrast).toBeGreaterThan(4.5);
    }
    for (const invocation of invocations) {
      expect(invocation).toEqual({ answer: expect.stringContaining('"answer"'), problem: '', hasTrace: false });
    }
    expect(notJson).toEqual({
      answer: '',
      problem: expect.stringMatching(/^the event is not JSON: /),
      hasTrace: false,
    });
    expect(refused.problem).toMatch(/^\[FUNCTION_FAILED] App\/Query\/Function failed: .*index must be one of/);
    expect(refused).toMatchObject({ answer: expect.not.stringContaining('trace'), hasTrace: true });
  },
  540_000,
);
