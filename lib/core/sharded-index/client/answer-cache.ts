import { InvalidArgumentError } from '../../kernel/errors';

/**
 * A cache of texts, such as the `LRUCache` of the package `lru-cache`: give it a `ttl`, and a `maxSize` in bytes.
 *
 * A cache that fails makes no query fail. If `get` throws, or returns a text that it was not given, the cache counts as
 * empty. If `set` throws, or returns a promise that rejects, the answer is used without being kept. `get` must answer at
 * once, so a cache on the network does not fit: a query refuses a `get` that returns a promise.
 */
export interface TextCache {
  get(key: string): string | undefined;
  /**
   * Keeps a text. Nobody waits for what it returns.
   *
   * @param options.size the bytes that the entry takes
   */
  set(key: string, text: string, options: { size: number }): unknown;
}

/** The most bytes that a character of a text takes in memory. */
const BYTES_PER_CHARACTER = 2;

/**
 * Answers the same question from a cache. While a question is in flight, other callers with the same question wait for its
 * answer. A failure is not kept. Answers are kept as texts, so that their size is known and nobody can change them.
 */
export class AnswerCache<A> {
  private readonly asked = new Map<string, Promise<A>>();

  /**
   * @param cache where the answers are kept
   * @param write the text of an answer, or undefined for an answer that must not be kept
   * @param read the answer of a text
   */
  constructor(
    private readonly cache: TextCache,
    private readonly write: (answer: A) => string | undefined,
    private readonly read: (text: string) => A,
  ) {}

  /**
   * The answer that is kept, if there is one.
   *
   * @throws InvalidArgumentError if the cache answers by anything else than a text, such as a promise
   */
  kept(question: string): A | undefined {
    const text = this.textOf(question);
    if (text === undefined || text === null) return undefined;
    if (typeof text !== 'string') {
      overlookRejection(text);
      throw new InvalidArgumentError('cache.get', text, 'a function that returns a text or undefined, and no promise');
    }
    try {
      return this.read(text);
    } catch {
      // The text is not one that this cache was given.
      return undefined;
    }
  }

  /** Asks, and keeps the answer. While a question is in flight, other callers wait for the same answer. */
  ask(question: string, ask: () => Promise<A>): Promise<A> {
    return this.asked.get(question) ?? this.askAnew(question, ask);
  }

  /** Asks, even while the same question is in flight, and keeps the answer. */
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
      // A cache that fails is as good as an empty one.
      return undefined;
    }
  }

  private keep(question: string, text: string): void {
    const size = BYTES_PER_CHARACTER * (question.length + text.length);
    try {
      overlookRejection(this.cache.set(question, text, { size }));
    } catch {
      // The answer is used even if the cache cannot keep it.
    }
  }
}

/** Without a listener, Node.js would end the process when the promise rejects. */
function overlookRejection(result: unknown): void {
  Promise.resolve(result).catch(() => undefined);
}
