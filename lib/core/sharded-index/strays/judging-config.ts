import { hasFallen } from '../change/shard-count-change';
import { isConfigSource, type ShardedConfig, type ShardedConfigSource } from '../config/sharded-index-config';

/**
 * The configuration by which items are judged: a fixed one, or the one of the moment. Whoever gives an item its shard is a
 * writer of the index and must know the present counts, and a walk over a table takes hours. So each page and each move
 * asks for the counts anew.
 */
export class JudgingConfig {
  private last: ShardedConfig | undefined;
  private fell = false;

  constructor(private readonly index: ShardedConfig | ShardedConfigSource) {}

  /** What is the same at every moment: everything but the counts. */
  get initial(): ShardedConfig {
    return isConfigSource(this.index) ? this.index.initial : this.index;
  }

  /** The configuration that `ofTheMoment` has returned last. */
  get latest(): ShardedConfig {
    return this.last ?? this.initial;
  }

  /** @throws what a source throws that cannot tell the counts of the moment */
  async ofTheMoment(): Promise<ShardedConfig> {
    if (!isConfigSource(this.index)) return this.index;
    const now = await this.index.forReading();
    if (this.last !== undefined && now !== this.last) this.fell ||= hasFallen(this.last.shards, now.shards);
    this.last = now;
    return now;
  }

  /** Whether a count has fallen since the last call. If so, items that were judged by the larger count must be judged again. */
  takeFall(): boolean {
    const { fell } = this;
    this.fell = false;
    return fell;
  }
}
