import { checkClient } from '../../aws-client/client-check';
import type { QueryClient } from './query-client';

/**
 * Checks a client, and returns the client that sends the queries. This is usually the same client. The document client
 * of DAX uses plain objects, so queries call the `query` of its base class `Dax`, which uses attribute values.
 *
 * @throws InvalidArgumentError as `checkClient` does
 */
export function checkedQueryClient(client: QueryClient): QueryClient {
  const dax = daxPrototype(client);
  if (dax !== undefined) return { query: (input) => dax.query.call(client, input) };
  checkClient(client, ['query']);
  return client;
}

/** Returns the prototype of `Dax` if the client is a `DaxDocument`, otherwise undefined. */
function daxPrototype(client: unknown): QueryClient | undefined {
  const given: Record<string, unknown> = Object(client);
  if (typeof given.batchGet !== 'function' || typeof given.batchGetItem !== 'function') return undefined;
  let prototype = given;
  while (!Object.hasOwn(prototype, 'batchGetItem')) prototype = Object.getPrototypeOf(prototype);
  return typeof prototype.query === 'function' ? (prototype as unknown as QueryClient) : undefined;
}
