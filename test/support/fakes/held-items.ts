import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { DynamoDbItem, QueryClient } from '../../../lib/core';

/** The client collects garbage and counts the items once in this number of responses. */
const COUNT_AFTER = 100;

/** A client that counts how many of its returned items are still in memory, after it has run the garbage collection. */
export class HeldItems implements QueryClient {
  most = 0;
  private items: WeakRef<DynamoDbItem>[] = [];
  private answers = 0;
  private readonly collect = garbageCollector();

  constructor(private readonly index: QueryClient) {}

  async query(input: Parameters<QueryClient['query']>[0]) {
    const answer = await this.index.query(input);
    // The items of the index itself are always in memory, so the client returns copies.
    const copies = answer.Items!.map((item) => ({ ...item }) as DynamoDbItem);
    this.items.push(...copies.map((copy) => new WeakRef(copy)));
    this.answers += 1;
    if (this.answers % COUNT_AFTER === 0) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      this.collect();
      this.items = this.items.filter((item) => item.deref() !== undefined);
      this.most = Math.max(this.most, this.items.length);
    }
    return { ...answer, Items: copies };
  }
}

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return (globalThis as { gc?: () => void }).gc ?? runInNewContext('gc');
}
