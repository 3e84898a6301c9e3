import { isDecreased } from '../change/shard-count-change';
import { isConfigSource, type ShardedConfig, type ShardedConfigSource } from '../config/sharded-index-config';

/**
 * The configuration that determines which items are strays. The configuration is either fixed, or the current configuration of
 * an index with adaptive counts. A scan can take hours while counts change, so each page and each move reads the current
 * counts.
 */
export class CurrentConfig {
  private last: ShardedConfig | undefined;
  private hasDecreased = false;

  constructor(private readonly index: ShardedConfig | ShardedConfigSource) {}

  /** The initial configuration. It can differ from the current configuration only in its counts. */
  get initial(): ShardedConfig {
    return isConfigSource(this.index) ? this.index.initial : this.index;
  }

  /** The configuration that the last call of `read` returned. */
  get latest(): ShardedConfig {
    return this.last ?? this.initial;
  }

  /** @throws the error of a source that cannot read the current counts */
  async read(): Promise<ShardedConfig> {
    if (!isConfigSource(this.index)) return this.index;
    const now = await this.index.forReading();
    if (this.last !== undefined && now !== this.last) this.hasDecreased ||= isDecreased(this.last.shards, now.shards);
    this.last = now;
    return now;
  }

  /**
   * Whether a count has decreased since the last call. If so, items that were checked against the larger count must be
   * checked again.
   */
  takeDecrease(): boolean {
    const { hasDecreased } = this;
    this.hasDecreased = false;
    return hasDecreased;
  }
}
