import { InvalidArgumentError } from '../foundation/errors';
import type { QueryClient } from './query-client';

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

/**
 * The client that queries are sent through.
 *
 * The document client of DAX takes and gives plain objects. But it extends the other client of DAX, `Dax`, whose `query`
 * takes and gives attribute values, so queries are sent through that.
 *
 * @throws InvalidArgumentError as `checkClient` does
 */
export function checkedQueryClient(client: QueryClient): QueryClient {
  const dax = daxPrototype(client);
  if (dax !== undefined) return { query: (input) => dax.query.call(client, input) };
  checkClient(client, ['query']);
  return client;
}

/** The prototype of `Dax` that a `DaxDocument` extends. Undefined for every other client. */
function daxPrototype(client: unknown): QueryClient | undefined {
  const given: Record<string, unknown> = Object(client);
  if (typeof given.batchGet !== 'function' || typeof given.batchGetItem !== 'function') return undefined;
  let prototype = given;
  while (!Object.hasOwn(prototype, 'batchGetItem')) prototype = Object.getPrototypeOf(prototype);
  return typeof prototype.query === 'function' ? (prototype as unknown as QueryClient) : undefined;
}
