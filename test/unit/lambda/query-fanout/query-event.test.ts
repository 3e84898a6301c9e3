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
  test('finds the index and leaves the request', () => {
    const event = { index: 'byTime', format: 'dynamodb', limit: 5, order: 'descending' };
    expect(parseQueryEvent(stores, event)).toEqual({
      config: byTime,
      request: { limit: 5, order: 'descending' },
      format: 'dynamodb',
      select: 'items',
      fresh: false,
    });
  });

  test('finds a table by its name, and takes a page that is fresh', () => {
    const event = { table: 'Invoices', value: '121212', fresh: true };
    expect(parseQueryEvent({ ...stores, tables: { Invoices: invoices } }, event)).toMatchObject({
      config: invoices,
      request: { value: '121212' },
      fresh: true,
    });
  });

  test.each<[object, string]>([
    [{ index: 'byTime', table: 'Invoices' }, 'table must be absent because the event names an index'],
    [{ table: 'Orders' }, 'table must be one of Invoices, got "Orders"'],
    [{ table: 'Invoices', fresh: 'yes' }, 'fresh must be true, false or absent'],
  ])('refuses %j', (event, message) => {
    expect(() => parseQueryEvent({ ...stores, tables: { Invoices: invoices } }, event)).toThrow(message);
  });

  test('asks for a count', () => {
    const event = { index: 'byTime', select: 'count', sortKey: { gt: '2026' } };
    expect(parseQueryEvent(stores, event)).toMatchObject({ select: 'count', request: { sortKey: { gt: '2026' } } });
  });

  test.each([{ limit: 5 }, { order: 'descending' }, { projection: ['jobId'] }])('counts without %j', (ofItems) => {
    const event = { index: 'byTime', select: 'count', ...ofItems };
    expect(() => parseQueryEvent(stores, event)).toThrow('absent because a count returns no items');
  });

  test('reads binary filter values from base64, wherever they stand', () => {
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
  ])('reads the sort key %j, its binary from base64', (sortKey, expected) => {
    expect(parseQueryEvent(stores, { index: 'byTime', sortKey }).request).toEqual({ sortKey: expected });
  });

  test('refuses what is no base64', () => {
    expect(() => parseQueryEvent(stores, { index: 'byTime', sortKey: { eq: { B: 'A' } } })).toThrow(
      'sortKey must be padded base64, got "A"',
    );
    const event = { index: 'byTime', expressionAttributeValues: { ':b': { B: '!!!' } } };
    expect(() => parseQueryEvent(stores, event)).toThrow('expressionAttributeValues must be padded base64, got "!!!"');
  });

  test.each([[null], ['text'], [{ ':a': null }], [{ ':a': 'text' }]])(
    'leaves the values %j for the core to refuse',
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
    ['a property every object has', { index: 'toString' }, UnknownIndexError, 'got "toString"'],
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
  ])('refuses %s', (_, event, error, message) => {
    expect(() => parseQueryEvent(stores, event)).toThrow(error);
    expect(() => parseQueryEvent(stores, event)).toThrow(message);
  });

  test.each(['expressionAttributeValues', 'sortKey'])('refuses %s of 10,000 levels', (field) => {
    const deep = JSON.parse(`${'{"L":['.repeat(10_000)}${']}'.repeat(10_000)}`);
    expect(() => parseQueryEvent(stores, { index: 'byTime', [field]: deep })).toThrow(InvalidArgumentError);
    expect(() => parseQueryEvent(stores, { index: 'byTime', [field]: deep })).toThrow(`${field} must be nested less`);
  });
});
