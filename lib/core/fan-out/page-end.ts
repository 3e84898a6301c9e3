import { BinaryHeap } from './binary-heap';
import type { PageInProgress } from './page-in-progress';
import type { BufferRead, ShardBuffer } from './shard-buffer';
import type { ComparePositions, Position } from './total-order';

/** The end is computed again when this share of the items that the page expects has come. */
const LOOK_AGAIN = 0.5;

/** An item that the page may hold, and the buffer that has it. */
interface Candidate<T> {
  position: Position<T>;
  bytes: number;
  buffer: ShardBuffer<T>;
}

/**
 * Where an ordered page ends at the latest, as far as the answers so far tell. A later read asks for nothing after it, and
 * items that earlier reads found after it are dropped. So the memory of a page depends on the page and not on the number of
 * shards.
 *
 * It keeps the items that the page can have in a heap with the worst on top. So the work for an answer depends on its own
 * items and not on the number of shards.
 */
export class PageEnd<T> {
  private readonly buffers: ReadonlySet<ShardBuffer<T>>;
  /** The worst item that the page can have. Undefined as long as fewer items were found than the page has room for. */
  private latest: Position<T> | undefined;
  private best = this.noCandidates();
  private bytes = 0;
  /** The answers that have come since the end was last computed. */
  private answers: { buffer: ShardBuffer<T>; positions: readonly Position<T>[] }[] = [];
  private found = 0;

  constructor(
    buffers: readonly ShardBuffer<T>[],
    private readonly compare: ComparePositions<T>,
    private readonly page: PageInProgress<T>,
  ) {
    this.buffers = new Set(buffers);
  }

  /** Begins a wave. Its reads were planned with everything that is known so far. */
  begin(): void {
    this.latest = undefined;
    this.best = this.noCandidates();
    this.bytes = 0;
    this.answers = [];
    this.found = 0;
    for (const buffer of this.buffers) this.add(buffer, buffer.buffered);
  }

  /** Narrows a read to what the page can still need. Returns false if the page needs nothing from it. */
  narrow(read: BufferRead<T>): boolean {
    const { latest } = this;
    if (latest === undefined) return true;
    const { frontier } = read.buffer;
    if (frontier !== undefined && this.compare(frontier, latest) >= 0) return false;
    read.until = latest;
    return true;
  }

  /** Records the items that an answer has added to a buffer. */
  answered(buffer: ShardBuffer<T>, positions: readonly Position<T>[]): void {
    this.found += positions.length;
    // The items of leading readers come before all others.
    if (this.buffers.has(buffer)) this.answers.push({ buffer, positions });
    const { expected = Number.POSITIVE_INFINITY } = this.page;
    if (this.found >= LOOK_AGAIN * expected) this.look();
  }

  private look(): void {
    const shortened = this.answers.map(({ buffer }) => buffer);
    for (const { buffer, positions } of this.answers) this.add(buffer, positions);
    this.answers = [];
    this.found = 0;
    const { room = Number.POSITIVE_INFINITY, roomBytes = Number.POSITIVE_INFINITY } = this.page;
    for (let worst = this.best.top; worst !== undefined; worst = this.best.top) {
      if (this.best.size <= room && this.bytes - worst.bytes <= roomBytes) break;
      this.best.removeTop();
      this.bytes -= worst.bytes;
      shortened.push(worst.buffer);
    }
    const worst = this.best.top?.position;
    if (worst === undefined || (this.best.size < room && this.bytes <= roomBytes)) return;
    this.latest = worst;
    for (const buffer of shortened) buffer.dropBehind(worst, this.compare);
  }

  /** Adds the items of a buffer, in order, until the page cannot have any more of them. */
  private add(buffer: ShardBuffer<T>, positions: readonly Position<T>[]): void {
    for (const position of positions) {
      if (this.latest !== undefined && this.compare(position, this.latest) >= 0) return;
      const bytes = this.page.bytesOf(position);
      this.best.add({ position, bytes, buffer });
      this.bytes += bytes;
    }
  }

  private noCandidates(): BinaryHeap<Candidate<T>> {
    return new BinaryHeap((a, b) => this.compare(b.position, a.position));
  }
}
