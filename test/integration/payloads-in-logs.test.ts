import {
  INDEXES,
  REGISTRY_FUNCTION_NAME,
  REGISTRY_TABLE_NAME,
  STREAM_NAME,
  TABLES,
} from '../../lib/core/contract/function-environment';
import { indexConfig } from '../support/index-config';
import { keyspacesConfig } from '../support/keyspaces-config';
import { LambdaFunction } from '../support/lambda-function';
import { type LoopbackServer, sendJson, startServer } from '../support/loopback-server';

const CANARY = 'canary-7f3a91';
const LARGE = CANARY.repeat(15_000);

/** A service that rejects every request, and whose error message contains the request. */
let server: LoopbackServer;
const functions: Record<string, LambdaFunction> = {};

const index = indexConfig({
  tableKey: ['id'],
  keyLayout: 'single-attribute',
  shards: { default: { write: 2, read: 2 } },
});
const table = keyspacesConfig({
  keyspaceName: 'k',
  tableName: 't',
  partitionKey: [{ name: 'author', type: 'text' }],
  firstShard: 0,
  clusteringColumns: [{ name: 'digest', type: 'blob', order: 'ASC' }],
  shards: { default: { write: 2, read: 2 } },
});

beforeAll(async () => {
  server = await startServer((response, body, { headers }) => {
    const type = String(headers['x-amz-target']).startsWith('Kinesis') ? 'InvalidArgument' : 'Validation';
    const message = `Value ${body} ${CANARY} is not valid`;
    sendJson(response, { __type: `${type}Exception`, message, detail: CANARY });
  });
  const environments = {
    producer: { [STREAM_NAME]: 'events', [REGISTRY_FUNCTION_NAME]: 'registry' },
    'query-fanout': { [INDEXES]: JSON.stringify({ byStatus: index }) },
    'keyspaces-query-fanout': { [TABLES]: JSON.stringify({ t: table }) },
    'hash-key-registry': { [STREAM_NAME]: 'events', [REGISTRY_TABLE_NAME]: 'registry' },
  };
  await Promise.all(
    Object.entries(environments).map(async ([name, environment]) => {
      functions[name] = await LambdaFunction.start({ name, endpoint: server.endpoint, environment });
    }),
  );
}, 60_000);

afterAll(async () => {
  await Promise.all(Object.values(functions).map((each) => each.stop()));
  server.stop();
});

const values = { ':a': { S: CANARY } };
const select = {
  filterExpression: '#a = :a',
  expressionAttributeNames: { '#a': 'a' },
  expressionAttributeValues: values,
};

test.each<[string, string, unknown]>([
  ['producer', 'an unknown field', { records: [{ partitionKey: 'a', data: 'x', [CANARY]: LARGE }] }],
  ['producer', 'a long key', { records: [{ partitionKey: LARGE, data: 'x' }] }],
  ['producer', 'an owner', { records: [{ partitionKey: 'a', data: 'x', hashKeyOwner: CANARY }] }],
  ['producer', 'records that the stream rejects', { records: [{ partitionKey: CANARY, data: CANARY }] }],
  [
    'producer',
    'a bad key of an item',
    {
      Records: [{ eventSource: 'aws:dynamodb', dynamodb: { Keys: { id: { S: 'a', N: CANARY } } } }],
    },
  ],
  ['producer', 'a bad message', { Records: [{ eventSource: 'aws:sqs', messageId: 'm', body: `{"a": ${LARGE}` }] }],
  ['producer', 'a bad event', LARGE],
  ['query-fanout', 'a long value', { index: 'byStatus', value: LARGE }],
  ['query-fanout', 'a bad cursor', { index: 'byStatus', value: 'x', cursor: LARGE }],
  [
    'query-fanout',
    'a bad placeholder',
    {
      index: 'byStatus',
      value: 'x',
      filterExpression: 'a',
      expressionAttributeValues: { [LARGE]: { S: '' } },
    },
  ],
  ['query-fanout', 'a query that the table rejects', { index: 'byStatus', value: CANARY, ...select }],
  ['keyspaces-query-fanout', 'a bad value', { table: 't', value: { author: { LARGE } } }],
  ['keyspaces-query-fanout', 'a bad cursor', { table: 't', value: { author: 'a' }, cursor: LARGE }],
  ['hash-key-registry', 'a bad owner', { action: 'get', owners: [LARGE] }],
  ['hash-key-registry', 'an owner that the table rejects', { action: 'get', owners: [CANARY] }],
  ['hash-key-registry', 'a stale move', { action: 'move', owner: CANARY, fromHashKey: CANARY, toHashKey: '2' }],
])('%s – %s – logs the error without data of the event', async (name, _, event) => {
  const { error, response, log } = await functions[name]!.invoke(event, 5_000);
  expect(log).not.toContain(CANARY.slice(0, 6));
  expect(log).not.toBe('');
  expect(log.length).toBeLessThan(20_000);
  // The caller of the function receives the reason in the error or in the response.
  expect(error?.message ?? response).toMatch(/must be|rejected|not valid|batchItemFailures/);
});
