import { indexesOf } from '../../../../bin/local/producers-and-indexes';
import type { LocalStack } from '../../../../bin/local/run-local';
import { samplePayloads, sampleWeights } from '../../../../bin/local/sample-payloads';
import {
  INDEXES,
  KEEPER_TABLE_NAME,
  REGISTRY_TABLE_NAME,
  STREAM_NAME,
  TABLES,
  VALUES,
} from '../../../../lib/core/contract/function-environment';
import { indexConfig } from '../../../support/index-config';

const shards = {
  default: { write: 1, read: 1 },
  byValue: { open: { write: 2, read: 2 }, paid: { write: 5, read: 5 } },
};
const byStatus = indexConfig({ tableName: 'Jobs', tableKey: ['id'], sortKeyAttributes: ['time'] });
const [INDEX, COUNTED] = [{ byStatus }, { byStatus: { ...byStatus, shards } }].map((each) => JSON.stringify(each));
const rows = {
  partitionKey: [
    { name: 'tenant', type: 'text' },
    { name: 'day', type: 'date' },
  ],
};

const stackOf = (environment: Record<string, string>) =>
  ({
    tables: [
      {
        path: 'App/Jobs',
        name: 'Jobs',
        definition: {
          AttributeDefinitions: ['id', 'time'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
        },
      },
    ],
    functions: [{ path: 'App/F', environment }],
    eventSources: { states: KEEPER_TABLE_NAME in environment ? [{ functionPath: 'App/F' }] : [] },
  }) as unknown as LocalStack;

describe('the sample event', () => {
  test.each([
    ['a query function', { [INDEXES]: INDEX }, { index: 'byStatus', value: 'a' }],
    ['a query function of an index with counts', { [INDEXES]: COUNTED }, { index: 'byStatus', value: 'paid' }],
    [
      'a query function bound to a value',
      { [INDEXES]: INDEX, [VALUES]: '["x y"]' },
      { index: 'byStatus', value: 'x y' },
    ],
    ['a query function bound to a number', { [INDEXES]: INDEX, [VALUES]: '[7]' }, { index: 'byStatus', value: 7 }],
    [
      'a query function bound to a value with counts',
      { [INDEXES]: COUNTED, [VALUES]: '["other","open"]' },
      { index: 'byStatus', value: 'open' },
    ],
    ['an index keeper', { [INDEXES]: INDEX, [KEEPER_TABLE_NAME]: 'Keeper' }, { list: true }],
    ['a registry', { [STREAM_NAME]: 'Events', [REGISTRY_TABLE_NAME]: 'Owners' }, { action: 'list' }],
    [
      'a bound query function of Amazon Keyspaces',
      { [TABLES]: JSON.stringify({ rows }), [VALUES]: '[{"tenant":"b"}]' },
      { table: 'rows', value: { tenant: 'b', day: '2020-07-09' } },
    ],
  ])('of %s is an event that the function accepts', (_, environment, event) => {
    expect(samplePayloads(stackOf(environment as Record<string, string>)).get('App/F')).toEqual(event);
  });
});

describe('the sample items', () => {
  const indexes = (environment: object) => indexesOf(stackOf(environment as Record<string, string>));

  test('have only values that the query function may read', () => {
    const [index] = indexes({ [INDEXES]: COUNTED, [VALUES]: '["open","other"]' });
    expect(sampleWeights(index!)).toEqual([['open', 2]]);
    const [other] = indexes({ [INDEXES]: COUNTED, [VALUES]: '["other"]' });
    expect(sampleWeights(other!)).toEqual([['other', 1]]);
  });

  test('are not for an index that only a keeper has, or whose values are numbers', () => {
    expect(indexes({ [INDEXES]: INDEX, [KEEPER_TABLE_NAME]: 'Keeper' })).toEqual([]);
    expect(indexes({ [INDEXES]: INDEX, [VALUES]: '[7]' })).toEqual([]);
  });
});
