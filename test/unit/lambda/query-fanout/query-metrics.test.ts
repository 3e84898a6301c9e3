import { countMetrics, queryMetrics } from '../../../../lambda/query-fanout/query-metrics';

const stats = {
  shards: 5,
  requests: 7,
  waves: 2,
  throttled: 1,
  hedged: 2,
  itemsRead: 12,
  itemsHidden: 3,
  consumedReadUnits: 3.5,
};
const items = Array.from({ length: 8 }, () => ({ id: { S: 'a' } }));

describe('queryMetrics', () => {
  test('returns the number of requests and items, and the over-read of a page', () => {
    expect(queryMetrics({ items, missingShards: [3, 4], stats })).toEqual({
      Pages: 1,
      Requests: 7,
      Waves: 2,
      ItemsReturned: 8,
      ItemsRead: 12,
      ItemsHidden: 3,
      ConsumedReadUnits: 3.5,
      OverRead: 1.5,
      ThrottledRequests: 1,
      HedgedRequests: 2,
      MissingShards: 2,
    });
  });

  test('counts the items that a filter has removed from an empty page as over-read', () => {
    const hidden = { ...stats, itemsHidden: 12 };
    expect(queryMetrics({ items: [], stats: hidden })).toMatchObject({
      ItemsReturned: 0,
      ItemsHidden: 12,
      OverRead: 12,
    });
  });

  test('contains no OverRead if the page has read no item', () => {
    const nothing = { ...stats, itemsRead: 0, itemsHidden: 0 };
    expect(queryMetrics({ items: [], stats: nothing })).not.toHaveProperty('OverRead');
  });

  test('countMetrics returns the number of requests and items of a count', () => {
    expect(countMetrics({ count: 12, stats })).toEqual({
      Requests: 7,
      Waves: 2,
      ItemsRead: 12,
      ItemsHidden: 3,
      ConsumedReadUnits: 3.5,
      ThrottledRequests: 1,
      HedgedRequests: 2,
      MissingShards: 0,
    });
  });
});
