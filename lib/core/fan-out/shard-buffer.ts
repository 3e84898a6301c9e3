import { binarySearch } from '../kernel/binary-search';
import type { ShardPage, ShardRead, ShardReader } from './shard-reader';
import type { ComparePositions, Position } from './total-order';

export interface BufferRead<T> {
  buffer: ShardBuffer<T>;
  limit?: number;
  until?: Position<T>;
}

/** The reader of a shard, and the items of the shard that were read but not yet returned. */
export class ShardBuffer<T> {
  /** The number of items that the store has evaluated. */
  evaluated = 0;
  /** The number of items that have passed the filter. */
  matched = 0;
  largestLimit = 0;
  /**
   * `cut`: the shard was read up to the last position that the page can need. `missing`: the query continues without
   * the shard.
   */
  private state: 'readable' | 'exhausted' | 'cut' | 'missing';
  private held: Position<T>[] = [];
  private next = 0;
  private from: unknown;
  private readTo: Position<T> | undefined;
  /** Whether items were dropped because they are after the end of this page. A later page can have these items. */
  private dropped = false;

  constructor(
    private readonly reader: ShardReader<T>,
    private readonly afterAllShards: number,
  ) {
    this.state = reader.exhausted ? 'exhausted' : 'readable';
  }

  get shard(): number {
    return this.reader.shard;
  }

  /** The `next` of the most recent response, from which the next read continues. */
  get nextRead(): unknown {
    return this.from;
  }

  /** The next item in the buffer. Undefined if the buffer is empty. */
  get head(): Position<T> | undefined {
    return this.held[this.next];
  }

  /**
   * All further items of the shard are at or after this position. This is the position of the next item in the buffer (`head`),
   * or the frontier if the buffer is empty.
   */
  get bound(): Position<T> | undefined {
    return this.held[this.next] ?? this.readTo;
  }

  /** The position up to which the shard was read. All unread items of the shard come after this position. */
  get frontier(): Position<T> | undefined {
    return this.readTo;
  }

  get buffered(): readonly Position<T>[] {
    return this.next === 0 ? this.held : this.held.slice(this.next);
  }

  get bufferedCount(): number {
    return this.held.length - this.next;
  }

  /** Whether this page can read more items of the shard. */
  get readable(): boolean {
    return this.state === 'readable';
  }

  get missing(): boolean {
    return this.state === 'missing';
  }

  /** Whether the buffer is empty and a read may fill it. */
  get needsRead(): boolean {
    return this.readable && this.bufferedCount === 0;
  }

  /** Whether this page or a later page can have more items of the shard. */
  get mayHaveMore(): boolean {
    return this.bufferedCount > 0 || this.state === 'readable' || this.state === 'cut' || this.dropped;
  }

  advance(): void {
    this.next += 1;
  }

  drain(): T[] {
    const items = this.buffered.map(({ item }) => item);
    this.held = [];
    this.next = 0;
    return items;
  }

  read(read: Omit<ShardRead<T>, 'from'>): Promise<ShardPage<T>> {
    this.largestLimit = Math.max(this.largestLimit, read.limit ?? 0);
    return this.reader.read({ ...read, from: this.from });
  }

  dropAfter(end: Position<T>, compare: ComparePositions<T>): void {
    const first = binarySearch(this.next, this.held.length, (index) => compare(this.held[index]!, end) > 0);
    if (first === this.held.length) return;
    this.held = this.held.slice(this.next, first);
    this.next = 0;
    this.dropped = true;
    if (this.state !== 'missing') this.state = 'cut';
    this.readTo = end;
  }

  /** Adds the items of a response. Returns the items that were added. */
  absorb(page: ShardPage<T>, until: Position<T> | undefined): readonly Position<T>[] {
    // The read was sent before items after the end of the page were dropped. All items of its response are also after the end of
    // the page.
    if (this.dropped) return [];
    const positions = page.items.map((item) => ({ item, shard: this.shard }));
    this.held = this.next === this.held.length ? positions : [...this.held.slice(this.next), ...positions];
    this.next = 0;
    this.evaluated += page.itemsRead;
    this.matched += positions.length;
    this.from = page.next;
    if (page.next !== undefined) {
      this.readTo =
        page.readTo === undefined ? (positions.at(-1) ?? this.readTo) : { item: page.readTo, shard: this.shard };
    } else if (until !== undefined) {
      this.state = 'cut';
      this.readTo = { item: until.item, shard: this.afterAllShards };
    } else {
      this.state = 'exhausted';
      this.readTo = undefined;
    }
    return positions;
  }

  /** Marks the shard as missing, so that the query continues without its unread items. */
  giveUp(): void {
    this.state = 'missing';
    // If items were dropped, keep the frontier, so that the page ends there. The next page then reads the dropped items.
    if (!this.dropped) this.readTo = undefined;
  }
}
