import { callWithin } from '../kernel/call-within';
import { type Clock, systemClock } from '../kernel/clock';
import { RecentMap } from '../kernel/recent-map';
import { withRetries } from '../kernel/retries';
import type { ShardedConfigSource, ShardedIndexConfig } from '../sharded-index';
import { adaptiveCountsOf, checkCountReader, countedValues } from './adaptive-config';
import { configWithCounts } from './config-with-counts';
import type { GrownCount } from './grown-count';
import { type Answer, LiveCopy, type Moment } from './live-copy';
import type { CountPage, CountReadOptions, ShardCountReader } from './shard-count-store';

/** Options of an `AdaptiveIndex`. */
export interface AdaptiveIndexOptions {
  /**
   * Called with the reason when the counts cannot be read. Readers fail when their copy is too old; writers use the counts of
   * the configuration then, and a hot value is throttled again until the counts can be read.
   */
  onUnavailable?(error: unknown): void;
  /**
   * The clock for the age of copies and for waits.
   * @default the clock of the system
   */
  clock?: Clock;
  /**
   * The time of day in milliseconds, which goes on while a computer sleeps. It can only make a copy older than the clock says.
   * @default Date.now
   */
  timeOfDay?(): number;
  /**
   * A source of numbers in [0, 1), for the jitter of the waits between attempts.
   * @default Math.random
   */
  random?(): number;
}

/** A small table answers within milliseconds. An answer that takes longer is most likely lost. */
const ANSWER_MS = 1_000;
const ATTEMPTS = 3;
const BACKOFF = { backoffBaseMs: 50, backoffCapMs: 1_000 };

/**
 * Up to this many counts are read together. They cost 50 read units and an answer of about 200 kB. If there are more, each
 * process reads only the counts of the values that it is asked for.
 */
const READ_TOGETHER = 1_000;

/** For how many values the counts are kept. The counts of a value that was forgotten are read again. */
const VALUES_KEPT = 10_000;

/**
 * How many names of values the kept configurations hold together: each of them names all values that the index was
 * configured with.
 */
const NAMES_KEPT = 200_000;

/** The counts of one value, and the configuration with these counts. */
interface CountOfValue {
  readonly count: GrownCount | undefined;
  readonly config: ShardedIndexConfig;
}

/**
 * An index whose shard counts grow while applications run. Pass it in place of its configuration to `fanOutQuery`,
 * `fanOutItems` and `fanOutCount`; take the configuration for a write from `forWriting`, right before the write:
 *
 *     const byStatus = new AdaptiveIndex(config, new DynamoDbShardCountReader(dynamoDb, config));
 *     const page = await fanOutQuery(dynamoDb, byStatus, { value: 'open' });
 *     await documents.put(shardPut([await byStatus.forWriting(order.status)], order));
 *
 * It keeps a copy of the counts for 30 seconds and replaces it from the age of 10 seconds on. As long as no more than 1,000
 * values have grown, that is one small query, however many values and callers there are. If more have, it reads the counts
 * of the values that it is asked for, one read unit each, and keeps those of the last 10,000 values, or of fewer if the
 * configuration names more than 20. So keep one instance for the life of the process, and name the values that you write.
 *
 * While the counts cannot be read, readers and writers use the copy for as long as it lives. Then readers fail, and writers
 * use the counts of the configuration, whose shards every reader asks.
 */
export class AdaptiveIndex implements ShardedConfigSource {
  /** The configuration with the counts that the index was configured with. */
  readonly initial: ShardedIndexConfig;
  private readonly clock: Clock;
  /** The counts of all values. Undefined if there are too many to read them together. */
  private readonly few: LiveCopy<ShardedIndexConfig | undefined>;
  /** The counts of all values, however many they are. */
  private readonly all: LiveCopy<ShardedIndexConfig>;
  private readonly byValue: RecentMap<string, LiveCopy<CountOfValue>>;
  /** No count is ever deleted. So once there are too many counts, there always are. */
  private tooMany = false;

  /**
   * @param config the configuration that the index emits
   * @param store holds the counts of that index
   * @throws InvalidArgumentError if the store cannot be asked for counts, or is that of another index
   * @throws InvalidIndexConfigError unless that index has adaptive counts
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
    this.byValue = new RecentMap(Math.ceil(Math.min(VALUES_KEPT, NAMES_KEPT / names)));
    this.few = this.copyOf((before) => this.readFew(before));
    this.all = this.copyOf((before) => this.readAll(before));
  }

  /**
   * The configuration with the counts that a page of these values needs, if it begins now, to find every item. Take it for
   * one page or one stream, and never keep it. The functions that take an `AdaptiveIndex` do so.
   *
   * @param withinMs how long to wait for it, in milliseconds. The wait for each answer is never longer than three seconds
   * @param values the values that the page asks for. Without them, the counts of all values are read, in pages of 1,000
   * @throws ShardCountsUnavailableError if the counts cannot be read, or not in time, and the copy is too old
   */
  async forReading(
    withinMs = Number.POSITIVE_INFINITY,
    values?: readonly (string | number)[],
  ): Promise<ShardedIndexConfig> {
    const endMs = this.clock.now() + withinMs;
    const left = (): number => Math.max(0, endMs - this.clock.now());
    const few = this.tooMany ? undefined : await this.few.value(withinMs);
    if (few !== undefined) return few;
    const names = values && this.store.readCount && countedValues(this.config, values);
    if (names === undefined) return this.all.value(left());
    const counts = await Promise.all(names.map((name) => this.copyOfValue(name).value(left())));
    if (counts.length === 1) return counts[0]!.config;
    return configWithCounts(
      this.config,
      counts.flatMap(({ count = [] }) => count),
    );
  }

  /**
   * The configuration for writes, with the counts of the moment. Take it right before each write, or each batch. While
   * the counts cannot be read, it has the counts that the index was configured with.
   *
   * @param values the value of the item to write, or the values of a batch. Any other value has the counts of the
   *   configuration, if more than 1,000 values have grown. Without them, the counts of all values are read
   */
  async forWriting(values?: string | number | readonly (string | number)[]): Promise<ShardedIndexConfig> {
    try {
      return await this.forReading(undefined, typeof values === 'object' || values === undefined ? values : [values]);
    } catch {
      return this.initial;
    }
  }

  private copyOfValue(name: string): LiveCopy<CountOfValue> {
    let copy = this.byValue.get(name);
    if (copy === undefined) {
      copy = this.copyOf((before) => this.readOne(name, before));
      this.byValue.set(name, copy);
    }
    return copy;
  }

  private copyOf<T>(read: (before: T | undefined) => Promise<Answer<T>>): LiveCopy<T> {
    return new LiveCopy(
      this.clock,
      () => this.now(),
      read,
      (error) => this.options.onUnavailable?.(error),
    );
  }

  private now(): Moment {
    return { ms: this.clock.now(), timeOfDay: (this.options.timeOfDay ?? Date.now)() };
  }

  private async readFew(before: ShardedIndexConfig | undefined): Promise<Answer<ShardedIndexConfig | undefined>> {
    const { value: page, askedAt } = await this.readPage(undefined);
    this.tooMany = page.next !== undefined;
    return { value: this.tooMany ? undefined : configWithCounts(this.config, page.counts, before), askedAt };
  }

  private async readAll(before: ShardedIndexConfig | undefined): Promise<Answer<ShardedIndexConfig>> {
    const counts: GrownCount[] = [];
    const first = await this.readPage(undefined);
    for (let page = first.value; ; page = (await this.readPage(page.next)).value) {
      for (const count of page.counts) counts.push(count);
      if (page.next === undefined) break;
    }
    // Each page was read after the first question was asked.
    return { value: configWithCounts(this.config, counts, before), askedAt: first.askedAt };
  }

  private async readOne(name: string, before: CountOfValue | undefined): Promise<Answer<CountOfValue>> {
    const { value: count, askedAt } = await this.answer((options) => this.store.readCount!(name, options));
    const counts = count === undefined ? [] : [count];
    return { value: { count, config: configWithCounts(this.config, counts, before?.config ?? this.initial) }, askedAt };
  }

  private readPage(from: unknown): Promise<Answer<CountPage>> {
    return this.answer(async (options) =>
      this.store.readCountPage === undefined
        ? { counts: await this.store.readCounts(options) }
        : // One more tells that there are more.
          this.store.readCountPage({ ...options, from, limit: READ_TOGETHER + 1 }),
    );
  }

  /** Each question has its own time and its own attempts, even if it takes several questions to know all counts. */
  private async answer<T>(ask: (options: CountReadOptions) => Promise<T>): Promise<Answer<T>> {
    const { random = Math.random } = this.options;
    const policy = { ...BACKOFF, attempts: ATTEMPTS, clock: this.clock, random };
    const call = async (): Promise<Answer<T>> => {
      // The age counts from the question, because the answer was read after it.
      const askedAt = this.now();
      return { value: await callWithin({ ms: ANSWER_MS, clock: this.clock }, ask), askedAt };
    };
    return withRetries(policy, call, () => false);
  }
}
