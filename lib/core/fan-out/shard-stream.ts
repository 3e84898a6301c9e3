import type { Item } from './query-client';
import type { ShardReader } from './shard-reader';
import type { Position } from './total-order';

/** What a query cost. */
export interface FanOutStats {
  /** Shards the query covers. */
  shards: number;
  /** Requests sent. */
  requests: number;
  /** Rounds of requests that ran side by side. */
  waves: number;
  /** Items DynamoDB evaluated, whether they are in the page or not. */
  itemsRead: number;
  consumedReadUnits: number;
}

/** Beyond it a read is left to the store's own bound, in DynamoDB a megabyte. */
const LARGEST_LIMIT = 10_000;

/** A shard reader with what it has read but not yet given away. */
export class ShardStream {
  private buffer: Item[] = [];
  private next = 0;
  private readerExhausted: boolean;

  constructor(private readonly reader: ShardReader) {
    this.readerExhausted = reader.exhausted;
  }

  get shard(): number {
    return this.reader.shard;
  }

  /** The next item, if it is already here. */
  get head(): Position | undefined {
    const item = this.buffer[this.next];
    return item === undefined ? undefined : { item, shard: this.shard };
  }

  get buffered(): number {
    return this.buffer.length - this.next;
  }

  /** Whether more can be read. */
  get readable(): boolean {
    return !this.readerExhausted;
  }

  /** Whether nothing is here, but something may come. */
  get starving(): boolean {
    return this.buffered === 0 && this.readable;
  }

  advance(): void {
    this.next += 1;
  }

  async fill(limit: number | undefined, stats: FanOutStats): Promise<void> {
    const page = await this.reader.read(limit === undefined || limit > LARGEST_LIMIT ? undefined : limit);
    stats.requests += 1;
    stats.itemsRead += page.itemsRead;
    stats.consumedReadUnits += page.consumedReadUnits;
    this.buffer = [...this.buffer.slice(this.next), ...page.items];
    this.next = 0;
    this.readerExhausted = page.exhausted;
  }
}

/** Fills several streams side by side. */
export async function fillWave(
  streams: readonly ShardStream[],
  limitOf: (stream: ShardStream) => number | undefined,
  stats: FanOutStats,
): Promise<void> {
  stats.waves += 1;
  await Promise.all(streams.map((stream) => stream.fill(limitOf(stream), stats)));
}
