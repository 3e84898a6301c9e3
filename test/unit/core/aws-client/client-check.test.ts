import { InvalidArgumentError } from '../../../../lib/core';
import { checkClient } from '../../../../lib/core/aws-client/client-check';

const METHODS = ['query', 'getItem'];
const client = { query: () => {}, getItem: () => {} };

test('a client has all methods that it is asked for', () => {
  expect(() => checkClient(client, METHODS)).not.toThrow();
});

test.each<[string, unknown, string]>([
  ['lacks one', { query: () => {} }, '{"query":'],
  ['is missing', undefined, 'undefined'],
  [
    'is a document client',
    { ...client, batchGet: () => {} },
    'a DynamoDBDocument: pass the client that it was made from',
  ],
])('a client that %s is refused', (_, wrong, got) => {
  expect(() => checkClient(wrong, METHODS)).toThrow(InvalidArgumentError);
  expect(() => checkClient(wrong, METHODS)).toThrow('client must be a client with query, getItem that returns');
  expect(() => checkClient(wrong, METHODS)).toThrow(got);
});
