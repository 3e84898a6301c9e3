import type { PageContext } from './page-context';
import { evaluatedFor, itemsInBlock } from './read-size';
import type { BufferRead, ShardBuffer } from './shard-buffer';

/**
 * Fills a page with the items of one shard after the other. The first wave of a bounded page reads one shard, and each
 * further wave reads `growth` times the number of shards of the previous wave. An unbounded page reads all shards in
 * parallel.
 *
 * @returns whether there may be more items after the page
 */
export async function fillShardByShard<T>(context: PageContext<T>, growth = 2): Promise<boolean> {
  const { buffers, page, requests, budget } = context;
  let width = 1;
  for (const buffer of buffers) {
    while (buffer.mayHaveMore) {
      const { head } = buffer;
      if (page.isFull) return true;
      if (head !== undefined) {
        if (!page.take(head)) return true;
        buffer.advance();
        continue;
      }
      const reads = requests.open ? plannedReads(context, width) : [];
      const affordable = reads.slice(0, budget.countAllowed(reads));
      const allowed = budget.fit(affordable);
      if (allowed.length > 0) {
        await requests.wave(allowed);
        width *= growth;
        continue;
      }
      page.readTo = buffer.frontier;
      if (page.end !== undefined) return true;
      if (requests.open) await requests.wave(budget.leastOf(affordable));
      else requests.giveUp(buffers.filter(({ needsRead }) => needsRead));
    }
  }
  return false;
}

/**
 * Plans the reads of the next wave. The first read requests all items that still fit on the page. All other reads together
 * request about the same number of items, because the page may not need these reads. The plan reads only the shards that the page
 * most likely needs. The function estimates the number of these shards from earlier reads: how many items pass the filter, and
 * how many items a shard has.
 */
function plannedReads<T>({ buffers, page, sizes }: PageContext<T>, width: number): BufferRead<T>[] {
  const wanted = page.expected;
  if (wanted === undefined) return buffers.filter(({ needsRead }) => needsRead).map((buffer) => ({ buffer }));
  // There is a first element, because the current shard is readable.
  const [first, ...following] = buffers.filter((buffer) => buffer.readable) as [ShardBuffer<T>, ...ShardBuffer<T>[]];
  const all = evaluatedFor(wanted, first);
  const others = shardsAhead(first, following, buffers, wanted, all, width - 1);
  const share = Math.min(wanted, Math.max(itemsInBlock(sizes), Math.ceil(wanted / others.length)));
  return [{ buffer: first, limit: all }, ...others.map((buffer) => ({ buffer, limit: evaluatedFor(share, buffer) }))];
}

/**
 * Returns the shards that the page most likely needs after the first shard, at most `most` shards. The function assumes that a
 * shard has as many items as the completely read shards have on average. If no shard was read completely, the function assumes
 * that each shard has as many items as the limit of its read.
 */
function shardsAhead<T>(
  first: ShardBuffer<T>,
  others: readonly ShardBuffer<T>[],
  buffers: readonly ShardBuffer<T>[],
  wanted: number,
  limit: number,
  most: number,
): ShardBuffer<T>[] {
  const sum = (of: readonly ShardBuffer<T>[], what: 'evaluated' | 'matched'): number =>
    of.reduce((total, buffer) => total + buffer[what], 0);
  const passing = Math.max(1, sum(buffers, 'matched')) / Math.max(1, sum(buffers, 'evaluated'));
  const ended = buffers.filter(({ readable, missing }) => !readable && !missing);
  const ofShard = ended.length > 0 ? sum(ended, 'evaluated') / ended.length : limit;
  const expectedOf = (buffer: ShardBuffer<T>): number =>
    buffer.bufferedCount + passing * Math.max(0, ofShard - buffer.evaluated);
  let left = wanted - expectedOf(first);
  let count = 0;
  while (count < Math.min(most, others.length) && left > 0) {
    left -= expectedOf(others[count]!);
    count += 1;
  }
  return others.slice(0, count);
}
