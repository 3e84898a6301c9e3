import { InvalidArgumentError } from './errors';

/**
 * Refuses a client that lacks one of the methods. Refuses a document client, too, because its items are plain objects,
 * which do not show what DynamoDB sorts by.
 */
export function checkClient(client: unknown, methods: readonly string[]): void {
  const given: Record<string, unknown> = Object(client);
  const isDocumentClient = typeof given.batchGet === 'function';
  if (methods.every((method) => typeof given[method] === 'function') && !isDocumentClient) return;
  const allowed = `a client with ${methods.join(', ')} that answers attribute values, such as new DynamoDB({})`;
  const got = isDocumentClient ? 'a DynamoDBDocument; use plainItem for plain objects' : client;
  throw new InvalidArgumentError('client', got, allowed);
}
