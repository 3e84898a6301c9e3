import type { LocalFunction } from '../../../../../bin/local/assembly/deployment-plan';
import { lambdaEnvironment } from '../../../../../bin/local/functions/lambda-environment';

const endpoints = { kinesis: 'http://k', dynamodb: 'http://d', lambda: 'http://l' };

function told(environment: Record<string, string>, cassandra?: string): string | undefined {
  const definition = { environment, handler: 'index.handler', name: 'f', memoryMb: 128, codeDirectory: '/' } as never;
  return lambdaEnvironment(definition as LocalFunction, { ...endpoints, ...(cassandra && { cassandra }) })
    .EVEN_SHARDS_CASSANDRA;
}

const BLOGS = JSON.stringify({ keyspaceName: 'tracker', tableName: 'blogs' });

test('a function that knows a table of Amazon Keyspaces is told of the Cassandra in its place', () => {
  expect(told({ BLOGS }, '127.0.0.1:9042')).toBe('127.0.0.1:9042');
});

test('without one it finds nobody, so that no request leaves the machine', () => {
  expect(told({ EVEN_SHARDS_TABLES: `{"blogs":${BLOGS}}` })).toBe('127.0.0.1:1');
});

test('no other function is told', () => {
  expect(told({ EVEN_SHARDS_TABLES: '{"jobs":{"tableName":"jobs"}}' }, '127.0.0.1:9042')).toBeUndefined();
});
