import { request as httpRequest } from 'node:http';
import type { LocalConsole } from '../../../bin/local/console/console-server';
import type { ConsoleState } from '../../../bin/local/console/console-state';
import type { StoredItems } from '../../../bin/local/console/stored-items';
import type { LocalStack } from '../../../bin/local/run-local';
import { startWatchedStack, type WatchedStack, writeJobsAndSessions } from '../../support/watched-stack';

const PRODUCER = 'App/Producer/Function';

describe('the local console', () => {
  let watched: WatchedStack;
  let stack: LocalStack;
  let localConsole: LocalConsole;

  beforeAll(async () => {
    watched = await startWatchedStack({ shardCount: 4, limits: 0.1 });
    ({ stack, localConsole } = watched);
    await writeJobsAndSessions(stack);
  }, 120_000);
  afterAll(() => watched?.stop());

  /** The status of the response to a request with these headers. */
  function status(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<number> {
    const { hostname, port } = new URL(localConsole.url);
    return new Promise((resolve, reject) => {
      const request = httpRequest({ hostname, port, path, method, headers }, (response) => {
        response.destroy();
        resolve(response.statusCode!);
      });
      request.once('error', reject).end();
    });
  }

  async function nextState(search = ''): Promise<ConsoleState> {
    const response = await fetch(`${localConsole.url}events?${new URLSearchParams({ search })}`);
    let text = '';
    for await (const chunk of response.body!) {
      text += Buffer.from(chunk).toString();
      if (text.includes('\n\n')) break;
    }
    return JSON.parse(text.slice('data: '.length, text.indexOf('\n\n')));
  }

  test('rejects requests without the token, requests for another host, and requests from other web pages', async () => {
    const { pathname, host } = new URL(localConsole.url);
    expect(await status(pathname)).toBe(200);
    expect(await status('/')).toBe(404);
    expect(await status(pathname.replace(/.\/$/, '_/'))).toBe(404);
    expect(await status(`${pathname}page.js`, { host: 'attacker.example' })).toBe(403);
    expect(await status(`${pathname}invoke`, { origin: 'https://attacker.example' }, 'POST')).toBe(403);
    expect(await status(`${pathname}invoke`, { origin: `http://${host}` }, 'GET')).toBe(404);
    expect(await status(`${pathname}../../package.json`)).toBe(404);
    expect(await status(`${pathname}constructor`)).toBe(404);
  });

  test('names the invalid field of a request', async () => {
    const send = async (action: string, body: string) => {
      const response = await fetch(localConsole.url + action, { method: 'POST', body });
      return [response.status, ((await response.json()) as { problem: string }).problem];
    };
    expect(await send('invoke', '{')).toEqual([400, expect.stringMatching(/body must be JSON/)]);
    expect(await send('invoke', '{"name":"Nobody"}')).toEqual([
      400,
      expect.stringMatching(/name must be one of the functions/),
    ]);
  });

  test('shows each shard, the writes to each shard of each index, and the limits', async () => {
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

  test('counts the items that an index stores, and rejects an index that the app does not have', async () => {
    const stored = async (index: string) => {
      const body = JSON.stringify({ path: 'App/Jobs', index });
      return (await fetch(`${localConsole.url}stored`, { method: 'POST', body })).json();
    };
    const { values, strays, hidden } = (await stored('byTime')) as StoredItems;
    const items = values.flatMap(({ itemsOfShards }) => Object.values(itemsOfShards));
    expect(items.reduce((sum, count) => sum + count, 0)).toBe(40);
    expect({ missing: strays.missing, hidden }).toEqual({ missing: 1, hidden: 1 });
    expect(await stored('byNothing')).toEqual({
      problem: expect.stringMatching(
        /index must be one of byStatus of App\/Jobs, byTenant of App\/Jobs, byTime of App\/Jobs, App\/Sessions/,
      ),
    });
  });

  test('shows the busiest of 10,000 values, and the writes of all values', async () => {
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

  test('search finds the exact value first among 10,000 values, and ignores case', async () => {
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

  test('shows the owners of hash keys, and the shards where MD5 would put them', async () => {
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
    // The registry puts one owner on each of the four shards. With the MD5 hashes of the same names, one shard would
    // have no owner.
    expect(new Set(owners.map(({ at }) => Math.floor(4 * at))).size).toBe(4);
    expect(new Set(owners.map(({ md5At }) => Math.floor(4 * md5At))).size).toBeLessThan(4);
    expect(keys.find(({ name }) => name === 'by-hand')).toMatchObject({ placedBy: 'hash key', at: 0 });
    expect(keys.some(({ name }) => name.startsWith('order-'))).toBe(false);
  }, 60_000);

  test('returns the response, the log and the metrics of an invoked function', async () => {
    const event = { records: [{ partitionKey: 'account-1', data: 'one' }] };
    const body = JSON.stringify({ name: PRODUCER, event });
    const response = await fetch(`${localConsole.url}invoke`, { method: 'POST', body });
    expect(await response.json()).toEqual({
      answer: { failedRecordCount: 0, records: [expect.objectContaining({ attempts: 1 })] },
      ms: expect.any(Number),
      log: [],
      metrics: expect.arrayContaining([expect.objectContaining({ UserRecordsPut: 1 })]),
    });
  }, 60_000);
});
