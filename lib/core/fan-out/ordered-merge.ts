import { BinaryHeap } from '../kernel/binary-heap';
import type { PageContext } from './page-context';
import type { BufferRead, ShardBuffer } from './shard-buffer';
import type { ComparePositions, Position } from './total-order';
import { planWave, type WavePlan } from './wave-plan';

/**
 * Fills a page from many ordered buffers by a lazy k-way merge. The merge takes an item when all other buffers can only have
 * later items. Otherwise the merge first reads more items into buffers, in parallel in one wave.
 *
 * @returns whether there may be more items after the page
 */
export async function orderedMerge<T>(context: PageContext<T>): Promise<boolean> {
  const { buffers, compare, page, requests, budget } = context;
  for (;;) {
    const blocking = takeCertain(context);
    if (blocking === undefined) return buffers.some(({ mayHaveMore }) => mayHaveMore);
    const { reads, end }: WavePlan<T> = requests.open && blocking.readable ? planWave(context) : { reads: [] };
    const allowed = budget.fit(areRead(reads) ? inOrderOfFrontiers(reads, compare) : reads);
    // An ordered page needs one read of every shard before its first item.
    if (allowed.length > 0 && (allowed.length === reads.length || areRead(reads))) {
      await requests.wave(allowed, end);
      continue;
    }
    page.readTo = laterOf(page.merged, blocking.bound, compare);
    if (page.end !== undefined) return true;
    if (requests.open) await requests.wave(budget.leastOf(reads), end);
    else requests.giveUp(buffers.filter(({ needsRead }) => needsRead));
  }
}

/**
 * Returns the later of two positions: the last merged item, and the bound at which the merge stopped. Two items of one shard with
 * the same sort key compare as equal. If the two positions compare as equal, the merged item is the later position.
 */
function laterOf<T>(
  merged: Position<T> | undefined,
  bound: Position<T> | undefined,
  compare: ComparePositions<T>,
): Position<T> | undefined {
  return merged !== undefined && bound !== undefined && compare(merged, bound) === 0 ? merged : bound;
}

/**
 * Sorts reads by frontier, the position up to which a shard was read. The merge stops at the first frontier, so the reads of the
 * shards with the first frontiers help most.
 */
function inOrderOfFrontiers<T>(reads: BufferRead<T>[], compare: ComparePositions<T>): BufferRead<T>[] {
  return reads.sort((a, b) => compare(a.buffer.frontier!, b.buffer.frontier!));
}

function areRead<T>(reads: readonly BufferRead<T>[]): boolean {
  return reads.every(({ buffer }) => buffer.frontier !== undefined);
}

/**
 * Takes every item that comes before all unread items. Returns the buffer to read next, or undefined if the page is
 * full or all shards are exhausted.
 */
function takeCertain<T>({ buffers, compare, page }: PageContext<T>): ShardBuffer<T> | undefined {
  // The leading readers of `gatherPage` may have filled the page already.
  if (page.isFull) return undefined;
  const unread = buffers.find((buffer) => buffer.readable && buffer.bound === undefined);
  if (unread !== undefined) return unread;
  const waiting = buffers.filter((buffer) => buffer.bound !== undefined);
  // Unread items of a shard come after its frontier, so an item at the frontier comes first.
  const byBound = (a: ShardBuffer<T>, b: ShardBuffer<T>): number =>
    compare(a.bound!, b.bound!) || Number(a.head === undefined) - Number(b.head === undefined);
  const heap = new BinaryHeap<ShardBuffer<T>>(byBound, waiting);
  for (let top = heap.top; top !== undefined; top = heap.top) {
    const { head } = top;
    if (page.isFull) return undefined;
    if (head === undefined) return top;
    if (!page.take(head)) return undefined;
    page.merged = head;
    top.advance();
    if (top.bound === undefined) heap.removeTop();
    else heap.topChanged();
  }
  return undefined;
}
