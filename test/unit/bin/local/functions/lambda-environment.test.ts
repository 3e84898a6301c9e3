import type { LocalFunction } from '../../../../../bin/local/assembly/planned-function';
import { lambdaEnvironment } from '../../../../../bin/local/functions/lambda-environment';

const endpoints = { kinesis: 'http://k', dynamodb: 'http://d', lambda: 'http://l' };

function cassandraOf(environment: Record<string, string>, cassandra?: string): string | undefined {
  const definition = {
    layers: [],
    runtime: 'nodejs22.x',
    environment,
    handler: 'index.handler',
    name: 'f',
    memoryMb: 128,
    codeDirectory: '/',
  } as never;
  return lambdaEnvironment(definition as LocalFunction, { ...endpoints, ...(cassandra && { cassandra }) })
    .EVEN_SHARDS_CASSANDRA;
}

const BLOGS = JSON.stringify({ keyspaceName: 'tracker', tableName: 'blogs' });

test('a function with a table of Amazon Keyspaces gets the address of the local Cassandra', () => {
  expect(cassandraOf({ BLOGS }, '127.0.0.1:9042')).toBe('127.0.0.1:9042');
});

test('a function with a table of Amazon Keyspaces gets a closed port if there is no local Cassandra', () => {
  expect(cassandraOf({ EVEN_SHARDS_TABLES: `{"blogs":${BLOGS}}` })).toBe('127.0.0.1:1');
});

test('other functions do not get the address of the local Cassandra', () => {
  expect(cassandraOf({ EVEN_SHARDS_TABLES: '{"jobs":{"tableName":"jobs"}}' }, '127.0.0.1:9042')).toBeUndefined();
});
