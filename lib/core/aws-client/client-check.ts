import { InvalidArgumentError } from '../kernel/errors';

/**
 * Every entry point that takes a DynamoDB client calls this. It rejects a client that lacks one of the methods, and a document client:
 * that client takes and gives plain objects, which do not show what DynamoDB sorts by.
 */
export function checkClient(client: unknown, methods: readonly string[]): void {
  const given: Record<string, unknown> = Object(client);
  const isDocumentClient = typeof given.batchGet === 'function';
  if (methods.every((method) => typeof given[method] === 'function') && !isDocumentClient) return;
  const allowed = `a client with ${methods.join(', ')} that answers attribute values, such as new DynamoDB({})`;
  const got = isDocumentClient ? 'a DynamoDBDocument: pass the client that it was made from' : client;
  throw new InvalidArgumentError('client', got, allowed);
}
