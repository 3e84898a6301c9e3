import { callWithin } from '../kernel/call-within';
import { type Clock, systemClock } from '../kernel/clock';
import { RecentMap } from '../kernel/recent-map';
import { withRetries } from '../kernel/retries';
import type { ShardedConfigSource, ShardedIndexConfig } from '../sharded-index';
import { adaptiveCountsOf, checkCountReader, countedValues } from './adaptive-config';
import { CachedValue, type Moment, type TimedValue } from './cached-value';
import { configWithCounts } from './config-with-counts';
import type { GrownCount } from './grown-count';
import type { CountPage, CountReadOptions, ShardCountReader } from './shard-count-store';

/** Options of an `AdaptiveIndex`. */
export interface AdaptiveIndexOptions {
  /**
   * Called with the error if the counts cannot be read. If the cached counts are then older than 30 seconds, readers fail.
   * Writers use the initial counts, so a hot value may be throttled again.
   */
  onUnavailable?(error: unknown): void;
  /**
   * The clock for the age of cached counts and for waits.
   * @default the system clock
   */
  clock?: Clock;
  /**
   * Returns the time of day in milliseconds. The time of day continues while a computer sleeps, but `clock` can stop. So the
   * age of cached counts is measured with both, and the larger age is used.
   * @default Date.now
   */
  timeOfDay?(): number;
  /**
   * Returns random numbers in [0, 1) for the jitter of the waits between attempts.
   * @default Math.random
   */
  random?(): number;
}

/**
 * The time-out of a request for counts. The small table of counts responds within milliseconds, so a response that takes longer
 * is most likely lost.
 */
const TIMEOUT_MS = 1_000;
const ATTEMPTS = 3;
const BACKOFF = { backoffBaseMs: 50, backoffCapMs: 1_000 };

/**
 * The maximum number of counts that one query reads. A query for this number of counts costs 50 read units, and its response
 * has about 200 kB. If the counts of more values have grown, each process reads only the counts of the values that it uses.
 */
const MAX_READ_TOGETHER = 1_000;

/**
 * The maximum number of values whose counts are cached. If the cache has dropped a value, the next caller reads its counts
 * again.
 */
const MAX_CACHED_VALUES = 10_000;

/**
 * The maximum number of values in all cached configurations together. This bounds the memory, because each cached configuration
 * contains all values of the initial configuration.
 */
const MAX_CACHED_NAMES = 200_000;

/** The adaptive count of one value, and the configuration with this count. */
interface CountOfValue {
  readonly count: GrownCount | undefined;
  readonly config: ShardedIndexConfig;
}

/**
 * An index whose shard counts grow while applications run. Pass the `AdaptiveIndex` to `fanOutQuery`, `fanOutItems` and
 * `fanOutCount`, instead of the configuration of the index. For a write, get the configuration from `forWriting` immediately
 * before the write:
 *
 *     const byStatus = new AdaptiveIndex(config, new DynamoDbShardCountReader(dynamoDb, config));
 *     const page = await fanOutQuery(dynamoDb, byStatus, { value: 'open' });
 *     await documents.put(shardPut([await byStatus.forWriting(order.status)], order));
 *
 * An `AdaptiveIndex` caches the counts for 30 seconds, and refreshes the counts in the background after 10 seconds. While the
 * counts of at most 1,000 values have grown, a refresh is one small query for the counts of all values. If the counts of more
 * values have grown, the index reads the counts of each value separately, and only if the process uses the value. Each such
 * read costs one read unit. The cache then has up to 10,000 values, or fewer if the configuration has more than 20 values. So
 * keep one instance for the life of the process, and pass the values that you write to `forWriting`.
 *
 * If the counts cannot be read, readers and writers use the cached counts until they are 30 seconds old. After that, readers
 * fail. Writers use the initial counts, because every reader queries at least the initial shards.
 */
export class AdaptiveIndex implements ShardedConfigSource {
  /** The configuration with its initial counts. */
  readonly initial: ShardedIndexConfig;
  private readonly clock: Clock;
  /**
   * The configuration with the counts of all values. Undefined if the counts of more than `MAX_READ_TOGETHER` values have
   * grown.
   */
  private readonly few: CachedValue<ShardedIndexConfig | undefined>;
  /** The configuration with the counts of all values, for any number of values. */
  private readonly all: CachedValue<ShardedIndexConfig>;
  private readonly byValue: RecentMap<string, CachedValue<CountOfValue>>;
  /**
   * Whether the counts of more than `MAX_READ_TOGETHER` values have grown. This field stays true, because stored counts are
   * never deleted.
   */
  private tooMany = false;

  /**
   * @param config the configuration that the index emits
   * @param store the reader of the stored counts of this index
   * @throws InvalidArgumentError if the store does not read counts, or belongs to another index
   * @throws InvalidIndexConfigError if the index does not have adaptive counts
   */
  constructor(
    private readonly config: ShardedIndexConfig,
    private readonly store: ShardCountReader,
    private readonly options: AdaptiveIndexOptions = {},
  ) {
    adaptiveCountsOf(config);
    checkCountReader(config, store);
    this.initial = configWithCounts(config, []);
    this.clock = options.clock ?? systemClock;
    const names = 1 + Object.keys(config.shards.byValue ?? {}).length;
    this.byValue = new RecentMap(Math.ceil(Math.min(MAX_CACHED_VALUES, MAX_CACHED_NAMES / names)));
    this.few = this.cacheOf((before) => this.readFew(before));
    this.all = this.cacheOf((before) => this.readAll(before));
  }

  /**
   * Returns the configuration for a page that reads the given values. Call this method when the page begins: a query with the
   * current counts reads every shard that can hold an item. Use the configuration for only one page or one stream of items.
   * Functions that take an `AdaptiveIndex` call this method themselves.
   *
   * @param withinMs how long to wait for the counts, in milliseconds. Each request has up to three attempts of at most one
   *   second
   * @param values the values that the page reads. Without values, the method reads the counts of all values, in pages of 1,000
   * @throws ShardCountsUnavailableError if the counts cannot be read in time, and the cached counts are too old
   */
  async forReading(
    withinMs = Number.POSITIVE_INFINITY,
    values?: readonly (string | number)[],
  ): Promise<ShardedIndexConfig> {
    const endMs = this.clock.now() + withinMs;
    const remainingMs = (): number => Math.max(0, endMs - this.clock.now());
    const few = this.tooMany ? undefined : await this.few.value(withinMs);
    if (few !== undefined) return few;
    const names = values && this.store.readCount && countedValues(this.config, values);
    if (names === undefined) return this.all.value(remainingMs());
    const counts = await Promise.all(names.map((name) => this.cacheOfValue(name).value(remainingMs())));
    if (counts.length === 1) return counts[0]!.config;
    return configWithCounts(
      this.config,
      counts.flatMap(({ count = [] }) => count),
    );
  }

  /**
   * Returns the configuration for a write, with the current counts. Call this method immediately before each write or each
   * batch. If the counts cannot be read, the method returns the configuration with the initial counts.
   *
   * @param values the value of the item to write, or the values of a batch. If the counts of more than 1,000 values have grown,
   *   the result has the current counts of only these values, and the initial counts of all other values. Without values, the
   *   method reads the counts of all values
   */
  async forWriting(values?: string | number | readonly (string | number)[]): Promise<ShardedIndexConfig> {
    try {
      return await this.forReading(undefined, typeof values === 'object' || values === undefined ? values : [values]);
    } catch {
      return this.initial;
    }
  }

  private cacheOfValue(name: string): CachedValue<CountOfValue> {
    let cache = this.byValue.get(name);
    if (cache === undefined) {
      cache = this.cacheOf((before) => this.readOne(name, before));
      this.byValue.set(name, cache);
    }
    return cache;
  }

  private cacheOf<T>(read: (before: T | undefined) => Promise<TimedValue<T>>): CachedValue<T> {
    return new CachedValue(
      this.clock,
      () => this.now(),
      read,
      (error) => this.options.onUnavailable?.(error),
    );
  }

  private now(): Moment {
    return { ms: this.clock.now(), timeOfDay: (this.options.timeOfDay ?? Date.now)() };
  }

  private async readFew(before: ShardedIndexConfig | undefined): Promise<TimedValue<ShardedIndexConfig | undefined>> {
    const { value: page, requestedAt } = await this.readPage(undefined);
    this.tooMany = page.next !== undefined;
    return { value: this.tooMany ? undefined : configWithCounts(this.config, page.counts, before), requestedAt };
  }

  private async readAll(before: ShardedIndexConfig | undefined): Promise<TimedValue<ShardedIndexConfig>> {
    const counts: GrownCount[] = [];
    const first = await this.readPage(undefined);
    for (let page = first.value; ; page = (await this.readPage(page.next)).value) {
      for (const count of page.counts) counts.push(count);
      if (page.next === undefined) break;
    }
    // The age of all counts begins with the first request, because all pages were read after that request was sent.
    return { value: configWithCounts(this.config, counts, before), requestedAt: first.requestedAt };
  }

  private async readOne(name: string, before: CountOfValue | undefined): Promise<TimedValue<CountOfValue>> {
    const { value: count, requestedAt } = await this.readWithRetries((options) => this.store.readCount!(name, options));
    const counts = count === undefined ? [] : [count];
    return {
      value: { count, config: configWithCounts(this.config, counts, before?.config ?? this.initial) },
      requestedAt,
    };
  }

  private readPage(from: unknown): Promise<TimedValue<CountPage>> {
    return this.readWithRetries(async (options) =>
      this.store.readCountPage === undefined
        ? { counts: await this.store.readCounts(options) }
        : // Reads one count more than the maximum, to find out whether more counts than the maximum have grown.
          this.store.readCountPage({ ...options, from, limit: MAX_READ_TOGETHER + 1 }),
    );
  }

  /** Sends a request for counts. Each request has its own time-out and its own attempts. */
  private async readWithRetries<T>(read: (options: CountReadOptions) => Promise<T>): Promise<TimedValue<T>> {
    const { random = Math.random } = this.options;
    const policy = { ...BACKOFF, attempts: ATTEMPTS, clock: this.clock, random };
    const call = async (): Promise<TimedValue<T>> => {
      // The age of the counts begins when the request is sent, because the store reads the counts after that time.
      const requestedAt = this.now();
      return { value: await callWithin({ ms: TIMEOUT_MS, clock: this.clock }, read), requestedAt };
    };
    return withRetries(policy, call, () => false);
  }
}
