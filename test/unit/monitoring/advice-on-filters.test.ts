import { queryMetrics } from '../../../lambda/query-fanout/query-metrics';
import { type DynamoDbItem, type FanOutPage, type FanOutRequest, fanOutQuery } from '../../../lib/core';
import { adviceOf } from '../../support/alarms/advice-of';
import { AlarmInPlay } from '../../support/alarms/alarm-in-play';
import { FakeIndex } from '../../support/fakes/fake-index';
import { indexConfig } from '../../support/index-config';

/** What the guide to monitoring says of filters that hide what pages read is done here to its end. */

const advice = adviceOf('Filters hide what pages read');
const [JOBS, SHARDS] = [2_000, 4];

/** One job in a hundred has failed. */
const jobs: DynamoDbItem[] = Array.from({ length: JOBS }, (_, job) => ({
  jobId: { S: `job-${job}` },
  shard: { N: String(job % SHARDS) },
  createdAt: { N: String(job) },
  finishedAt: { N: String(job) },
  pad: { S: 'x'.repeat(400) },
  ...(job % 100 === 0 && { state: { S: 'failed' }, failedAt: { N: String(job + 10) } }),
}));

const FAILED = {
  filterExpression: '#state = :failed',
  expressionAttributeNames: { '#state': 'state' },
  expressionAttributeValues: { ':failed': { S: 'failed' } },
};

function indexBy(sortKey: string) {
  const config = indexConfig({
    shardAttribute: 'shard',
    sortKeyAttributes: [sortKey],
    shards: { default: { write: SHARDS, read: SHARDS } },
    valueAttribute: undefined,
  });
  const index = new FakeIndex(config);
  // DynamoDB leaves items out of an index that do not have its key.
  for (const job of jobs) if (sortKey in job) index.put(job);
  return (request: FanOutRequest) => fanOutQuery(index, config, request);
}

/** Whether an alarm rings while such a page is read each minute. */
function rings(page: FanOutPage, hours = 6): boolean {
  const alarm = new AlarmInPlay('QueryHiddenItems');
  for (let minute = 0; minute < hours * 60; minute++) alarm.minute(queryMetrics(page));
  return alarm.isRaised;
}

const idsOf = ({ items }: FanOutPage) => items.map(({ jobId }) => jobId);

test('an index of its own for the condition has the same items, and hides none', async () => {
  expect(advice).toContain(
    'Give the condition of the filter an index of its own, which has only the items that meet it',
  );
  const filtered = await indexBy('createdAt')(FAILED);
  const ofItsOwn = await indexBy('failedAt')({});
  expect([filtered.items.length, idsOf(filtered)]).toEqual([JOBS / 100, idsOf(ofItsOwn)]);
  expect(advice).toContain('compare `stats.itemsHidden` of its pages with `stats.itemsRead`');
  expect(filtered.stats.itemsHidden).toBe(0.99 * filtered.stats.itemsRead);
  expect(ofItsOwn.stats.itemsHidden).toBe(0);
  expect(ofItsOwn.stats.consumedReadUnits).toBeLessThan(filtered.stats.consumedReadUnits / 5);
  expect([rings(filtered), rings(ofItsOwn)]).toEqual([true, false]);
});

test('a range is a condition on the sort key of an index that is sorted by its attribute', async () => {
  expect(advice).toContain(
    'sort an index by that attribute and make the range a condition on the sort key: `sortKey` reads nothing in vain',
  );
  const filtered = await indexBy('createdAt')({
    order: 'descending',
    filterExpression: '#at >= :since',
    expressionAttributeNames: { '#at': 'finishedAt' },
    expressionAttributeValues: { ':since': { N: String(JOBS - 10) } },
  });
  const ranged = await indexBy('finishedAt')({ order: 'descending', sortKey: { gte: JOBS - 10 } });
  expect(idsOf(ranged)).toEqual(idsOf(filtered));
  expect([rings(filtered), rings(ranged)]).toEqual([true, false]);
});

test('pages of a rare query are bounded by maxReadUnits', async () => {
  expect(advice).toContain('bound its pages by `maxReadUnits`');
  const query = indexBy('createdAt');
  const whole = await query({ ...FAILED, limit: 20 });
  const bounded = await query({ ...FAILED, limit: 20, maxReadUnits: whole.stats.consumedReadUnits / 3 });
  expect(bounded.stats.consumedReadUnits).toBeLessThanOrEqual(whole.stats.consumedReadUnits / 3);
  expect(bounded.cursor).toBeDefined();
});

test('filters that hide up to 10,000 items in an hour raise no alarm', () => {
  expect(advice).toContain('An hour in which filters hide up to 10,000 items raises no alarm');
  const stats = { shards: 1, requests: 1, waves: 1, itemsRead: 160, consumedReadUnits: 20, throttled: 0, hedged: 0 };
  expect(rings({ items: [], stats: { ...stats, itemsHidden: 160 } })).toBe(false);
  expect(rings({ items: [], stats: { ...stats, itemsRead: 180, itemsHidden: 180 } })).toBe(true);
});
