import { fanOutItems, fanOutQuery } from '../../../../lib/core';
import { fanOutSelect } from '../../../../lib/core/keyspaces';
import { allOf } from '../../../support/all-of';
import { FakeCassandra } from '../../../support/fakes/fake-cassandra';
import { FakeIndex } from '../../../support/fakes/fake-index';
import { indexConfig } from '../../../support/index-config';
import { keyspacesConfig } from '../../../support/keyspaces-config';

/** Cursors from the first version of the library. Applications store cursors, so later versions must accept them. */
const STORED = {
  ascending: 'sb2AQnsSAOwNTdYsN7WaBFsyLDM0LDEsMSwiU2pvYi0yIiwiTjEiLDFd',
  descending: 'liVNAWgjNiw2ITBCOE_mrlswLDM1LDEsMSwiU2pvYi05IiwiTjQiLDFd',
  unordered: 'ifPDpVp0ZEG8TqzpbZpdvVswLDM0LDAsNCwiU2pvYi05IiwiTjQiXQ',
  hidden: '7l2n-kqntbJk_UTyPt9XaVswLDIwNDgsMjA0OCwwLCJTam9iLTAiLCJOMCIsLTFd',
  items: 'CkqyElmpvOLbFm54Yx6W1FtbMl0sW1sxLCJTam9iLTEiLCJOMCJdXV0',
  'rows ascending': 'FtK4bInzTZ00izSZji4NwVsyLDAsMTM1LDAsIjEiLCI1Il0',
  'rows descending': 'fL3fOnFHjcfvcnm280VcAVswLDAsMTM1LDAsIjIiLCI2Il0',
  'rows unordered': 'YScFyB42IpQrQwwvyXu57FswLDAsMTM1LDAsIjAiLCIwIl0',
};

/** Cursors with a sort key. They are after all items or rows that have this sort key, in every shard. */
const BEHIND_ALL_SHARDS = {
  ascending: 'mHWClVYpR7zFR6yvNvE2VVtudWxsLDAsMCwxLCJTam9iLTUiLCJOMiIsLTFd',
  descending: 'kgK9vkxCFUZYQBGau9smb1tudWxsLDAsMCwxLCJTam9iLTUiLCJOMyIsLTFd',
  'rows ascending': '7NDyjrSWGeMaLkemidZFiVtudWxsLDEsMTAwLDAsIjIiLCI2Il0',
  'rows descending': 'QQy6yV5KcU-TBkg_DJIrcltudWxsLDEsMTAwLDAsIjIiLCI4Il0',
};

describe('cursors of an earlier version', () => {
  const shards = { default: { write: 3, read: 3 } };
  const jobs = indexConfig({ shards });
  const index = new FakeIndex(jobs);
  for (let number = 0; number < 12; number++) {
    index.put({
      jobId: { S: `job-${number}` },
      status: { S: 'a' },
      shard: { N: String(number % 3) },
      createdAt: { N: String(Math.floor(number / 2)) },
    });
  }
  const request = { value: 'a' };
  const numbers = (items: { jobId?: unknown }[]) =>
    items.map(({ jobId }) => Number((jobId as { S: string }).S.slice(4)));

  test.each([
    ['ascending', [4, 5, 6]],
    ['descending', [7, 6, 5]],
    ['unordered', [1, 4, 7]],
  ] as const)(
    'fanOutQuery – %s – writes the same cursor as the earlier version, and continues after this cursor',
    async (order, next) => {
      const page = await fanOutQuery(index, jobs, { ...request, order, limit: 4 });
      expect(page.cursor).toBe(STORED[order]);
      const { items } = await fanOutQuery(index, jobs, { ...request, order, limit: 3, cursor: STORED[order] });
      expect(numbers(items)).toEqual(next);
    },
  );

  test.each([
    ['ascending', [6, 7, 9, 8, 10, 11]],
    ['descending', [5, 4, 2, 3, 1, 0]],
  ] as const)(
    'fanOutQuery – %s, and a cursor after all shards – does not return items with the sort key of the cursor',
    async (order, next) => {
      const { items } = await fanOutQuery(index, jobs, { ...request, order, cursor: BEHIND_ALL_SHARDS[order] });
      expect(numbers(items)).toEqual(next);
    },
  );

  test('fanOutQuery – maxReadUnits ends a page whose filter removes the remaining items – writes the same cursor as the earlier version', async () => {
    const filter = { filterExpression: 'jobId = :id', expressionAttributeValues: { ':id': { S: 'job-11' } } };
    const page = await fanOutQuery(index, jobs, { ...request, ...filter, maxReadUnits: 1.5, limit: 1 });
    expect(page.cursor).toBe(STORED.hidden);
  });

  test('fanOutItems – the caller stops after five items – writes the same resume point as the earlier version', async () => {
    const stream = fanOutItems(index, jobs, request, { concurrency: 1 });
    for (let taken = 0; taken < 5; taken++) await stream.next();
    expect(stream.resumePoint).toBe(STORED.items);
    const rest = await allOf(fanOutItems(index, jobs, { ...request, resumeAt: STORED.items }));
    expect(numbers(rest).sort((a, b) => a - b)).toEqual([2, 4, 5, 7, 8, 10, 11]);
  });

  const blogs = keyspacesConfig({
    tableName: 'events',
    partitionKey: [{ name: 'day', type: 'date' }],
    firstShard: 0,
    clusteringColumns: [
      { name: 'minute', type: 'int', order: 'DESC' },
      { name: 'id', type: 'int', order: 'ASC' },
    ],
    shards,
  });
  const day = '2020-07-09';
  const tableOfBlogs = () => {
    const table = FakeCassandra.of(blogs);
    for (let id = 0; id < 12; id++) table.insert({ day, shard: id % 3, minute: Math.floor(id / 3), id, body: 'x' });
    return table;
  };

  test.each([
    ['ascending', [4, 3, 8]],
    ['descending', [7, 8, 3]],
    ['unordered', [10, 7, 4]],
  ] as const)(
    'fanOutSelect – %s – writes the same cursor as the earlier version, and continues after this cursor',
    async (order, next) => {
      const [table, select] = [tableOfBlogs(), { value: { day }, order }];
      const page = await fanOutSelect(table, blogs, { ...select, limit: 4 });
      expect(page.cursor).toBe(STORED[`rows ${order}`]);
      const { rows } = await fanOutSelect(table, blogs, { ...select, limit: 3, cursor: STORED[`rows ${order}`] });
      expect(rows.map(({ id }) => id)).toEqual(next);
    },
  );

  test.each([
    ['ascending', 6, [11, 10, 9]],
    ['descending', 8, [3, 4, 5, 0, 1, 2]],
  ] as const)(
    'fanOutSelect – %s, and a cursor after all shards – does not return rows with the clustering key of the cursor',
    async (order, id, next) => {
      const table = tableOfBlogs();
      for (let shard = 0; shard < 3; shard++) table.insert({ day, shard, minute: 2, id, body: 'tie' });
      const cursor = BEHIND_ALL_SHARDS[`rows ${order}`];
      const { rows } = await fanOutSelect(table, blogs, { value: { day }, order, cursor });
      expect(rows.map((row) => row.id)).toEqual(next);
    },
  );
});
