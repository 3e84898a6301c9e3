import type { Position } from './total-order';

/** What a page may hold. */
export interface PageBounds<T> {
  /** The most items that the page may hold. */
  limit?: number;
  /** Counts the next item, and returns whether the page still has room for it. */
  fits?(next: Position<T>): boolean;
  /** About how many items fit on the page. Undefined if this is not known. */
  roughly?(): number | undefined;
  /** A text that is the same for two reads of one item, even if the item moved between them. Absent: items do not move. */
  identityOf?(item: T): string;
}

/** A page while it is being filled. It holds each item once, at the first place where a read found it. */
export class PageInProgress<T> {
  readonly positions: Position<T>[] = [];
  /** How far all shards were read, if that is behind the last item. A filter can hide the items between. */
  readTo: Position<T> | undefined;
  private readonly seen = new Set<string>();

  constructor(private readonly bounds: PageBounds<T>) {}

  /** Where the next page goes on. Undefined as long as nothing is certain. */
  get end(): Position<T> | undefined {
    return this.readTo ?? this.positions.at(-1);
  }

  /** How many items the page can still take. Undefined if their number has no bound. */
  get room(): number | undefined {
    return this.bounds.limit === undefined ? undefined : this.bounds.limit - this.positions.length;
  }

  /** About how many further items the page will take. Undefined if this is not known. */
  get expected(): number | undefined {
    const roughly = this.bounds.roughly?.();
    if (roughly === undefined) return this.room;
    return Math.max(1, Math.min(this.room ?? roughly, roughly - this.positions.length));
  }

  /** Adds an item, and returns whether there was room for it. An empty page always has room for one item. */
  take(position: Position<T>): boolean {
    const identity = this.bounds.identityOf?.(position.item);
    if (identity !== undefined && this.seen.has(identity)) return true;
    if (this.room === 0) return false;
    if (this.bounds.fits?.(position) === false && this.positions.length > 0) return false;
    if (identity !== undefined) this.seen.add(identity);
    this.positions.push(position);
    return true;
  }
}
