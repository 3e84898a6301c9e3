import { type FanOutStats, fillWave, type ShardStream } from './shard-stream';
import type { ComparePositions, Position } from './total-order';

/** When a page ends. */
export interface PageBounds {
  /** The most items a page holds. */
  limit: number | undefined;
  /** How many items a shard is asked for first. Undefined for a page without bounds: the store decides. */
  firstRead: number | undefined;
  /** Counts the next item, and says whether the page still holds it. */
  fits(next: Position): boolean;
}

export interface Page {
  positions: Position[];
  /** Whether something may follow. */
  more: boolean;
}

/**
 * Takes one page from many ordered streams: a k-way merge that reads in waves. An item is taken once every stream shows
 * its next item or its end; until then the streams that show neither are read side by side.
 */
export async function orderedMerge(
  streams: readonly ShardStream[],
  compare: ComparePositions,
  { limit, firstRead, fits }: PageBounds,
  stats: FanOutStats,
): Promise<Page> {
  const positions: Position[] = [];
  const heap = new StreamHeap(compare);
  const readSizes = new Map<ShardStream, number>();
  let starving = streams.filter((stream) => stream.starving);
  for (;;) {
    if (positions.length === limit) return { positions, more: heap.top !== undefined || starving.length > 0 };
    if (starving.length > 0) {
      const wave = firstRead === undefined ? withRunningLow(streams, starving) : starving;
      await fillWave(wave, (stream) => nextReadSize(stream, readSizes, firstRead), stats);
      for (const stream of starving) if (stream.head !== undefined) heap.add(stream);
      starving = starving.filter((stream) => stream.starving);
      continue;
    }
    const head = heap.top?.head;
    if (head === undefined) return { positions, more: false };
    if (!fits(head) && positions.length > 0) return { positions, more: true };
    positions.push(head);
    const advanced = heap.advanceTop();
    if (advanced.starving) starving = [advanced];
  }
}

/** A shard that needs more than it was asked for first is asked for twice as much each time. */
function nextReadSize(
  stream: ShardStream,
  sizes: Map<ShardStream, number>,
  firstRead: number | undefined,
): number | undefined {
  if (firstRead === undefined) return undefined;
  const size = sizes.get(stream) ?? firstRead;
  sizes.set(stream, size * 2);
  return size;
}

/** A wave that reads everything also tops up the streams that would starve soon, so that shards do not take turns. */
function withRunningLow(streams: readonly ShardStream[], starving: readonly ShardStream[]): ShardStream[] {
  const enough = Math.max(...streams.map((stream) => stream.buffered)) / 2;
  return streams.filter((stream) => starving.includes(stream) || (stream.readable && stream.buffered < enough));
}

/** A binary heap of streams, the one with the least head on top. */
class StreamHeap {
  private readonly streams: ShardStream[] = [];

  constructor(private readonly compare: ComparePositions) {}

  get top(): ShardStream | undefined {
    return this.streams[0];
  }

  add(stream: ShardStream): void {
    let index = this.streams.push(stream) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.isLess(index, parent)) break;
      this.swap(index, parent);
      index = parent;
    }
  }

  /** Moves the top stream past its head, and out of the heap if it has no next one. */
  advanceTop(): ShardStream {
    const top = this.streams[0]!;
    top.advance();
    if (top.head === undefined) {
      const last = this.streams.pop()!;
      if (this.streams.length > 0) this.streams[0] = last;
    }
    this.sink();
    return top;
  }

  private sink(): void {
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      let least = index;
      for (const child of [left, left + 1]) {
        if (child < this.streams.length && this.isLess(child, least)) least = child;
      }
      if (least === index) return;
      this.swap(index, least);
      index = least;
    }
  }

  private isLess(a: number, b: number): boolean {
    return this.compare(this.streams[a]!.head!, this.streams[b]!.head!) < 0;
  }

  private swap(a: number, b: number): void {
    [this.streams[a], this.streams[b]] = [this.streams[b]!, this.streams[a]!];
  }
}
