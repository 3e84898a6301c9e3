import { InvalidArgumentError } from '../../kernel/errors';
import { AnswerCache, type TextCache } from './answer-cache';
import { checkedQueryClient } from './checked-query-client';
import type { IndexQueryInput, IndexQueryOutput, QueryClient } from './query-client';

/**
 * A client that answers the same query from a cache, and that sends it once while several ask it. Use it for values that
 * are read far more often than they may be stale: it takes the read units of a hot shard from once a request to once a
 * time-to-live.
 *
 *     const cache = new LRUCache<string, string>({ maxSize: 50_000_000, ttl: 1_000 }); // of the package lru-cache
 *     const page = await fanOutQuery(cachedQueryClient(new DynamoDB({ maxAttempts: 1 }), cache), config, request);
 *
 * Pages are then as old as the cache allows, and their shards may be of different ages. Consistent reads always go to the
 * client. The read units of an answer from the cache are 0. `cached.fresh` is a client that asks and refreshes the cache. Pass no
 * `FanOutHistory`: the sizes that it learns change the queries, and a changed query is another question.
 *
 * @param client sends the queries that the cache cannot answer
 * @param cache keeps the answers as texts; it bounds their bytes and their age
 */
export function cachedQueryClient(client: QueryClient, cache: TextCache): QueryClient & { fresh: QueryClient } {
  const { get, set }: Partial<TextCache> = Object(cache);
  if (typeof get !== 'function' || typeof set !== 'function') {
    throw new InvalidArgumentError('cache', cache, 'a cache with get and set, such as an LRUCache');
  }
  const sender = checkedQueryClient(client);
  const answers = new AnswerCache<IndexQueryOutput>(cache, textOf, answerOf);
  const question = (input: IndexQueryInput): string => JSON.stringify(input, withBinary);
  return {
    query(input, options) {
      if (input.ConsistentRead) return sender.query(input, options);
      const kept = answers.kept(question(input));
      if (kept !== undefined) return Promise.resolve({ ...kept, ConsumedCapacity: { CapacityUnits: 0 } });
      // Others may wait for the same answer, so the signal of one of them does not abort the query.
      return unlessAborted(
        answers.ask(question(input), () => sender.query(input)),
        options?.abortSignal,
      );
    },
    fresh: {
      query(input, options) {
        if (input.ConsistentRead) return sender.query(input, options);
        return answers.askAnew(question(input), () => sender.query(input, options));
      },
    },
  };
}

async function unlessAborted<A>(answer: Promise<A>, signal: AbortSignal | undefined): Promise<A> {
  if (signal === undefined) return answer;
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** An answer without what only the request that sent it may know. An answer that says nothing is not kept. */
function textOf({ Items, Count, ScannedCount, LastEvaluatedKey }: IndexQueryOutput): string | undefined {
  return ScannedCount === undefined
    ? undefined
    : JSON.stringify({ Items, Count, ScannedCount, LastEvaluatedKey }, withBinary);
}

function answerOf(text: string): IndexQueryOutput {
  return JSON.parse(text, (_, value) =>
    typeof value?.evenShardsBinary === 'string' ? new Uint8Array(Buffer.from(value.evenShardsBinary, 'base64')) : value,
  );
}

/** JSON of bytes. A `Buffer` has written itself as an object of numbers already when a replacer sees it. */
function withBinary(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const given = this[key];
  return given instanceof Uint8Array ? { evenShardsBinary: Buffer.from(given).toString('base64') } : value;
}
