import { InvalidArgumentError } from '../kernel/errors';
import type { FanOutStats } from './fan-out-stats';
import type { ItemSizes } from './item-sizes';
import { blocksOf, itemsInBlock, itemsInBlocks } from './read-size';
import type { BufferRead } from './shard-buffer';

/**
 * The maximum number of blocks of one response: DynamoDB reads at most 1 MB for one request. Source: the DynamoDB developer
 * guide.
 */
const MAX_BLOCKS = 256;

/** Restricts the reads of a page to the read units that the page may consume. */
export class ReadBudget {
  /**
   * @param maxReadUnits absent: no bound
   * @param unitsOfBlock the read units of a block: 0.5, or 1 if reads are consistent
   * @param hides whether a filter can hide items that were read
   */
  constructor(
    private readonly maxReadUnits: number | undefined,
    private readonly unitsOfBlock: number,
    private readonly stats: Pick<FanOutStats, 'consumedReadUnits'>,
    private readonly sizes: ItemSizes,
    private readonly hides: boolean,
  ) {}

  /**
   * Restricts reads to the remaining budget. Returns all reads if the budget is sufficient. Otherwise returns all reads with
   * fewer items. If the budget is too small for all reads, returns only the first reads, with one block each. The cost of a read
   * is estimated from the sizes of the items.
   */
  fit<T>(planned: readonly BufferRead<T>[]): readonly BufferRead<T>[] {
    const { blocksLeft, atMost } = this;
    const reads = this.inWholeBlocks(planned);
    if (reads.reduce((sum, { limit }) => sum + this.blocksOf(limit), 0) <= blocksLeft) return reads;
    const least = this.hides ? itemsInBlock(this.sizes) : 1;
    const each = itemsInBlocks(Math.floor(blocksLeft / reads.length), atMost);
    if (each >= least) return upTo(each, reads);
    return this.leastOf(reads.slice(0, Math.floor(blocksLeft / blocksOf(least, atMost))));
  }

  /** Returns how many reads, from the first read on, fit into the budget with their full limits. At least 1. */
  countAllowed<T>(reads: readonly BufferRead<T>[]): number {
    let left = this.blocksLeft;
    const further = reads.findIndex(({ limit }) => {
      left -= this.blocksOf(limit);
      return left < 0;
    });
    return further === -1 ? reads.length : Math.max(1, further);
  }

  /** Restricts reads to one block each, the minimum that a page needs to begin. */
  leastOf<T>(reads: readonly BufferRead<T>[]): readonly BufferRead<T>[] {
    const least = itemsInBlock(this.sizes);
    return this.hides ? reads.map((read) => ({ ...read, limit: least })) : upTo(least, reads);
  }

  /**
   * If a filter can hide items, each read requests at least a whole block, because a smaller read costs the same. A smaller
   * read could also return no item. The page would then repeat such reads, and would not learn the sizes of the items.
   */
  private inWholeBlocks<T>(reads: readonly BufferRead<T>[]): readonly BufferRead<T>[] {
    if (this.maxReadUnits === undefined || !this.hides) return reads;
    const least = itemsInBlock(this.sizes);
    return reads.map((read) => (read.limit === undefined ? read : { ...read, limit: Math.max(read.limit, least) }));
  }

  /** A cautious estimate of the item size: the mean plus one standard deviation. */
  private get atMost(): Pick<ItemSizes, 'mean'> {
    const { mean, deviation } = this.sizes;
    return { mean: mean === undefined ? undefined : mean + deviation };
  }

  private get blocksLeft(): number {
    if (this.maxReadUnits === undefined) return Number.POSITIVE_INFINITY;
    return Math.max(0, (this.maxReadUnits - this.stats.consumedReadUnits) / this.unitsOfBlock);
  }

  private blocksOf(limit: number | undefined): number {
    return limit === undefined ? MAX_BLOCKS : Math.min(MAX_BLOCKS, Math.max(1, blocksOf(limit, this.atMost)));
  }
}

function upTo<T>(items: number, reads: readonly BufferRead<T>[]): BufferRead<T>[] {
  return reads.map((read) => ({ ...read, limit: Math.min(read.limit ?? items, items) }));
}

/** @throws InvalidArgumentError if `maxReadUnits` is not a number greater than 0 */
export function checkReadUnits(maxReadUnits: unknown): void {
  if (maxReadUnits === undefined || (Number.isFinite(maxReadUnits) && (maxReadUnits as number) > 0)) return;
  throw new InvalidArgumentError('maxReadUnits', maxReadUnits, 'a number of read units greater than 0');
}
