import type { Page, PageBounds } from './ordered-merge';
import { type FanOutStats, fillWave, type ShardStream } from './shard-stream';
import type { Position } from './total-order';

/**
 * Takes one page from many streams in no order but the shards' own: one shard after the other. A bounded page asks one
 * shard first, and twice as many with each wave that did not fill it; an unbounded one asks all of them at once.
 */
export async function shardWalk(
  streams: readonly ShardStream[],
  { limit, firstRead, fits }: PageBounds,
  stats: FanOutStats,
): Promise<Page> {
  const positions: Position[] = [];
  let current = 0;
  let width = firstRead === undefined ? streams.length : 1;
  for (;;) {
    const stream = streams[current];
    if (stream === undefined) return { positions, more: false };
    if (positions.length === limit) return { positions, more: streams.slice(current).some(mayHaveMore) };
    const head = stream.head;
    if (head !== undefined) {
      if (!fits(head) && positions.length > 0) return { positions, more: true };
      positions.push(head);
      stream.advance();
    } else if (stream.readable) {
      const missing = limit === undefined ? undefined : limit - positions.length;
      const starving = streams.filter((other) => other.starving);
      await fillWave(starving.slice(0, width), () => missing, stats);
      width *= 2;
    } else {
      current += 1;
    }
  }
}

function mayHaveMore(stream: ShardStream): boolean {
  return stream.readable || stream.head !== undefined;
}
