import { InvalidArgumentError } from '../kernel/errors';

/**
 * Rejects a DynamoDB client that lacks one of the methods. Also rejects a document client: its plain objects do not show the
 * attribute types, which decide the sort order in DynamoDB.
 */
export function checkClient(client: unknown, methods: readonly string[]): void {
  const given: Record<string, unknown> = Object(client);
  const isDocumentClient = typeof given.batchGet === 'function';
  if (methods.every((method) => typeof given[method] === 'function') && !isDocumentClient) return;
  const allowed = `a client with ${methods.join(', ')} that returns attribute values, such as new DynamoDB({})`;
  const got = isDocumentClient ? 'a DynamoDBDocument: pass the client that it was made from' : client;
  throw new InvalidArgumentError('client', got, allowed);
}
