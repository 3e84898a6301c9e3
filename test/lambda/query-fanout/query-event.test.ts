import { parseQueryEvent } from '../../../lambda/query-fanout/query-event';
import { InvalidArgumentError, type ShardedIndexConfig, UnknownIndexError } from '../../../lib/core';

const byTime: ShardedIndexConfig = {
  tableName: 'Jobs',
  indexName: 'byTime',
  tableKey: ['jobId'],
  keyLayout: 'single-attribute',
  shardAttribute: 'shard',
  sortKeyAttributes: ['createdAt'],
  shards: { default: { write: 5, read: 5 } },
  strategy: 'calculated',
};
const indexes = { byTime, byStatus: { ...byTime, indexName: 'byStatus' } };

describe('parseQueryEvent', () => {
  test('finds the index and leaves the request', () => {
    const event = { index: 'byTime', format: 'dynamodb', limit: 5, order: 'descending' };
    expect(parseQueryEvent(indexes, event)).toEqual({
      config: byTime,
      request: { limit: 5, order: 'descending' },
      format: 'dynamodb',
    });
  });

  test('answers in plain JSON unless told otherwise', () => {
    expect(parseQueryEvent(indexes, { index: 'byTime' }).format).toBe('plain');
  });

  test('reads binary filter values from base64', () => {
    const expressionAttributeValues = { ':a': { B: '/wA=' }, ':b': { S: 'x' } };
    const { request } = parseQueryEvent(indexes, { index: 'byTime', expressionAttributeValues });
    expect(request.expressionAttributeValues).toEqual({ ':a': { B: Buffer.from([255, 0]) }, ':b': { S: 'x' } });
  });

  test.each<[string, unknown, new (...args: never[]) => Error, string]>([
    ['no event', null, InvalidArgumentError, 'event must be an object with index and a fan-out request, got null'],
    ['text', 'byTime', InvalidArgumentError, 'event must be an object'],
    ['no index', {}, UnknownIndexError, 'index must be one of byTime, byStatus, got undefined'],
    [
      'an unknown index',
      { index: 'byColour' },
      UnknownIndexError,
      'index must be one of byTime, byStatus, got "byColour"',
    ],
    ['a property every object has', { index: 'toString' }, UnknownIndexError, 'got "toString"'],
    [
      'an unknown format',
      { index: 'byTime', format: 'xml' },
      InvalidArgumentError,
      'format must be one of plain, dynamodb, got "xml"',
    ],
  ])('refuses %s', (_, event, error, message) => {
    expect(() => parseQueryEvent(indexes, event)).toThrow(error);
    expect(() => parseQueryEvent(indexes, event)).toThrow(message);
  });
});
