import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kinesis } from '@aws-sdk/client-kinesis';
import type { Lambda } from '@aws-sdk/client-lambda';
import type { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { deliveryOf } from '../../../bin/local/event-sources/batch-answer';
import { StreamPoller } from '../../../bin/local/event-sources/stream-poller';
import { seededRandom } from '../../../lib/testing/seeded-random';
import type { TableStream } from '../../support/table-stream';

export const STATUSES = ['pending', 'paid', 'done'] as const;

export interface Order {
  readonly orderId: string;
  readonly status: string;
  readonly createdAt: string;
  readonly note?: string;
}

/** Returns the ids of all orders with a status. */
export type ReadOrders = (status: string) => Promise<string[]>;

const WRITE_PAUSE_MS = 15;
const READ_PAUSE_MS = 60;

/**
 * A writer and a reader of a table of orders, which run during the deployments of a test. The writer knows each stored
 * order. The reader expects each order that did not change during its query.
 */
export class RunningOrders {
  private readonly stored = new Map<string, Order>();
  /** When the latest write of an order ended. Not finite during a write. */
  private readonly touchedAt = new Map<string, number>();
  private readonly random = seededRandom(60);
  private readonly ended = new AbortController();
  private running: Promise<unknown> = Promise.resolve();
  private isPaused = false;
  private next = 0;
  private readonly seen = { writes: 0, queries: 0 };
  /** Each failed request, and each order that a query did not find or should not have found. */
  readonly problems: string[] = [];
  /** The attributes that the writer adds to each order. */
  added: (order: Order) => object = () => ({});
  /** How long after a write the reader expects the order. */
  delayMs = 0;

  constructor(
    private readonly documents: DynamoDBDocument,
    private readonly tableName: string,
    /** How the reader reads. */
    public read: ReadOrders,
  ) {}

  /** Puts the first orders, and starts the writer and the reader. */
  async start(): Promise<void> {
    for (let n = 0; n < 60; n++) await this.put(this.newOrder());
    this.running = Promise.all([
      this.repeat(WRITE_PAUSE_MS, () => this.write()),
      this.repeat(READ_PAUSE_MS, () => this.query()),
    ]);
  }

  async stop(): Promise<void> {
    this.ended.abort();
    await this.running;
  }

  /** Runs a function while the writer waits. */
  async whilePaused<T>(run: () => Promise<T>): Promise<T> {
    this.isPaused = true;
    await sleep(10 * WRITE_PAUSE_MS);
    return run().finally(() => {
      this.isPaused = false;
    });
  }

  /** Waits for some writes and queries, and returns their number. */
  async progress(): Promise<{ writes: number; queries: number }> {
    const before = { ...this.seen };
    while (this.seen.writes < before.writes + 20 || this.seen.queries < before.queries + 3) {
      if (this.problems.length > 0) throw new Error(this.problems.slice(0, 5).join('; '));
      await sleep(20);
    }
    return { ...this.seen };
  }

  /** The stored orders with a status, or all stored orders. */
  idsOf(status?: string): string[] {
    const orders = [...this.stored.values()].filter((order) => status === undefined || order.status === status);
    return orders.map(({ orderId }) => orderId).sort();
  }

  private async repeat(pauseMs: number, run: () => Promise<void>): Promise<void> {
    while (!this.ended.signal.aborted) {
      await run().catch((error) => this.problems.push(String(error)));
      await sleep(pauseMs);
    }
  }

  private newOrder(): Order {
    return { orderId: `o-${this.next++}`, status: this.status(), createdAt: new Date().toISOString() };
  }

  private status(): string {
    return STATUSES[Math.floor(this.random() * STATUSES.length)]!;
  }

  /** Puts a new order, replaces an order, or deletes an order. */
  private async write(): Promise<void> {
    if (this.isPaused) return;
    const ids = [...this.stored.keys()];
    const order = this.stored.get(ids[Math.floor(this.random() * ids.length)]!)!;
    const kind = this.random();
    if (kind < 0.3) await this.put(this.newOrder());
    else if (kind < 0.8) await this.put({ ...order, status: this.status(), note: `${this.seen.writes}` });
    else await this.delete(order.orderId);
    this.seen.writes += 1;
  }

  private async put(order: Order): Promise<void> {
    this.touchedAt.set(order.orderId, Number.POSITIVE_INFINITY);
    await this.documents.put({ TableName: this.tableName, Item: { ...order, ...this.added(order) } });
    this.stored.set(order.orderId, order);
    this.touchedAt.set(order.orderId, performance.now());
  }

  private async delete(orderId: string): Promise<void> {
    this.touchedAt.set(orderId, Number.POSITIVE_INFINITY);
    await this.documents.delete({ TableName: this.tableName, Key: { orderId } });
    this.stored.delete(orderId);
    this.touchedAt.set(orderId, performance.now());
  }

  private async query(): Promise<void> {
    const startedAt = performance.now() - this.delayMs;
    const status = this.status();
    const { read } = this;
    const found = new Set(await read(status));
    const changed = ([, at]: [string, number]) => at >= startedAt;
    const settled = [...this.touchedAt].filter((entry) => !changed(entry)).map(([id]) => id);
    for (const id of settled) {
      const isExpected = this.stored.get(id)?.status === status;
      if (isExpected !== found.has(id)) {
        this.problems.push(`a query of ${status} ${isExpected ? 'does not find' : 'finds'} ${id}`);
      }
    }
    this.seen.queries += 1;
  }
}

const KEYS = 12;

/** A writer and a consumer of a stream. The consumer follows the shards as Lambda does. */
export class RunningEvents {
  private readonly ended = new AbortController();
  private readonly written = new Map<string, number>();
  private readonly read = new Map<string, number>();
  private running: Promise<unknown> = Promise.resolve();
  private total = 0;
  /** The shards from which the consumer has read at least one record. */
  readonly shards = new Set<string>();
  /** Each failed request, and each record that is missing, in wrong order or a duplicate. */
  readonly problems: string[] = [];

  constructor(
    private readonly kinesis: Kinesis,
    private readonly streamName: string,
  ) {}

  async start(): Promise<void> {
    const { kinesis, streamName } = this;
    // Each shard adds a listener to this signal.
    setMaxListeners(0, this.ended.signal);
    const poller = new StreamPoller(
      kinesis,
      {
        ...{ streamName, from: 'TRIM_HORIZON', workers: 1, batchSize: 100, windowMs: 0, bisects: false, atTipMs: 50 },
        deliver: async ({ shardId, records }) => {
          this.shards.add(shardId);
          for (const { PartitionKey, Data } of records) this.consume(PartitionKey!, Number(Buffer.from(Data!)));
          return { done: records.length };
        },
        onDiscard: () => this.problems.push('a record was discarded'),
        onProblem: (problem) => this.problems.push(problem),
      },
      this.ended.signal,
    );
    await poller.begin();
    this.running = Promise.all([poller.run(), this.write()]);
  }

  /** Waits until the consumer has read each record that was written before the call. */
  async caughtUp(): Promise<number> {
    const before = this.total;
    while (this.total < before + 2 * KEYS) await sleep(20);
    if (this.problems.length > 0) throw new Error(this.problems.slice(0, 5).join('; '));
    const written = new Map(this.written);
    const isBehind = () => [...written].some(([key, last]) => (this.read.get(key) ?? 0) < last);
    for (const deadline = performance.now() + 30_000; isBehind(); await sleep(50)) {
      if (performance.now() > deadline) throw new Error('the consumer misses records');
    }
    return this.total;
  }

  async stop(): Promise<void> {
    this.ended.abort();
    await this.running;
  }

  private async write(): Promise<void> {
    for (let n = 0; !this.ended.signal.aborted; n++) {
      const PartitionKey = `account-${n % KEYS}`;
      const number = (this.written.get(PartitionKey) ?? 0) + 1;
      await this.kinesis
        .putRecord({ StreamName: this.streamName, PartitionKey, Data: Buffer.from(`${number}`) })
        .then(() => this.written.set(PartitionKey, number))
        .catch((error) => this.problems.push(String(error)));
      this.total += 1;
      await sleep(WRITE_PAUSE_MS);
    }
  }

  private consume(key: string, number: number): void {
    const expected = (this.read.get(key) ?? 0) + 1;
    if (number !== expected) this.problems.push(`${key}: the consumer reads ${number}, and expects ${expected}`);
    this.read.set(key, number);
  }
}

/** Delivers the stream of a table to a function, in place of moto's event source mapping. */
export class RunningMapping {
  private readonly ended = new AbortController();
  private running: Promise<unknown> = Promise.resolve();
  private readonly passes = { begun: 0, finished: 0 };
  /** Each failed invocation. */
  readonly problems: string[] = [];

  constructor(
    private readonly lambda: Lambda,
    private readonly stream: TableStream,
    private readonly functionName: string,
  ) {}

  start(): void {
    this.running = (async () => {
      while (!this.ended.signal.aborted) {
        this.passes.begun += 1;
        for await (const batch of this.stream.batches()) await this.deliver(batch as StreamRecord[]);
        this.passes.finished = this.passes.begun;
        await sleep(250);
      }
    })();
  }

  /** Waits until the function has handled each record that was written before the call. */
  async settle(): Promise<void> {
    const { begun } = this.passes;
    while (this.passes.finished <= begun) await Promise.race([this.running, sleep(50)]);
  }

  async stop(): Promise<void> {
    this.ended.abort();
    await this.running;
  }

  /** Repeats a batch until the function has handled all its records, as Lambda does. */
  private async deliver(batch: readonly StreamRecord[]): Promise<void> {
    for (let from = 0; from < batch.length && !this.ended.signal.aborted; ) {
      const Records = batch.slice(from);
      const numbers = Records.map(({ dynamodb }) => dynamodb.SequenceNumber);
      const { done, problem } = deliveryOf(await this.invoke({ Records }), numbers, true);
      from += done;
      if (problem !== undefined) this.problems.push(problem);
    }
  }

  private async invoke(event: object) {
    const { lambda, functionName: FunctionName } = this;
    const { Payload, FunctionError } = await lambda.invoke({ FunctionName, Payload: JSON.stringify(event) });
    const payload = Payload!.transformToString();
    return { payload, ...(FunctionError !== undefined && { functionError: 'Unhandled' as const }) };
  }
}

interface StreamRecord {
  readonly dynamodb: { readonly SequenceNumber: string };
}
