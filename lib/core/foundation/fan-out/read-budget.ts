import { InvalidArgumentError } from '../errors';
import type { FanOutStats } from './fan-out-stats';
import type { ItemSizes } from './item-sizes';
import { blocksOf, itemsInBlock } from './read-size';
import type { BufferRead } from './shard-buffer';

/** The most blocks of one answer. Source: the DynamoDB developer guide: a query reads up to 1 MB. */
const MOST_BLOCKS = 256;

/** The read units that a page may cost, and what it has cost so far. */
export class ReadBudget {
  /**
   * @param maxReadUnits absent: no bound
   * @param unitsOfBlock what a block costs: half a unit, or one if reads are consistent
   */
  constructor(
    private readonly maxReadUnits: number | undefined,
    private readonly unitsOfBlock: number,
    private readonly stats: Pick<FanOutStats, 'consumedReadUnits'>,
    private readonly sizes: ItemSizes,
  ) {}

  /** Whether the page stays within its units, as far as the sizes of its items tell what the reads cost. */
  allows<T>(reads: readonly BufferRead<T>[]): boolean {
    if (this.maxReadUnits === undefined) return true;
    const blocks = reads.reduce((sum, { limit }) => sum + this.blocksOf(limit), 0);
    return this.stats.consumedReadUnits + blocks * this.unitsOfBlock <= this.maxReadUnits;
  }

  /** How many of the reads the page can have, at least one. */
  countAllowed<T>(reads: readonly BufferRead<T>[]): number {
    let count = reads.length;
    while (count > 1 && !this.allows(reads.slice(0, count))) count -= 1;
    return count;
  }

  /** The same reads, of a block each: the least by which a page can begin. */
  leastOf<T>(reads: readonly BufferRead<T>[]): BufferRead<T>[] {
    const block = itemsInBlock(this.sizes);
    return reads.map((read) => ({ ...read, limit: Math.min(read.limit ?? block, block) }));
  }

  private blocksOf(limit: number | undefined): number {
    return limit === undefined ? MOST_BLOCKS : Math.min(MOST_BLOCKS, Math.max(1, blocksOf(limit, this.sizes)));
  }
}

/** @throws InvalidArgumentError unless a page can be bounded by so many read units */
export function checkReadUnits(maxReadUnits: unknown): void {
  if (maxReadUnits === undefined || (Number.isFinite(maxReadUnits) && (maxReadUnits as number) > 0)) return;
  throw new InvalidArgumentError('maxReadUnits', maxReadUnits, 'a number of read units greater than 0');
}
