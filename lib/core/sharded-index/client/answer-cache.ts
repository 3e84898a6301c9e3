import { InvalidArgumentError } from '../../kernel/errors';

/**
 * A cache of texts, such as the `LRUCache` of the package `lru-cache`: give it a `ttl`, and a `maxSize` in bytes.
 *
 * A failing cache does not make a query fail. If `get` throws, or returns a text that `set` did not store, the cache
 * counts as empty. If `set` throws, or returns a promise that rejects, the query uses the response without caching it.
 * `get` must be synchronous, so a cache on the network does not fit: a query rejects a `get` that returns a promise.
 */
export interface TextCache {
  get(key: string): string | undefined;
  /**
   * Stores a text. The caller ignores the result and does not wait for a promise.
   *
   * @param options.size the bytes that the entry takes
   */
  set(key: string, text: string, options: { size: number }): unknown;
}

/** The most bytes that a character of a text takes in memory. */
const BYTES_PER_CHARACTER = 2;

/**
 * Caches the responses to requests. Callers with the same request share one request in flight. Failures are not cached.
 * Responses are stored as texts, so their size is known and no caller can modify a cached response.
 */
export class AnswerCache<A> {
  private readonly asked = new Map<string, Promise<A>>();

  /**
   * @param cache stores the responses
   * @param write returns the text of a response, or undefined for a response that must not be cached
   * @param read parses the text of a response
   */
  constructor(
    private readonly cache: TextCache,
    private readonly write: (answer: A) => string | undefined,
    private readonly read: (text: string) => A,
  ) {}

  /**
   * Returns the cached response, if the cache has it.
   *
   * @throws InvalidArgumentError if the cache returns something else than a text, such as a promise
   */
  kept(question: string): A | undefined {
    const text = this.textOf(question);
    if (text === undefined || text === null) return undefined;
    if (typeof text !== 'string') {
      overlookRejection(text);
      throw new InvalidArgumentError('cache.get', text, 'a synchronous function that returns a text or undefined');
    }
    try {
      return this.read(text);
    } catch {
      // Another program wrote this text.
      return undefined;
    }
  }

  /**
   * Sends the request and caches the response. If the same request is in flight already, waits for its response
   * instead.
   */
  ask(question: string, ask: () => Promise<A>): Promise<A> {
    return this.asked.get(question) ?? this.askAnew(question, ask);
  }

  /** Sends the request even if the same request is in flight, and caches the response. */
  askAnew(question: string, ask: () => Promise<A>): Promise<A> {
    const answer = ask().then((given) => {
      const text = this.write(given);
      if (text !== undefined) this.keep(question, text);
      return given;
    });
    this.asked.set(question, answer);
    const forget = (): void => {
      if (this.asked.get(question) === answer) this.asked.delete(question);
    };
    answer.then(forget, forget);
    return answer;
  }

  private textOf(question: string): unknown {
    try {
      return this.cache.get(question);
    } catch {
      // A failing cache counts as empty.
      return undefined;
    }
  }

  private keep(question: string, text: string): void {
    const size = BYTES_PER_CHARACTER * (question.length + text.length);
    try {
      overlookRejection(this.cache.set(question, text, { size }));
    } catch {
      // The caller gets the response even if the cache cannot store it.
    }
  }
}

/** Ignores a rejection. Otherwise Node.js would end the process. */
function overlookRejection(result: unknown): void {
  Promise.resolve(result).catch(() => undefined);
}
