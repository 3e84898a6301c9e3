import type { PageInProgress } from './page-in-progress';
import { evaluatedFor } from './read-size';
import type { ShardBuffer } from './shard-buffer';
import type { ShardRequests } from './shard-requests';

/**
 * Fills a page in no order but the shards' own: one shard after the other. A bounded page asks one shard first, and
 * twice as many with each wave that did not fill it; an unbounded one asks all of them at once.
 *
 * @returns whether something may follow
 */
export async function shardWalk<T>(
  streams: readonly ShardBuffer<T>[],
  page: PageInProgress<T>,
  requests: ShardRequests<T>,
): Promise<boolean> {
  let width = page.expected === undefined ? streams.length : 1;
  for (const stream of streams) {
    while (stream.mayHaveMore) {
      const { head } = stream;
      if (page.room === 0) return true;
      if (head !== undefined) {
        if (!page.take(head)) return true;
        stream.advance();
      } else if (requests.open) {
        const wanted = page.expected;
        const starving = streams.filter((other) => other.starving).slice(0, width);
        await requests.wave(starving.map((other) => ({ stream: other, limit: wanted && evaluatedFor(wanted, other) })));
        width *= 2;
      } else {
        page.readTo = stream.frontier;
        if (page.end !== undefined) return true;
        requests.giveUp(streams.filter(({ starving }) => starving));
      }
    }
  }
  return false;
}
