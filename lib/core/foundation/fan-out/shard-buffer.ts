import type { ShardPage, ShardRead, ShardReader } from './shard-reader';
import type { Position } from './total-order';

/** One read of a wave. */
export interface StreamRead<T> {
  stream: ShardBuffer<T>;
  limit?: number;
  until?: Position<T>;
}

/** A shard reader with what it has read but not yet given away. */
export class ShardBuffer<T> {
  /** Items that were evaluated, and those of them that passed the filter. */
  evaluated = 0;
  matched = 0;
  /** The most items a read has asked for so far. */
  largestLimit = 0;
  /**
   * `cut`: read to the last position the page can need, and no further. `missing`: given up.
   */
  private state: 'readable' | 'exhausted' | 'cut' | 'missing';
  private buffer: Position<T>[] = [];
  private next = 0;
  private from: unknown;
  private readTo: Position<T> | undefined;

  constructor(
    private readonly reader: ShardReader<T>,
    private readonly behindAllShards: number,
  ) {
    this.state = reader.exhausted ? 'exhausted' : 'readable';
  }

  get shard(): number {
    return this.reader.shard;
  }

  /** The next item, if it is already here. */
  get head(): Position<T> | undefined {
    return this.buffer[this.next];
  }

  /** Nothing of this stream comes before it: its head or, without one, how far it was read. */
  get bound(): Position<T> | undefined {
    return this.buffer[this.next] ?? this.readTo;
  }

  /** How far the shard was read; what is not here yet stands behind it. */
  get frontier(): Position<T> | undefined {
    return this.readTo;
  }

  get buffered(): readonly Position<T>[] {
    return this.next === 0 ? this.buffer : this.buffer.slice(this.next);
  }

  get bufferedCount(): number {
    return this.buffer.length - this.next;
  }

  /** Whether more can be read for this page. */
  get readable(): boolean {
    return this.state === 'readable';
  }

  get missing(): boolean {
    return this.state === 'missing';
  }

  /** Whether nothing is here, but something may come. */
  get starving(): boolean {
    return this.readable && this.bufferedCount === 0;
  }

  /** Whether this page or a later one can have something of this stream. */
  get mayHaveMore(): boolean {
    return this.bufferedCount > 0 || this.state === 'readable' || this.state === 'cut';
  }

  advance(): void {
    this.next += 1;
  }

  /** Gives away everything that is here. */
  drain(): T[] {
    const items = this.buffered.map(({ item }) => item);
    this.buffer = [];
    this.next = 0;
    return items;
  }

  read(read: Omit<ShardRead<T>, 'from'>): Promise<ShardPage<T>> {
    this.largestLimit = Math.max(this.largestLimit, read.limit ?? 0);
    return this.reader.read({ ...read, from: this.from });
  }

  absorb(page: ShardPage<T>, until: Position<T> | undefined): void {
    const positions = page.items.map((item) => ({ item, shard: this.shard }));
    this.buffer = this.next === this.buffer.length ? positions : [...this.buffer.slice(this.next), ...positions];
    this.next = 0;
    this.evaluated += page.itemsRead;
    this.matched += positions.length;
    this.from = page.next;
    if (page.next !== undefined) {
      this.readTo =
        page.readTo === undefined ? (positions.at(-1) ?? this.readTo) : { item: page.readTo, shard: this.shard };
    } else if (until !== undefined) {
      this.state = 'cut';
      this.readTo = { item: until.item, shard: this.behindAllShards };
    } else {
      this.state = 'exhausted';
      this.readTo = undefined;
    }
  }

  /** Leaves out what has not been read. */
  giveUp(): void {
    this.state = 'missing';
    this.readTo = undefined;
  }
}
