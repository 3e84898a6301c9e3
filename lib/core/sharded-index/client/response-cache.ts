import { InvalidArgumentError } from '../../kernel/errors';
import { checksum } from '../../kernel/sealed-text';

/**
 * A cache of texts, such as the `LRUCache` of the package `lru-cache`: create the cache with a `ttl`, and with a `maxSize` in
 * bytes.
 *
 * A failing cache does not make a query fail. If `get` throws, or returns a value that `set` did not store for the key, the cache
 * counts as empty. If `set` throws, or returns a promise that rejects, the query uses the response without caching it. `get` must
 * be synchronous, so a cache on the network does not fit: a query rejects a `get` that returns a promise.
 */
export interface TextCache {
  get(key: string): string | undefined;
  /**
   * Stores a text. The caller ignores the result and does not wait for a promise.
   *
   * @param options.size the size of the entry, in bytes
   */
  set(key: string, text: string, options: { size: number }): unknown;
}

/** A text of the cache begins with a checksum that contains this name. Change the name with the format of the texts. */
const FORMAT = 'cdk-even-shards response 1';

/** The maximum number of bytes that a character of a text takes in memory. */
const BYTES_PER_CHARACTER = 2;

/**
 * Caches the responses to requests. Callers with the same request share one request in flight. Failures are not cached.
 * Responses are stored as texts, so their size is known and no caller can modify a cached response.
 */
export class ResponseCache<A> {
  private readonly inFlight = new Map<string, Promise<A>>();

  /**
   * @param cache the cache, which stores the responses
   * @param serialize returns the text of a response, or undefined for a response that must not be cached
   * @param parse parses the text of a response
   */
  constructor(
    private readonly cache: TextCache,
    private readonly serialize: (response: A) => string | undefined,
    private readonly parse: (text: string) => A,
  ) {}

  /**
   * Returns the cached response, if the cache has it.
   *
   * @throws InvalidArgumentError if the cache returns a promise
   */
  cached(key: string): A | undefined {
    const stored = this.storedFor(key);
    if (typeof Object(stored).then === 'function') {
      ignoreRejection(stored);
      throw new InvalidArgumentError('cache.get', stored, 'a synchronous function that returns a text or undefined');
    }
    if (typeof stored !== 'string') return undefined;
    const payload = stored.slice(CHECKSUM_LENGTH);
    return stored === sealed(key, payload) ? this.parse(payload) : undefined;
  }

  /**
   * Sends the request and caches the response. If the same request is in flight already, waits for its response
   * instead.
   */
  fetch(key: string, send: () => Promise<A>): Promise<A> {
    return this.inFlight.get(key) ?? this.refresh(key, send);
  }

  /** Sends the request even if the same request is in flight, and caches the response. */
  refresh(key: string, send: () => Promise<A>): Promise<A> {
    const response = send().then((received) => {
      const payload = this.serialize(received);
      if (payload !== undefined) this.store(key, sealed(key, payload));
      return received;
    });
    this.inFlight.set(key, response);
    const remove = (): void => {
      if (this.inFlight.get(key) === response) this.inFlight.delete(key);
    };
    response.then(remove, remove);
    return response;
  }

  private storedFor(key: string): unknown {
    try {
      return this.cache.get(key);
    } catch {
      // A failing cache counts as empty.
      return undefined;
    }
  }

  private store(key: string, text: string): void {
    const size = BYTES_PER_CHARACTER * (key.length + text.length);
    try {
      ignoreRejection(this.cache.set(key, text, { size }));
    } catch {
      // The caller gets the response even if the cache cannot store it.
    }
  }
}

/** The text of the cache for a response: a checksum of the key and the response, and the response. */
function sealed(key: string, payload: string): string {
  return checksum([FORMAT, key], payload).toString('base64url') + payload;
}

const CHECKSUM_LENGTH = sealed('', '').length;

/** Ignores a rejection. Otherwise Node.js would end the process. */
function ignoreRejection(result: unknown): void {
  Promise.resolve(result).catch(() => undefined);
}
