import type { ItemSizes } from './item-sizes';
import type { PageInProgress } from './page-in-progress';
import type { ReadBudget } from './read-budget';
import { evaluatedFor, itemsInBlock } from './read-size';
import type { BufferRead, ShardBuffer } from './shard-buffer';
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
  sizes: ItemSizes,
  requests: ShardRequests<T>,
  budget: ReadBudget,
  growth = 2,
): Promise<boolean> {
  let width = page.expected === undefined ? buffers.length : 1;
  for (const buffer of buffers) {
    while (buffer.mayHaveMore) {
      const { head } = buffer;
      if (page.isFull) return true;
      if (head !== undefined) {
        if (!page.take(head)) return true;
        buffer.advance();
        continue;
      }
      const reads = requests.open ? readsOf(buffers, page, width, sizes) : [];
      const allowed = reads.slice(0, budget.countAllowed(reads));
      if (allowed.length > 0 && budget.allows(allowed)) {
        await requests.wave(allowed);
        width *= growth;
        continue;
      }
      page.readTo = buffer.frontier;
      if (page.end !== undefined) return true;
      if (requests.open) await requests.wave(budget.leastOf(allowed));
      else requests.giveUp(buffers.filter(({ starving }) => starving));
    }
  }
  return false;
}

/**
 * The first shard is asked for all that the page still wants. The others share as much between them: nobody knows whether the page
 * will need any of it.
 */
function readsOf<T>(
  buffers: readonly ShardBuffer<T>[],
  page: PageInProgress<T>,
  width: number,
  sizes: ItemSizes,
): BufferRead<T>[] {
  const wanted = page.expected;
  const [first, ...others] = buffers.filter((buffer) => buffer.starving).slice(0, width);
  if (first === undefined) return [];
  if (wanted === undefined) return [first, ...others].map((buffer) => ({ buffer }));
  const share = Math.min(wanted, Math.max(itemsInBlock(sizes), Math.ceil(wanted / others.length)));
  return [
    { buffer: first, limit: evaluatedFor(wanted, first) },
    ...others.map((buffer) => ({ buffer, limit: evaluatedFor(share, buffer) })),
  ];
}
