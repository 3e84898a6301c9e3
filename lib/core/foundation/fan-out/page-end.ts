import { bestBuffered } from './open-shards';
import type { PageInProgress } from './page-in-progress';
import type { BufferRead, ShardBuffer } from './shard-buffer';
import type { ComparePositions, Position } from './total-order';

/** The end is looked for again when so many of the items that the page expects have come. */
const LOOK_AGAIN = 0.5;

/**
 * Where an ordered page ends at the latest, as far as the answers so far tell. A read that is sent later asks for nothing behind
 * it, and what earlier reads have found behind it is dropped: so the memory of a page depends on the page, not on its shards.
 */
export class PageEnd<T> {
  /** The worst item that the page can have. Undefined as long as fewer items were found than the page has room for. */
  private latest: Position<T> | undefined;
  private found = 0;

  constructor(
    private readonly buffers: readonly ShardBuffer<T>[],
    private readonly compare: ComparePositions<T>,
    private readonly page: PageInProgress<T>,
  ) {}

  /** Begins a wave, whose reads were planned with all that is known so far. */
  begin(): void {
    this.latest = undefined;
    this.found = 0;
  }

  /** Narrows a read to what the page can still need. False if it needs nothing of it. */
  narrow(read: BufferRead<T>): boolean {
    const { latest } = this;
    if (latest === undefined) return true;
    const { frontier } = read.buffer;
    if (frontier !== undefined && this.compare(frontier, latest) >= 0) return false;
    read.until = latest;
    return true;
  }

  /** Takes note of an answer with so many items. */
  answered(items: number): void {
    this.found += items;
    const { expected, room } = this.page;
    if (expected === undefined || room === 0 || this.found < LOOK_AGAIN * expected) return;
    this.found = 0;
    const { worst } = bestBuffered(this.buffers, this.compare, this.page);
    if (worst === undefined) return;
    this.latest = worst;
    for (const buffer of this.buffers) buffer.dropBehind(worst, this.compare);
  }
}
