import { InvalidArgumentError } from '../kernel/errors';

/**
 * Rejects a DynamoDB client that lacks one of the methods. Also rejects a document client: it returns plain objects without the
 * attribute types, and these types decide the sort order in DynamoDB.
 */
export function checkClient(client: unknown, methods: readonly string[]): void {
  const given: Record<string, unknown> = Object(client);
  const isDocumentClient = typeof given.batchGet === 'function';
  if (methods.every((method) => typeof given[method] === 'function') && !isDocumentClient) return;
  const allowed = `a client with ${methods.join(', ')} that returns attribute values, such as new DynamoDB({})`;
  const got = isDocumentClient ? 'a DynamoDBDocument: pass the client that it was made from' : client;
  throw new InvalidArgumentError('client', got, allowed);
}
