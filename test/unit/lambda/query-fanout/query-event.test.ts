import { parseQueryEvent } from '../../../../lambda/query-fanout/query-event';
import { InvalidArgumentError, type ShardedTableConfig, UnknownIndexError } from '../../../../lib/core';
import { indexConfig } from '../../../support/index-config';

const byTime = indexConfig({
  indexName: 'byTime',
  keyLayout: 'single-attribute',
  shards: { default: { write: 5, read: 5 } },
  valueAttribute: undefined,
});
const stores = { indexes: { byTime, byStatus: { ...byTime, indexName: 'byStatus' } }, tables: {} };
const { indexName, ...ofTable } = byTime;
const invoices: ShardedTableConfig = {
  ...ofTable,
  keyLayout: 'single-attribute',
  valueAttribute: 'shard',
  shardedBy: ['jobId'],
  separator: '-',
  firstShard: 1,
};

describe('parseQueryEvent', () => {
  test('returns the configuration of the index, the request, and the defaults', () => {
    const event = { index: 'byTime', format: 'dynamodb', limit: 5, order: 'descending' };
    expect(parseQueryEvent(stores, event)).toEqual({
      config: byTime,
      request: { limit: 5, order: 'descending' },
      format: 'dynamodb',
      select: 'items',
      fresh: false,
    });
  });

  test('finds a table by its name, and accepts the field fresh', () => {
    const event = { table: 'Invoices', value: '121212', fresh: true };
    expect(parseQueryEvent({ ...stores, tables: { Invoices: invoices } }, event)).toMatchObject({
      config: invoices,
      request: { value: '121212' },
      fresh: true,
    });
  });

  test.each<[object, string]>([
    [{ index: 'byTime', table: 'Invoices' }, 'table must be absent, because the event has an index'],
    [
      { value: 'a' },
      '[UNKNOWN_INDEX] event must be an object with index (one of byTime, byStatus) or table (one of Invoices)',
    ],
    [
      { index: 'byTime', valu: 'a' },
      '[INVALID_EVENT] event must be made of index, table, fresh, format, select, onShardFailure, value, values, sortKey,',
    ],
    [{ table: 'Orders' }, 'table must be one of Invoices, got "Orders"'],
    [{ table: 'Invoices', fresh: 'yes' }, 'fresh must be true, false or absent'],
  ])('rejects %j', (event, message) => {
    expect(() => parseQueryEvent({ ...stores, tables: { Invoices: invoices } }, event)).toThrow(message);
  });

  test("accepts select: 'count'", () => {
    const event = { index: 'byTime', select: 'count', sortKey: { gt: '2026' } };
    expect(parseQueryEvent(stores, event)).toMatchObject({ select: 'count', request: { sortKey: { gt: '2026' } } });
  });

  test.each([{ limit: 5 }, { order: 'descending' }, { projection: ['jobId'] }])(
    'rejects %j if the event requests a count',
    (ofItems) => {
      const event = { index: 'byTime', select: 'count', ...ofItems };
      expect(() => parseQueryEvent(stores, event)).toThrow('absent, because a count returns no items');
    },
  );

  test('decodes binary filter values from base64 at any depth of nesting', () => {
    const expressionAttributeValues = {
      ':b': { B: '/wA=' },
      ':s': { S: '/wA=' },
      ':set': { BS: ['/wA=', 'AQ=='] },
      ':list': { L: [{ B: 'AQ==' }, { M: { B: { S: 'AQ==' }, inner: { B: 'AQ==' } } }] },
    };
    const { request } = parseQueryEvent(stores, { index: 'byTime', expressionAttributeValues });
    const one = Buffer.from([1]);
    expect(request.expressionAttributeValues).toEqual({
      ':b': { B: Buffer.from([255, 0]) },
      ':s': { S: '/wA=' },
      ':set': { BS: [Buffer.from([255, 0]), one] },
      ':list': { L: [{ B: one }, { M: { B: { S: 'AQ==' }, inner: { B: one } } }] },
    });
  });

  test.each<[object, object]>([
    [{ gte: { B: '/wA=' } }, { gte: { B: Buffer.from([255, 0]) } }],
    [{ between: [{ B: 'AQ==' }, { B: '/wA=' }] }, { between: [{ B: Buffer.from([1]) }, { B: Buffer.from([255, 0]) }] }],
    [{ eq: { N: '12345678901234567890' } }, { eq: { N: '12345678901234567890' } }],
    [{ beginsWith: 'AQ==' }, { beginsWith: 'AQ==' }],
  ])('decodes the binary values of the sort key %j from base64', (sortKey, expected) => {
    expect(parseQueryEvent(stores, { index: 'byTime', sortKey }).request).toEqual({ sortKey: expected });
  });

  test('rejects a binary value that is not base64', () => {
    expect(() => parseQueryEvent(stores, { index: 'byTime', sortKey: { eq: { B: 'A' } } })).toThrow(
      'sortKey must be padded base64, got "A"',
    );
    const event = { index: 'byTime', expressionAttributeValues: { ':b': { B: '!!!' } } };
    expect(() => parseQueryEvent(stores, event)).toThrow('expressionAttributeValues must be padded base64, got "!!!"');
  });

  test.each([[null], ['text'], [{ ':a': null }], [{ ':a': 'text' }]])(
    'passes the malformed values %j on to fanOutQuery',
    (values) => {
      const { request } = parseQueryEvent(stores, { index: 'byTime', expressionAttributeValues: values });
      expect(request.expressionAttributeValues).toEqual(values);
    },
  );

  test.each<[string, unknown, new (...args: never[]) => Error, string]>([
    ['no index', {}, UnknownIndexError, 'index must be one of byTime, byStatus, got undefined'],
    [
      'an unknown index',
      { index: 'byColour' },
      UnknownIndexError,
      'index must be one of byTime, byStatus, got "byColour"',
    ],
    ['the name of an inherited property', { index: 'toString' }, UnknownIndexError, 'got "toString"'],
    [
      'an unknown format',
      { index: 'byTime', format: 'xml' },
      InvalidArgumentError,
      'format must be one of plain, dynamodb, got "xml"',
    ],
    [
      'an unknown select',
      { index: 'byTime', select: 'all' },
      InvalidArgumentError,
      'select must be one of items, count, got "all"',
    ],
  ])('rejects %s', (_, event, error, message) => {
    expect(() => parseQueryEvent(stores, event)).toThrow(error);
    expect(() => parseQueryEvent(stores, event)).toThrow(message);
  });

  test.each(['expressionAttributeValues', 'sortKey'])('rejects %s with 10,000 levels of nesting', (field) => {
    const deep = JSON.parse(`${'{"L":['.repeat(10_000)}${']}'.repeat(10_000)}`);
    expect(() => parseQueryEvent(stores, { index: 'byTime', [field]: deep })).toThrow(InvalidArgumentError);
    expect(() => parseQueryEvent(stores, { index: 'byTime', [field]: deep })).toThrow(
      `${field} must be nested at most 100 levels deep`,
    );
  });
});
