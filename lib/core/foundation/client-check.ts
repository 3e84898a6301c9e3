import { InvalidArgumentError } from './errors';

/**
 * Refuses a client without one of the methods, and a document client, whose items are plain objects: they do not show what
 * DynamoDB sorts by.
 */
export function checkClient(client: unknown, methods: readonly string[]): void {
  const given: Record<string, unknown> = Object(client);
  const isDocumentClient = typeof given.batchGet === 'function';
  if (methods.every((method) => typeof given[method] === 'function') && !isDocumentClient) return;
  const allowed = `a client with ${methods.join(', ')} that answers attribute values, such as new DynamoDB({})`;
  const got = isDocumentClient ? 'a DynamoDBDocument; use plainItem for plain objects' : client;
  throw new InvalidArgumentError('client', got, allowed);
}
