import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { DynamoDbItem, QueryClient } from '../../../lib/core';
import { itemBytes } from '../../../lib/core/sharded-index/query/item-bytes';

/**
 * A client that counts how many of its returned items are still in memory, and their bytes. It runs the garbage collection before
 * it counts.
 */
export class HeldItems implements QueryClient {
  most = 0;
  mostBytes = 0;
  private items: { item: WeakRef<DynamoDbItem>; bytes: number }[] = [];
  private answers = 0;
  private readonly collect = garbageCollector();

  /** @param countAfter the number of responses after which garbage is collected and the items are counted */
  constructor(
    private readonly index: QueryClient,
    private readonly countAfter = 100,
  ) {}

  async query(input: Parameters<QueryClient['query']>[0]) {
    const answer = await this.index.query(input);
    // The items of the index itself are always in memory, so the client returns copies.
    const copies = answer.Items!.map((item) => ({ ...item }) as DynamoDbItem);
    this.items.push(...copies.map((copy) => ({ item: new WeakRef(copy), bytes: itemBytes(copy) })));
    this.answers += 1;
    if (this.answers % this.countAfter === 0) await this.count();
    return { ...answer, Items: copies };
  }

  /** Counts once more, including the last responses. */
  async count(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.collect();
    this.items = this.items.filter(({ item }) => item.deref() !== undefined);
    this.most = Math.max(this.most, this.items.length);
    this.mostBytes = Math.max(
      this.mostBytes,
      this.items.reduce((sum, { bytes }) => sum + bytes, 0),
    );
  }
}

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return (globalThis as { gc?: () => void }).gc ?? runInNewContext('gc');
}
