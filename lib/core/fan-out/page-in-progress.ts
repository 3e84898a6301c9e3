import type { Position } from './total-order';

/** What a page may hold. */
export interface PageBounds<T> {
  /** The most items that the page may hold. */
  limit?: number;
  /** The most bytes that the page may hold, as `bytesOf` measures them. It holds one item at least. */
  maxBytes?: number;
  /** How many bytes of `maxBytes` an item takes. */
  bytesOf?(position: Position<T>): number;
  /** About how many items fit on the page. Undefined if this is not known. */
  roughly?(): number | undefined;
  /** A text that is the same for two reads of one item, even if the item moved between them. Absent: items do not move. */
  identityOf?(item: T): string;
  /** The `stretch` of the page before. Absent if there was no page before. */
  stretchBefore?: number;
}

/**
 * The first stretch of a page is often the rest of a stretch that began on the page before. So a single stretch says
 * nothing against earlier pages.
 */
const OWN_STRETCHES = 2;

/** A page while it is being filled. It holds each item once, at the first position where a read found it. */
export class PageInProgress<T> {
  readonly positions: Position<T>[] = [];
  /** How far all shards were read, if that is after the last item. A filter can hide the items between. */
  readTo: Position<T> | undefined;
  /** The last item of the merge that the page has taken, or has left out because it holds the item already. */
  met: Position<T> | undefined;
  private readonly seen = new Set<string>();
  /** How often the shard changes from one item to the next. */
  private changes = 0;
  private bytes = 0;
  /** How many items stand before the last change. */
  private beforeChange = 0;

  constructor(private readonly bounds: PageBounds<T>) {}

  /** Where the next page goes on. Undefined as long as nothing is certain. */
  get end(): Position<T> | undefined {
    return this.readTo ?? this.positions.at(-1);
  }

  /** How many items the page can still take. Undefined if their number has no bound. */
  get room(): number | undefined {
    return this.bounds.limit === undefined ? undefined : this.bounds.limit - this.positions.length;
  }

  /** Whether no further item can have room. */
  get isFull(): boolean {
    const { room, roomBytes = Number.POSITIVE_INFINITY } = this;
    return room === 0 || roomBytes <= 0;
  }

  /** The bytes that the page has room for. Undefined if bytes do not bound it. */
  get roomBytes(): number | undefined {
    return this.bounds.maxBytes === undefined ? undefined : this.bounds.maxBytes - this.bytes;
  }

  /** What an item would take of the bytes of the page. */
  bytesOf(position: Position<T>): number {
    return this.bounds.bytesOf?.(position) ?? 0;
  }

  /** About how many further items the page will take. Undefined if this is not known. */
  get expected(): number | undefined {
    const roughly = this.bounds.roughly?.();
    if (roughly === undefined) return this.room;
    return Math.max(1, Math.min(this.room ?? roughly, roughly - this.positions.length));
  }

  /**
   * How many consecutive items come from one shard on average. The last stretch may go on, so it does not count. Until this
   * page has two stretches of its own, the page before counts as one more. Undefined as long as no stretch is known.
   */
  get stretch(): number | undefined {
    const { stretchBefore } = this.bounds;
    const before = this.changes < OWN_STRETCHES && stretchBefore !== undefined ? [stretchBefore] : [];
    const stretches = this.changes + before.length;
    return stretches === 0 ? undefined : (this.beforeChange + (before[0] ?? 0)) / stretches;
  }

  /** Adds an item, and returns whether there was room for it. An empty page always has room for one item. */
  take(position: Position<T>): boolean {
    const identity = this.bounds.identityOf?.(position.item);
    if (identity !== undefined && this.seen.has(identity)) return true;
    if (this.room === 0) return false;
    const bytes = this.bytesOf(position);
    if (this.roomBytes !== undefined && bytes > this.roomBytes && this.positions.length > 0) return false;
    this.bytes += bytes;
    if (identity !== undefined) this.seen.add(identity);
    const last = this.positions.at(-1);
    if (last !== undefined && last.shard !== position.shard) {
      this.changes += 1;
      this.beforeChange = this.positions.length;
    }
    this.positions.push(position);
    return true;
  }
}
