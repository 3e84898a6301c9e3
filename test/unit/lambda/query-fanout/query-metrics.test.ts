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
  test('say what a page took, and how much of it was in vain', () => {
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

  test('count all that a filter has hidden of an empty page as read in vain', () => {
    const hidden = { ...stats, itemsHidden: 12 };
    expect(queryMetrics({ items: [], stats: hidden })).toMatchObject({
      ItemsReturned: 0,
      ItemsHidden: 12,
      OverRead: 12,
    });
  });

  test('say nothing of over-reading of a page that has read nothing', () => {
    const nothing = { ...stats, itemsRead: 0, itemsHidden: 0 };
    expect(queryMetrics({ items: [], stats: nothing })).not.toHaveProperty('OverRead');
  });

  test('of a count are what it read', () => {
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
