import { backoffMs } from '../foundation/backoff';
import { callWithin } from '../foundation/call-within';
import { type Clock, systemClock } from '../foundation/clock';
import type { IndexShards, ShardCount, ShardedConfigSource, ShardedIndexConfig } from '../sharded-index';
import { adaptiveCountsOf, checkCountReader, floorOf } from './adaptive-config';
import { ShardCountsUnavailableError } from './adaptive-count-errors';
import { COPY_LIFE_MS, REFRESH_AFTER_MS } from './copy-life';
import { checkGrownCount, type GrownCount } from './grown-count';
import type { ShardCountReader } from './shard-count-store';

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

/** A configuration as it was at some moment after the two times. */
interface Copy {
  config: ShardedIndexConfig;
  askedAtMs: number;
  askedAtTimeOfDay: number;
}

/** A small table answers within milliseconds. Who waits longer waits for an answer that was lost. */
const ANSWER_MS = 1_000;
const ATTEMPTS = 3;
const BACKOFF = { backoffBaseMs: 50, backoffCapMs: 1_000 };

/** After a failure, nobody asks for so long: the next caller would wait as long, and fail as well. */
const PAUSE_AFTER_FAILURE_MS = 1_000;

/**
 * An index whose shard counts grow while applications run. Pass it in place of its configuration to `fanOutQuery`,
 * `fanOutItems` and `fanOutCount`; take the configuration for a write from `forWriting`, right before the write:
 *
 *     const byStatus = new AdaptiveIndex(config, new DynamoDbShardCountReader(dynamoDb, config));
 *     const page = await fanOutQuery(dynamoDb, byStatus, { value: 'open' });
 *     await documents.put(shardPut([await byStatus.forWriting()], order));
 *
 * It keeps a copy of the counts for 30 seconds and replaces it from the age of 10 seconds on, by one small query at a time,
 * however many values and callers there are. So keep one instance for the life of the process.
 *
 * While the counts cannot be read, readers and writers go on for as long as the copy lives. Then readers fail, and writers
 * use the counts of the configuration, which every reader asks.
 */
export class AdaptiveIndex implements ShardedConfigSource {
  /** The configuration with the counts that the index was configured with. */
  readonly initial: ShardedIndexConfig;
  private readonly clock: Clock;
  private copy: Copy | undefined;
  private asking: Promise<Copy> | undefined;
  private failure: { error: unknown; atMs: number } | undefined;

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
    this.initial = withCounts(config, []);
    this.clock = options.clock ?? systemClock;
  }

  /**
   * The configuration with counts by which a page that begins now finds every item. Take it for one page or one stream, and
   * never keep it. The functions that take an `AdaptiveIndex` do so.
   *
   * @param withinMs for how long to wait for it, in milliseconds: three seconds at most without it, and whatever it is
   * @throws ShardCountsUnavailableError if the counts cannot be read, or not in time, and the copy is too old
   */
  async forReading(withinMs = Number.POSITIVE_INFINITY): Promise<ShardedIndexConfig> {
    const copy = this.usableCopy() ?? (await this.askWithin(withinMs));
    if (!this.isFresh(copy)) throw new ShardCountsUnavailableError();
    return copy.config;
  }

  /**
   * The configuration for writes, with the counts of the moment. Take it right before each write, or each batch. While
   * the counts cannot be read, it has the counts that the index was configured with.
   */
  async forWriting(): Promise<ShardedIndexConfig> {
    try {
      const copy = this.usableCopy() ?? (await this.ask());
      return this.isFresh(copy) ? copy.config : this.initial;
    } catch {
      return this.initial;
    }
  }

  /** The copy, unless it is too old. If it is old, it is replaced meanwhile. */
  private usableCopy(): Copy | undefined {
    const { copy } = this;
    if (copy === undefined || !this.isFresh(copy)) return undefined;
    if (this.ageOf(copy) >= REFRESH_AFTER_MS) this.ask().catch(() => {});
    return copy;
  }

  private isFresh(copy: Copy): boolean {
    return this.ageOf(copy) < COPY_LIFE_MS;
  }

  /** The clock may have stood still while the process was frozen, and the time of day may have been set back. */
  private ageOf({ askedAtMs, askedAtTimeOfDay }: Copy): number {
    return Math.max(this.clock.now() - askedAtMs, this.timeOfDay() - askedAtTimeOfDay);
  }

  private timeOfDay(): number {
    return (this.options.timeOfDay ?? Date.now)();
  }

  /** Replaces the copy. Who asks while somebody is asking already waits for that answer. */
  private ask(): Promise<Copy> {
    const { failure } = this;
    if (failure !== undefined && this.clock.now() - failure.atMs < PAUSE_AFTER_FAILURE_MS) {
      return Promise.reject(failure.error);
    }
    this.asking ??= this.askInTurn().finally(() => {
      this.asking = undefined;
    });
    return this.asking;
  }

  /** Whoever cannot wait leaves the question to others. */
  private async askWithin(ms: number): Promise<Copy> {
    const asked = this.ask();
    if (!Number.isFinite(ms)) return asked;
    return callWithin({ ms, clock: this.clock }, () => asked).catch((cause) => {
      throw cause instanceof ShardCountsUnavailableError ? cause : new ShardCountsUnavailableError({ cause });
    });
  }

  private async askInTurn(): Promise<Copy> {
    try {
      this.copy = await this.attempts();
      this.failure = undefined;
      return this.copy;
    } catch (cause) {
      const error = new ShardCountsUnavailableError({ cause });
      this.failure = { error, atMs: this.clock.now() };
      this.options.onUnavailable?.(cause);
      throw error;
    }
  }

  private async attempts(): Promise<Copy> {
    const { random = Math.random } = this.options;
    for (let attempt = 1; ; attempt++) {
      // The age counts from the question: the answer is as of a moment behind it.
      const [askedAtMs, askedAtTimeOfDay] = [this.clock.now(), this.timeOfDay()];
      try {
        const counts = await this.answered();
        return { config: withCounts(this.config, counts), askedAtMs, askedAtTimeOfDay };
      } catch (error) {
        if (attempt === ATTEMPTS) throw error;
        await this.clock.sleep(backoffMs(attempt, { ...BACKOFF, random }));
      }
    }
  }

  private answered(): Promise<GrownCount[]> {
    return callWithin({ ms: ANSWER_MS, clock: this.clock }, (options) => this.store.readCounts(options));
  }
}

/** A configuration with fixed counts: for each value the larger of those it has grown to and those it was configured with. */
function withCounts(config: ShardedIndexConfig, counts: readonly GrownCount[]): ShardedIndexConfig {
  const { version: _version, adaptive: _adaptive, ...rest } = config;
  const shards: IndexShards = { default: config.shards.default };
  const byValue = new Map(Object.entries(config.shards.byValue ?? {}));
  for (const count of counts) {
    checkGrownCount(count);
    const larger = largerOf(floorOf(config, count.value), count);
    if (count.value === undefined) shards.default = larger;
    else byValue.set(count.value, larger);
  }
  if (byValue.size > 0) shards.byValue = Object.fromEntries(byValue);
  return { ...rest, shards };
}

function largerOf(a: ShardCount, b: ShardCount): ShardCount {
  return { write: Math.max(a.write, b.write), read: Math.max(a.read, b.read) };
}
