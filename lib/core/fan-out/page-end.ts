import { BinaryHeap } from '../kernel/binary-heap';
import type { BestBuffered, Candidate } from './open-shards';
import type { PageState } from './page-state';
import type { BufferRead, ShardBuffer } from './shard-buffer';
import type { Position } from './total-order';

/** The end is computed again whenever this share of the expected items of the page has arrived. */
const UPDATE_SHARE = 0.5;

/**
 * The latest possible end of an ordered page, computed from the responses of a wave. Later reads of the wave do not request
 * items after this end, and buffered items after this end are dropped. So the memory that a page needs depends on the size of
 * the page and not on the number of shards.
 *
 * The candidates for the page are in a heap with the last candidate on top. So the work for a response depends only on the
 * items of the response.
 */
export class PageEnd<T> {
  /**
   * The last item that can be on the page. Undefined until responses of the wave have filled the page. Before that, the
   * buffered items cannot show an earlier end than the end in the plan of the wave.
   */
  private latest: Position<T> | undefined;
  private readonly best: BinaryHeap<Candidate<T>>;
  private bytes: number;
  /** The buffers that may have items after the end. */
  private longer: ShardBuffer<T>[];
  private responses: { buffer: ShardBuffer<T>; positions: readonly Position<T>[] }[] = [];
  private found = 0;

  /** @param best the buffered items when the wave begins */
  constructor(
    private readonly state: PageState<T>,
    { items, bytes, longer }: BestBuffered<T>,
  ) {
    this.best = new BinaryHeap((a, b) => state.compare(b.position, a.position), items.toReversed());
    this.bytes = bytes;
    this.longer = [...longer];
  }

  /** Restricts a read to the items that can be on the page. Returns false if the read cannot return such an item. */
  narrow(read: BufferRead<T>): boolean {
    const { latest } = this;
    if (latest === undefined) return true;
    const { frontier } = read.buffer;
    if (frontier !== undefined && this.state.compare(frontier, latest) >= 0) return false;
    read.until = latest;
    return true;
  }

  addResponse(buffer: ShardBuffer<T>, positions: readonly Position<T>[]): void {
    this.found += positions.length;
    this.responses.push({ buffer, positions });
    const { expected = Number.POSITIVE_INFINITY } = this.state.page;
    if (this.found >= UPDATE_SHARE * expected) this.update();
  }

  private update(): void {
    const { page, compare } = this.state;
    for (const { buffer, positions } of this.responses) {
      this.add(buffer, positions);
      this.longer.push(buffer);
    }
    this.responses = [];
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
    for (const buffer of this.longer) buffer.dropAfter(worst, compare);
    this.longer = [];
  }

  /** Adds the items of a buffer, in order, up to the end of the page. */
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
