import { InvalidArgumentError } from '../kernel/errors';
import type { ItemSizes } from './item-sizes';
import type { PageBounds } from './page-in-progress';
import { BLOCK_BYTES } from './read-size';
import type { Position } from './total-order';

export interface PageBytes<I> {
  maxPageBytes?: number;
  /** Returns the size of an item of the page, in bytes. Set this function if you convert items to another format. */
  bytesOf?(item: I): number;
}

/** @throws InvalidArgumentError if `maxPageBytes` is not a number of at least 1 */
export function checkPageBytes(maxPageBytes: unknown): void {
  if (maxPageBytes === undefined || (Number.isFinite(maxPageBytes) && (maxPageBytes as number) >= 1)) return;
  throw new InvalidArgumentError('maxPageBytes', maxPageBytes, 'a number of bytes of at least 1');
}

/** The bounds of a page of at most `maxBytes` bytes. Each item is measured once. */
export function byteBounds<T>(
  maxBytes: number,
  measure: (item: T) => number,
  sizes: ItemSizes,
): Pick<PageBounds<T>, 'maxBytes' | 'bytesOf' | 'expectedItems'> {
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
    // Until an item is measured, the estimate uses the mean size from the store, or the size of a block.
    expectedItems: () => Math.ceil(maxBytes / (items > 0 ? bytes / items : (sizes.mean ?? BLOCK_BYTES))),
  };
}
