import type { Position } from './total-order';

/** What a page may hold. */
export interface PageBounds<T> {
  /** The most items. */
  limit?: number;
  /** Counts the next item, and says whether the page still holds it. */
  fits?(next: Position<T>): boolean;
  /** About how many items fit, as far as that is known. */
  roughly?(): number | undefined;
  /** What makes two items the same one, read at two places because it moved meanwhile. */
  identityOf(item: T): string;
}

/** A page as it grows. It holds an item once, at the first place where it was found. */
export class PageInProgress<T> {
  readonly positions: Position<T>[] = [];
  /** How far everything has been read, if that is known to be further than the last item: filters hide what is between. */
  readTo: Position<T> | undefined;
  private readonly seen = new Set<string>();

  constructor(private readonly bounds: PageBounds<T>) {}

  /** Where the next page goes on; absent while nothing is certain. */
  get end(): Position<T> | undefined {
    return this.readTo ?? this.positions.at(-1);
  }

  /** How many items the page can still take; absent if their number is not bounded. */
  get room(): number | undefined {
    return this.bounds.limit === undefined ? undefined : this.bounds.limit - this.positions.length;
  }

  /** How many items it will take, as far as can be told. */
  get expected(): number | undefined {
    const roughly = this.bounds.roughly?.();
    if (roughly === undefined) return this.room;
    return Math.max(1, Math.min(this.room ?? roughly, roughly - this.positions.length));
  }

  /** Whether there was room for the item. A page takes one at least. */
  take(position: Position<T>): boolean {
    const identity = this.bounds.identityOf(position.item);
    if (this.seen.has(identity)) return true;
    if (this.room === 0) return false;
    if (this.bounds.fits?.(position) === false && this.positions.length > 0) return false;
    this.seen.add(identity);
    this.positions.push(position);
    return true;
  }
}
