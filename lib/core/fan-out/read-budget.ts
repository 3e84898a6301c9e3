import { InvalidArgumentError } from '../kernel/errors';
import type { FanOutStats } from './fan-out-stats';
import type { ItemSizes } from './item-sizes';
import { blocksOf, itemsInBlock, itemsInBlocks } from './read-size';
import type { BufferRead } from './shard-buffer';

/** The most blocks of one answer. Source: the DynamoDB developer guide, which says that a query reads up to 1 MB. */
const MOST_BLOCKS = 256;

/** The read units that a page may cost, and what it has cost so far. */
export class ReadBudget {
  /**
   * @param maxReadUnits absent: no bound
   * @param unitsOfBlock what a block costs: half a unit, or one if reads are consistent
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
   * As much of the reads as the page can pay for: all that they ask for, or fewer items of each, or one block of each of
   * the first reads. The sizes of the items tell what a read costs.
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

  /** How many of the first reads the page can pay for in full; at least one. */
  countAllowed<T>(reads: readonly BufferRead<T>[]): number {
    let left = this.blocksLeft;
    const further = reads.findIndex(({ limit }) => {
      left -= this.blocksOf(limit);
      return left < 0;
    });
    return further === -1 ? reads.length : Math.max(1, further);
  }

  /** The same reads with one block each, which is the least with which a page can begin. */
  leastOf<T>(reads: readonly BufferRead<T>[]): readonly BufferRead<T>[] {
    const least = itemsInBlock(this.sizes);
    return this.hides ? reads.map((read) => ({ ...read, limit: least })) : upTo(least, reads);
  }

  /**
   * If a filter can hide items, each read asks for the whole block that it costs anyway. Otherwise the filter could hide all of
   * the few items, and the page would go on with the same reads again, none of which tells how large the items are.
   */
  private inWholeBlocks<T>(reads: readonly BufferRead<T>[]): readonly BufferRead<T>[] {
    if (this.maxReadUnits === undefined || !this.hides) return reads;
    const least = itemsInBlock(this.sizes);
    return reads.map((read) => (read.limit === undefined ? read : { ...read, limit: Math.max(read.limit, least) }));
  }

  /** Items count as larger than the mean by one standard deviation. */
  private get atMost(): Pick<ItemSizes, 'mean'> {
    const { mean, deviation } = this.sizes;
    return { mean: mean === undefined ? undefined : mean + deviation };
  }

  private get blocksLeft(): number {
    if (this.maxReadUnits === undefined) return Number.POSITIVE_INFINITY;
    return Math.max(0, (this.maxReadUnits - this.stats.consumedReadUnits) / this.unitsOfBlock);
  }

  private blocksOf(limit: number | undefined): number {
    return limit === undefined ? MOST_BLOCKS : Math.min(MOST_BLOCKS, Math.max(1, blocksOf(limit, this.atMost)));
  }
}

function upTo<T>(items: number, reads: readonly BufferRead<T>[]): BufferRead<T>[] {
  return reads.map((read) => ({ ...read, limit: Math.min(read.limit ?? items, items) }));
}

/** @throws InvalidArgumentError unless `maxReadUnits` is a bound that a page can have */
export function checkReadUnits(maxReadUnits: unknown): void {
  if (maxReadUnits === undefined || (Number.isFinite(maxReadUnits) && (maxReadUnits as number) > 0)) return;
  throw new InvalidArgumentError('maxReadUnits', maxReadUnits, 'a number of read units greater than 0');
}
