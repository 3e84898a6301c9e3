import type { PageInProgress } from './page-in-progress';
import { evaluatedFor } from './read-size';
import type { ShardBuffer } from './shard-buffer';
import type { ShardRequests } from './shard-requests';

/**
 * Fills a page with one shard after the other, each in its own order. A bounded page asks one shard first. After each
 * wave that does not fill the page, it asks `growth` times as many. An unbounded page asks all shards at once.
 *
 * @returns whether further items may follow the page
 */
export async function shardWalk<T>(
  buffers: readonly ShardBuffer<T>[],
  page: PageInProgress<T>,
  requests: ShardRequests<T>,
  growth = 2,
): Promise<boolean> {
  let width = page.expected === undefined ? buffers.length : 1;
  for (const buffer of buffers) {
    while (buffer.mayHaveMore) {
      const { head } = buffer;
      if (page.room === 0) return true;
      if (head !== undefined) {
        if (!page.take(head)) return true;
        buffer.advance();
      } else if (requests.open) {
        const wanted = page.expected;
        const starving = buffers.filter((other) => other.starving).slice(0, width);
        await requests.wave(starving.map((other) => ({ buffer: other, limit: wanted && evaluatedFor(wanted, other) })));
        width *= growth;
      } else {
        page.readTo = buffer.frontier;
        if (page.end !== undefined) return true;
        requests.giveUp(buffers.filter(({ starving }) => starving));
      }
    }
  }
  return false;
}
