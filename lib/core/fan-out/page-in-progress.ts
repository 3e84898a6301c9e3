import type { Position } from './total-order';

export interface PageBounds<T> {
  limit?: number;
  /**
   * The maximum size of the page in bytes, as `bytesOf` measures its items. The page contains its first item even if this item
   * is larger than the maximum.
   */
  maxBytes?: number;
  bytesOf?(position: Position<T>): number;
  /** The approximate number of items that fit on the page. Undefined if unknown. */
  expectedItems?(): number | undefined;
  /** The identity of an item, which stays the same if the item moves to another shard. Absent: items do not move. */
  identityOf?(item: T): string;
  /** The average number of consecutive items from one shard on the previous page. Absent for the first page. */
  stretchBefore?: number;
}

/**
 * A stretch is a sequence of consecutive items from one shard. If a page has fewer complete stretches than this number, its
 * average length of a stretch includes the average of the previous page. The reason is that the first stretch of a page often
 * began on the previous page.
 */
const OWN_STRETCHES = 2;

/** A page while it is being filled. The page has each item once, at the first position where a read found the item. */
export class PageInProgress<T> {
  readonly positions: Position<T>[] = [];
  /**
   * The position up to which all shards were read, if this position is after the last item of the page. A filter can hide the
   * items between the two positions.
   */
  readTo: Position<T> | undefined;
  /** The last item that the merge has taken. This item can be a duplicate that is not on the page. */
  merged: Position<T> | undefined;
  private readonly seen = new Set<string>();
  /** How often two consecutive items come from different shards. */
  private changes = 0;
  private bytes = 0;
  /** The number of items before the last change from one shard to another. */
  private beforeChange = 0;

  constructor(private readonly bounds: PageBounds<T>) {}

  /** The next page begins after this position. Undefined while the page has no items and no `readTo`. */
  get end(): Position<T> | undefined {
    return this.readTo ?? this.positions.at(-1);
  }

  /** How many more items fit on the page. Undefined if the page has no limit. */
  get room(): number | undefined {
    return this.bounds.limit === undefined ? undefined : this.bounds.limit - this.positions.length;
  }

  get isFull(): boolean {
    const { room, roomBytes = Number.POSITIVE_INFINITY } = this;
    return room === 0 || roomBytes <= 0;
  }

  /** How many more bytes fit on the page. Undefined if the page has no bound in bytes. */
  get roomBytes(): number | undefined {
    return this.bounds.maxBytes === undefined ? undefined : this.bounds.maxBytes - this.bytes;
  }

  bytesOf(position: Position<T>): number {
    return this.bounds.bytesOf?.(position) ?? 0;
  }

  /** The approximate number of further items of the page. Undefined if unknown. */
  get expected(): number | undefined {
    const expectedItems = this.bounds.expectedItems?.();
    if (expectedItems === undefined) return this.room;
    return Math.max(1, Math.min(this.room ?? expectedItems, expectedItems - this.positions.length));
  }

  /**
   * The average number of consecutive items from one shard. The last stretch of a page may continue on the next page, so the
   * average does not include it. Until this page has two complete stretches, the average of the previous page counts as one
   * more stretch. Undefined if there is no complete stretch.
   */
  get stretch(): number | undefined {
    const { stretchBefore } = this.bounds;
    const before = this.changes < OWN_STRETCHES && stretchBefore !== undefined ? [stretchBefore] : [];
    const stretches = this.changes + before.length;
    return stretches === 0 ? undefined : (this.beforeChange + (before[0] ?? 0)) / stretches;
  }

  /** Adds an item if it fits on the page. Returns whether the item fits. The first item always fits. */
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
