import { BinaryHeap } from './binary-heap';
import type { BestBuffered, Candidate } from './open-shards';
import type { PageState } from './page-state';
import type { BufferRead, ShardBuffer } from './shard-buffer';
import type { Position } from './total-order';

/** The end is computed again when this share of the items that the page expects has come. */
const LOOK_AGAIN = 0.5;

/**
 * Where an ordered page ends at the latest, as far as the answers of a wave tell. A later read of the wave asks for nothing
 * after it, and items that earlier reads found after it are dropped. So the memory of a page depends on the page and not on
 * the number of shards.
 *
 * It keeps the items that the page can have in a heap with the worst on top. So the work for an answer depends on its own
 * items and not on the number of shards.
 */
export class PageEnd<T> {
  /** The worst item that the page can have. Undefined until an answer of the wave shows it: the plan knew what was there before. */
  private latest: Position<T> | undefined;
  private readonly best: BinaryHeap<Candidate<T>>;
  private bytes: number;
  /** The buffers that may hold items after the end. */
  private longer: ShardBuffer<T>[];
  /** The answers that have come since the end was last computed. */
  private answers: { buffer: ShardBuffer<T>; positions: readonly Position<T>[] }[] = [];
  private found = 0;

  /** @param best what the buffers hold when the wave begins */
  constructor(
    private readonly state: PageState<T>,
    { items, bytes, longer }: BestBuffered<T>,
  ) {
    this.best = new BinaryHeap((a, b) => state.compare(b.position, a.position), items.toReversed());
    this.bytes = bytes;
    this.longer = [...longer];
  }

  /** Narrows a read to what the page can still need. Returns false if the page needs nothing from it. */
  narrow(read: BufferRead<T>): boolean {
    const { latest } = this;
    if (latest === undefined) return true;
    const { frontier } = read.buffer;
    if (frontier !== undefined && this.state.compare(frontier, latest) >= 0) return false;
    read.until = latest;
    return true;
  }

  /** Records the items that an answer has added to a buffer. */
  answered(buffer: ShardBuffer<T>, positions: readonly Position<T>[]): void {
    this.found += positions.length;
    this.answers.push({ buffer, positions });
    const { expected = Number.POSITIVE_INFINITY } = this.state.page;
    if (this.found >= LOOK_AGAIN * expected) this.look();
  }

  private look(): void {
    const { page, compare } = this.state;
    for (const { buffer, positions } of this.answers) {
      this.add(buffer, positions);
      this.longer.push(buffer);
    }
    this.answers = [];
    this.found = 0;
    const { room = Number.POSITIVE_INFINITY, roomBytes = Number.POSITIVE_INFINITY } = page;
    for (let worst = this.best.top; worst !== undefined; worst = this.best.top) {
      if (this.best.size <= room && this.bytes - worst.bytes <= roomBytes) break;
      this.best.removeTop();
      this.bytes -= worst.bytes;
      this.longer.push(worst.buffer);
    }
    const worst = this.best.top?.position;
    if (worst === undefined || (this.best.size < room && this.bytes <= roomBytes)) return;
    this.latest = worst;
    for (const buffer of this.longer) buffer.dropBehind(worst, compare);
    this.longer = [];
  }

  /** Adds the items of a buffer, in order, until the page cannot have any more of them. */
  private add(buffer: ShardBuffer<T>, positions: readonly Position<T>[]): void {
    const { page, compare } = this.state;
    for (const position of positions) {
      if (this.latest !== undefined && compare(position, this.latest) >= 0) return;
      const bytes = page.bytesOf(position);
      this.best.add({ position, bytes, buffer });
      this.bytes += bytes;
    }
  }
}
