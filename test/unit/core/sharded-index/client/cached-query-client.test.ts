import { getEventListeners } from 'node:events';
import { LRUCache } from 'lru-cache';
import {
  cachedQueryClient,
  type DynamoDbItem,
  fanOutQuery,
  type IndexQueryInput,
  type IndexQueryOutput,
  InvalidArgumentError,
  type QueryClient,
  type ShardedTableConfig,
} from '../../../../../lib/core';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { invoices } from '../../../../support/fakes/invoices';

const config: ShardedTableConfig = {
  ...invoices,
  tableName: 'Blogs',
  tableKey: ['day', 'id'],
  valueAttribute: 'day',
  shardAttribute: 'day',
  sortKeyAttributes: ['id'],
  shardedBy: ['id'],
  separator: '#',
  firstShard: 0,
};

function blogs(count: number): FakeIndex {
  const table = new FakeIndex(config);
  for (let id = 0; id < count; id++) {
    const text = String(id).padStart(3, '0');
    table.put({ day: { S: `monday#${id % 5}` }, id: { S: text }, body: { B: new Uint8Array([id, 0, 255]) } });
  }
  return table;
}

function fail(): never {
  throw new Error('cache down');
}

/**
 * Waits for one turn of the event loop. If there is an unhandled rejection, Node.js then reports it, and jest fails the
 * test.
 */
const turn = () => new Promise(setImmediate);

const newCache = (maxSize = 1_000_000) => new LRUCache<string, string>({ maxSize, ttl: 60_000 });
const request = { value: 'monday', limit: 20 };
const idOf = ({ id }: DynamoDbItem): string => (id as { S: string }).S;

describe('cachedQueryClient', () => {
  test('uses the read units of one request for 100 identical requests', async () => {
    const table = blogs(100);
    const plain = await fanOutQuery(table, config, request);
    const client = cachedQueryClient(table, newCache());
    const units: number[] = [];
    for (let time = 0; time < 100; time++) {
      const { items, cursor, stats } = await fanOutQuery(client, config, request);
      expect({ items, cursor }).toEqual({ items: plain.items, cursor: plain.cursor });
      units.push(stats.consumedReadUnits);
    }
    expect(units).toEqual([plain.stats.consumedReadUnits, ...Array(99).fill(0)]);
  });

  test.each<[string, object]>([
    ['throws in get', { get: () => fail() }],
    ['throws in set', { set: () => fail() }],
    ['rejects in set', { set: async () => fail() }],
    ['returns null instead of undefined', { get: () => null }],
    ['returns a text that is no response', { get: () => 'cache down' }],
    ['returns bytes', { get: () => Buffer.from('{}') }],
    ['returns the JSON null', { get: () => 'null' }],
    ['returns a response of an older version', { get: () => '{"Items":[],"Count":0,"ScannedCount":0}' }],
    ['returns items without attribute values', { get: () => '{"Items":[{"day":1}],"ScannedCount":1}' }],
  ])('returns the result of DynamoDB if the cache %s, and leaves no rejection unhandled', async (_, broken) => {
    const table = blogs(50);
    const plain = await fanOutQuery(table, config, request);
    const cache = { get: () => undefined, set: () => undefined, ...broken };
    expect(await fanOutQuery(cachedQueryClient(table, cache), config, request)).toEqual(plain);
    await turn();
  });

  test.each<[string, (text: string, texts: string[]) => string | undefined]>([
    ['is truncated', (text) => text.slice(0, -1)],
    ['has one changed character', (text) => text.replace('"S":"0', '"S":"9')],
    ['belongs to another query', (text, texts) => texts.find((each) => each !== text)],
  ])('returns the result of DynamoDB if a stored text %s', async (_, damaged) => {
    const table = blogs(50);
    const texts = new Map<string, string>();
    await fanOutQuery(cachedQueryClient(table, texts as never), config, request);
    const cache = {
      get: (key: string) => damaged(texts.get(key)!, [...texts.values()]),
      set: (key: string, text: string) => texts.set(key, text),
    };
    const plain = await fanOutQuery(table, config, request);
    expect(await fanOutQuery(cachedQueryClient(table, cache), config, request)).toEqual(plain);
  });

  test('rejects a cache whose get returns a promise', async () => {
    const client = cachedQueryClient(blogs(50), { get: async () => fail(), set: () => undefined } as never);
    const page = fanOutQuery(client, config, request);
    await expect(page).rejects.toThrow(InvalidArgumentError);
    await expect(page).rejects.toThrow('cache.get must be a synchronous function that returns a text or undefined');
    await turn();
  });

  test('sends one query for several identical queries at the same time', async () => {
    const table = blogs(50);
    const client = cachedQueryClient(table, newCache());
    const pages = await Promise.all(Array.from({ length: 10 }, () => fanOutQuery(client, config, request)));
    expect(table.requests).toHaveLength(pages[0]!.stats.requests);
    expect(new Set(pages.map(({ items }) => items.map(idOf).join())).size).toBe(1);
  });

  test('returns cached items, except to a query with fresh: true and to the first consistent read', async () => {
    const table = blogs(5);
    const cache = newCache();
    const client = cachedQueryClient(table, cache);
    await fanOutQuery(client, config, request);
    const { size } = cache;
    table.put({ day: { S: 'monday#0' }, id: { S: '999' } });
    const ids = async (from: QueryClient, more = {}) =>
      (await fanOutQuery(from, config, { ...request, ...more })).items.map(idOf);
    expect(await ids(client)).not.toContain('999');
    expect(await ids(client, { consistentRead: true })).toContain('999');
    table.put({ day: { S: 'monday#0' }, id: { S: '998' } });
    expect(await ids(client, { consistentRead: true })).toContain('998');
    expect(await ids(client)).not.toContain('999');
    table.put({ day: { S: 'monday#0' }, id: { S: '997' } });
    expect(await ids(client.fresh, { consistentRead: true })).toContain('997');
    expect(cache.size).toBe(size);
    expect(await ids(client)).not.toContain('999');
    expect(await ids(client.fresh)).toContain('999');
    expect(await ids(client)).toContain('999');
  });

  test('gives later queries the response of a fresh query that is in flight', async () => {
    const answers: ((output: IndexQueryOutput) => void)[] = [];
    const query = () => new Promise<IndexQueryOutput>((resolve) => answers.push(resolve));
    const client = cachedQueryClient({ query }, { get: () => undefined, set: () => undefined });
    const [input, response] = [
      { TableName: 'Blogs' } as IndexQueryInput,
      (at: number) => ({ Items: [], ScannedCount: at }),
    ];
    const [first, second] = [client.query(input), client.fresh.query(input)];
    answers[0]!(response(1));
    await first;
    const third = client.query(input);
    answers[1]!(response(2));
    expect(await Promise.all([second, third])).toEqual([response(2), response(2)]);
  });

  test('does not cache an error or an incomplete response', async () => {
    const table = blogs(5);
    const answers: (IndexQueryOutput | Error)[] = [new Error('down'), {}, { ScannedCount: 0 }];
    const client = cachedQueryClient(
      {
        async query(input) {
          const answer = answers.shift() ?? (await table.query(input));
          if (answer instanceof Error) throw answer;
          return answer;
        },
      },
      newCache(),
    );
    const input = { TableName: 'Blogs' } as IndexQueryInput;
    await expect(client.query(input)).rejects.toThrow('down');
    await expect(client.query(input)).resolves.toEqual({});
    await expect(client.query(input)).resolves.toEqual({ ScannedCount: 0 });
    const { items } = await fanOutQuery(client, config, request);
    expect(items).toHaveLength(5);
  });

  test('does not end the query of another caller if a caller aborts the same query', async () => {
    let answer: (output: IndexQueryOutput) => void = () => undefined;
    const client = cachedQueryClient({ query: () => new Promise((resolve) => (answer = resolve)) }, newCache());
    const input = { TableName: 'Blogs' } as IndexQueryInput;
    const controller = new AbortController();
    const [impatient, patient] = [client.query(input, { abortSignal: controller.signal }), client.query(input)];
    controller.abort(new Error('no longer'));
    await expect(impatient).rejects.toThrow('no longer');
    await expect(client.query(input, { abortSignal: controller.signal })).rejects.toThrow('no longer');
    answer({ ScannedCount: 0, Items: [] });
    await expect(patient).resolves.toEqual({ ScannedCount: 0, Items: [] });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('keeps the cache within its size limit', async () => {
    const cache = newCache(10_000);
    const client = cachedQueryClient(blogs(100), cache);
    for (let limit = 1; limit <= 60; limit++) await fanOutQuery(client, config, { value: 'monday', limit });
    expect(cache.calculatedSize).toBeLessThanOrEqual(10_000);
    expect(cache.size).toBeGreaterThan(0);
  });

  test('caches a response that arrives after the deadline of its query', async () => {
    const table = blogs(50);
    let release = (): void => {};
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const client = cachedQueryClient(
      {
        query: async (input) => {
          if (JSON.stringify(input.ExpressionAttributeValues).includes('monday#3')) await slow;
          return table.query(input);
        },
      },
      newCache(),
    );
    const clock = new VirtualClock();
    const options = { deadlineMs: 100, onShardFailure: 'partial', clock } as const;
    const page = await clock.runUntil(fanOutQuery(client, config, request, options));
    expect(page.missingShards).toEqual([3]);
    release();
    const next = await fanOutQuery(client, config, request);
    expect(next.items.map(idOf)).toEqual((await fanOutQuery(table, config, request)).items.map(idOf));
    expect(next.missingShards).toBeUndefined();
  });

  test.each([{}, { get: () => undefined }, { set: () => undefined }])('rejects %p as a cache', (cache) => {
    expect(() => cachedQueryClient(blogs(1), cache as never)).toThrow('cache must be a cache with get and set');
  });
});
