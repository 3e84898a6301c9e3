import { InvalidArgumentError } from '../kernel/errors';
import type { ItemSizes } from './item-sizes';
import type { PageBounds } from './page-in-progress';
import { BLOCK_BYTES } from './read-size';
import type { Position } from './total-order';

/** A bound of a page in bytes. */
export interface PageBytes<I> {
  maxPageBytes?: number;
  /** Measures an item as the page shows it. For callers that write items in a format of their own. */
  bytesOf?(item: I): number;
}

/** @throws InvalidArgumentError unless `maxPageBytes` is a bound that a page can have */
export function checkPageBytes(maxPageBytes: unknown): void {
  if (maxPageBytes === undefined || (Number.isFinite(maxPageBytes) && (maxPageBytes as number) >= 1)) return;
  throw new InvalidArgumentError('maxPageBytes', maxPageBytes, 'a number of bytes of at least 1');
}

/** The bounds of a page that may hold this many bytes. Each item is measured once. */
export function byteBounds<T>(
  maxBytes: number,
  measure: (item: T) => number,
  sizes: ItemSizes,
): Pick<PageBounds<T>, 'maxBytes' | 'bytesOf' | 'roughly'> {
  const measured = new WeakMap<Position<T>, number>();
  let [bytes, items] = [0, 0];
  return {
    maxBytes,
    bytesOf: (position) => {
      let size = measured.get(position);
      if (size === undefined) {
        size = measure(position.item);
        measured.set(position, size);
        bytes += size;
        items += 1;
      }
      return size;
    },
    // Until an item was measured, the size that the store reports stands for its bytes. Before that, the size of a block
    // does.
    roughly: () => Math.ceil(maxBytes / (items > 0 ? bytes / items : (sizes.mean ?? BLOCK_BYTES))),
  };
}
