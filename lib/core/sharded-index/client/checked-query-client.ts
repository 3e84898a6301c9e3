import { checkClient } from '../../aws-client/client-check';
import type { QueryClient } from './query-client';

/**
 * Returns the client that queries are sent through.
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

/** The prototype of `Dax` that a `DaxDocument` extends. It is undefined for every other client. */
function daxPrototype(client: unknown): QueryClient | undefined {
  const given: Record<string, unknown> = Object(client);
  if (typeof given.batchGet !== 'function' || typeof given.batchGetItem !== 'function') return undefined;
  let prototype = given;
  while (!Object.hasOwn(prototype, 'batchGetItem')) prototype = Object.getPrototypeOf(prototype);
  return typeof prototype.query === 'function' ? (prototype as unknown as QueryClient) : undefined;
}
