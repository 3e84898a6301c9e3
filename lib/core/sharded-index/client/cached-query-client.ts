import { InvalidArgumentError } from '../../kernel/errors';
import { checkedQueryClient } from './checked-query-client';
import type { IndexQueryInput, IndexQueryOutput, QueryClient } from './query-client';
import { ResponseCache, type TextCache } from './response-cache';

/**
 * A client that caches the responses to queries. Use this client for values that are read often and may be stale for a short
 * time. A hot shard is then read once per time-to-live instead of once per request. Concurrent callers with the same query
 * share one request.
 *
 *     const cache = new LRUCache<string, string>({ maxSize: 50_000_000, ttl: 1_000 }); // of the package lru-cache
 *     const page = await fanOutQuery(cachedQueryClient(new DynamoDB({ maxAttempts: 1 }), cache), config, request);
 *
 * A page can be as old as the time-to-live of the cache, and the responses of its shards can have different ages. Consistent
 * reads always go to the client. A response from the cache reports 0 read units. `cached.fresh` is a client that always sends
 * the query, and caches the response. Do not pass a `FanOutHistory`: the sizes in this history change the limits of queries,
 * and the response to a changed query is not in the cache.
 *
 * @param client the client that sends the queries whose responses are not cached
 * @param cache the cache, which stores the responses as texts, and bounds their total size and their age
 */
export function cachedQueryClient(client: QueryClient, cache: TextCache): QueryClient & { fresh: QueryClient } {
  const { get, set }: Partial<TextCache> = Object(cache);
  if (typeof get !== 'function' || typeof set !== 'function') {
    throw new InvalidArgumentError('cache', cache, 'a cache with get and set, such as an LRUCache');
  }
  const sender = checkedQueryClient(client);
  const responses = new ResponseCache<IndexQueryOutput>(cache, textOf, responseOf);
  const keyOf = (input: IndexQueryInput): string => JSON.stringify(input, withBinary);
  return {
    query(input, options) {
      if (input.ConsistentRead) return sender.query(input, options);
      const cached = responses.cached(keyOf(input));
      if (cached !== undefined) return Promise.resolve({ ...cached, ConsumedCapacity: { CapacityUnits: 0 } });
      // Other callers may wait for the same response, so the signal of one caller does not abort the request.
      return unlessAborted(
        responses.fetch(keyOf(input), () => sender.query(input)),
        options?.abortSignal,
      );
    },
    fresh: {
      query(input, options) {
        if (input.ConsistentRead) return sender.query(input, options);
        return responses.refresh(keyOf(input), () => sender.query(input, options));
      },
    },
  };
}

async function unlessAborted<A>(response: Promise<A>, signal: AbortSignal | undefined): Promise<A> {
  if (signal === undefined) return response;
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
  });
  try {
    return await Promise.race([response, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/**
 * The text of a response, without the fields that describe only one request, such as its cost. A response without
 * `ScannedCount` is incomplete and is not cached.
 */
function textOf({ Items, Count, ScannedCount, LastEvaluatedKey }: IndexQueryOutput): string | undefined {
  return ScannedCount === undefined
    ? undefined
    : JSON.stringify({ Items, Count, ScannedCount, LastEvaluatedKey }, withBinary);
}

function responseOf(text: string): IndexQueryOutput {
  return JSON.parse(text, (_, value) =>
    typeof value?.evenShardsBinary === 'string' ? new Uint8Array(Buffer.from(value.evenShardsBinary, 'base64')) : value,
  );
}

/**
 * Replaces bytes by their base64 text. The function reads `this[key]`, because `JSON.stringify` has already converted a
 * `Buffer` when it passes `value`.
 */
function withBinary(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const given = this[key];
  return given instanceof Uint8Array ? { evenShardsBinary: Buffer.from(given).toString('base64') } : value;
}
