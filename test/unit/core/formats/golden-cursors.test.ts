import {
  type DynamoDbItem,
  type FanOutRequest,
  type FanOutSelectRequest,
  fanOutCount,
  fanOutQuery,
  fanOutSelect,
  findStrayRows,
  findStrays,
  InvalidCursorError,
  reshardItems,
  type ShardedConfig,
  type ShardedKeyspacesConfig,
} from '../../../../lib/core';
import { FakeCassandra } from '../../../support/fakes/fake-cassandra';
import { FakeIndex } from '../../../support/fakes/fake-index';
import { FakeRowTable } from '../../../support/fakes/fake-row-table';
import { goldenValues } from '../../../support/golden/golden-values';

interface QueryCursor {
  config: ShardedConfig;
  items: DynamoDbItem[];
  request: FanOutRequest;
  cursor: string;
  next: DynamoDbItem[];
}
interface RowCursor {
  config: ShardedKeyspacesConfig;
  rows: Record<string, unknown>[];
  request: FanOutSelectRequest;
  cursor: string;
  next: number[];
}
interface ResumePoint {
  config: ShardedConfig & ShardedKeyspacesConfig;
  items: DynamoDbItem[];
  rows: Record<string, unknown>[];
  request: { value: string };
  cursor: string;
  counted: number;
  options: { segment: number; totalSegments: number };
  resumeFrom: string;
  scanned: number;
}

const named = <V>(values: [string, unknown][], part: string) =>
  values.filter(([name]) => name.includes(part)) as [string, V][];
const cursors = goldenValues<object>('cursor');
const points = goldenValues<object>('resume-point');

/** The same configuration with its fields in the reverse order, also in its nested objects. */
function reversed<T>(value: T): T {
  if (Array.isArray(value)) return value.map(reversed) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, each]) => [name, reversed(each)]),
  ) as T;
}

function indexOf(config: ShardedConfig, items: readonly DynamoDbItem[]): FakeIndex {
  const index = new FakeIndex(config);
  for (const item of items) index.put(item);
  return index;
}

function postsOf(config: ShardedKeyspacesConfig, rows: readonly object[]) {
  const posts = FakeCassandra.of(config, (a, b) => Number(a) - Number(b) || Date.parse(a) - Date.parse(b));
  for (const row of rows) posts.insert({ ...row, ...('at' in row && { at: new Date(String(row.at)) }) });
  return posts;
}

describe('golden cursors', () => {
  test.each(named<QueryCursor>(cursors, 'fanOutQuery'))(
    '%s – the query continues at the next item',
    async (_, golden) => {
      const { config, items, request, cursor, next } = golden;
      for (const each of [config, reversed(config)]) {
        const page = await fanOutQuery(indexOf(each, items), each, { ...request, limit: 100, cursor });
        expect(page.items).toEqual(next);
      }
    },
  );

  test.each(named<RowCursor>(cursors, 'fanOutSelect'))(
    '%s – the query continues at the next row',
    async (_, golden) => {
      const { config, rows, request, cursor, next } = golden;
      for (const each of [config, reversed(config)]) {
        const page = await fanOutSelect(postsOf(config, rows), each, {
          ...request,
          where: { at: { gte: new Date(String(Object(request.where).at.gte)) } },
          limit: 100,
          cursor,
        });
        expect(page.rows.map(({ id }) => Number(id))).toEqual(next);
      }
    },
  );
});

describe('golden resume points', () => {
  test.each(named<ResumePoint>(points, 'fanOutCount'))(
    '%s – the count continues with the other shards',
    async (_, golden) => {
      const { config, items, request, cursor, counted } = golden;
      const rest = await fanOutCount(indexOf(config, items), reversed(config), { ...request, cursor });
      expect(counted).toBeGreaterThan(0);
      expect(counted + rest.count).toBe(items.length);
    },
  );

  test.each([...named<ResumePoint>(points, 'findStrays'), ...named<ResumePoint>(points, 'reshardItems')])(
    '%s – the scan continues after the last scanned item',
    async (name, { config, items, options, resumeFrom, scanned }) => {
      const starts: unknown[] = [];
      const client = {
        scan: async ({ ExclusiveStartKey }: { ExclusiveStartKey?: object }) => {
          starts.push(ExclusiveStartKey);
          return { Items: [], ConsumedCapacity: { CapacityUnits: 1 } };
        },
        getItem: async () => ({}),
        updateItem: async () => ({}),
        transactWriteItems: async () => ({}),
      } as never;
      const scan = (changed: ShardedConfig) =>
        (name.includes('findStrays') ? findStrays : reshardItems)(
          client,
          changed as never,
          { ...options, resumeFrom } as never,
        );
      await scan(config);
      await scan(reversed(config));
      const last = items[scanned - 1]!;
      const key = Object.fromEntries(config.tableKey.map((attribute) => [attribute, last[attribute]]));
      expect(starts).toEqual([key, key]);
    },
  );

  test.each(named<ResumePoint>(points, 'findStrayRows'))(
    '%s – the scan reads exactly the other rows',
    async (_, golden) => {
      const { config, rows, options, resumeFrom, scanned } = golden;
      const { shards } = config;
      const more = { ...shards, default: { write: 9, read: 9 } };
      for (const each of [config, reversed(config)]) {
        const table = new FakeRowTable(each);
        for (const row of rows) table.insert({ ...row, at: new Date(String(row.at)) });
        const report = await findStrayRows(table, each, { ...options, resumeFrom });
        expect(report).toMatchObject({ rowsScanned: rows.length - scanned });
        const changed = findStrayRows(table, { ...each, shards: more }, { ...options, resumeFrom });
        await expect(changed).rejects.toThrow(InvalidCursorError);
      }
    },
  );
});
