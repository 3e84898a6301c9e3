import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DynamoDbItem } from '../../lib/core';
import type { ItemTransferInput } from '../../lib/core/sharded-index/strays/table-client';
import { seededRandom } from '../../lib/testing/seeded-random';
import type { FakeTable } from './fakes/fake-table';

interface Write {
  readonly Item?: DynamoDbItem;
  readonly Key?: DynamoDbItem;
}

/**
 * An endpoint of the table in memory, in which a transaction takes time. During a transaction, the endpoint rejects other writes of
 * its items as DynamoDB does. Source: the DynamoDB developer guide, "Transaction conflict handling in DynamoDB".
 */
export class TransactionConflicts {
  static async open(table: FakeTable, options: ConflictOptions): Promise<TransactionConflicts> {
    const opened = new TransactionConflicts(table, options);
    opened.server.listen(0, '127.0.0.1');
    await once(opened.server, 'listening');
    return opened;
  }

  /** The times of the transactions in seconds. */
  readonly heldSeconds: number[] = [];
  /** The number of rejected plain writes. */
  rejected = 0;
  /** The times of the requests with a transaction in milliseconds, by their items. */
  readonly attempts = new Map<string, number[]>();

  private readonly held = new Set<string>();
  private readonly random = seededRandom(1);
  private readonly server = createServer(async (message, response) => {
    let text = '';
    for await (const chunk of message.setEncoding('utf8')) text += chunk;
    const target = String(message.headers['x-amz-target']).split('.')[1]!;
    const [status, answer] = await this.answer(target, JSON.parse(text) as never).then(
      (result) => [200, result] as const,
      ({ name, message: Message, ...more }) =>
        [400, { ...more, __type: `${PREFIX}${name}`, message: Message }] as const,
    );
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify(answer));
  });

  private constructor(
    private readonly table: FakeTable,
    private readonly options: ConflictOptions,
  ) {}

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** Lets another transaction hold an item for a time. */
  async hold(item: DynamoDbItem, ms: number): Promise<void> {
    const key = this.keyOf({ Key: item });
    this.held.add(key);
    await sleep(ms);
    this.held.delete(key);
  }

  private async answer(target: string, input: never): Promise<object> {
    if (target === 'Scan') return this.table.scan(input);
    if (target === 'GetItem') return this.table.getItem(input);
    if (target === 'TransactWriteItems') return this.transact(input);
    if (this.held.has(this.keyOf(input))) {
      this.rejected += 1;
      throw Object.assign(new Error(ONGOING), { name: 'TransactionConflictException' });
    }
    try {
      this.table.transact([{ Put: input }]);
      return {};
    } catch (error) {
      throw Object.assign(error as Error, { name: 'ConditionalCheckFailedException' });
    }
  }

  private async transact(input: ItemTransferInput): Promise<object> {
    const keys = input.TransactItems.map((action) => this.keyOf(Object.values(action)[0]));
    const times = this.attempts.get(keys.join()) ?? [];
    this.attempts.set(keys.join(), [...times, performance.now()]);
    const isForeign = this.random() < (this.options.foreign ?? 0);
    const conflicts = keys.map((key) => isForeign || this.held.has(key));
    if (conflicts.includes(true)) {
      const CancellationReasons = conflicts.map((isConflict) =>
        isConflict ? { Code: 'TransactionConflict', Message: ONGOING } : { Code: 'None' },
      );
      const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
      const text = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
      throw Object.assign(new Error(text), { name: 'TransactionCanceledException', CancellationReasons });
    }
    const startMs = performance.now();
    for (const key of keys) this.held.add(key);
    try {
      await sleep(this.options.holdMs * 2 * this.random());
      return await this.table.transactWriteItems(input);
    } finally {
      for (const key of keys) this.held.delete(key);
      this.heldSeconds.push((performance.now() - startMs) / 1_000);
    }
  }

  private keyOf({ Item, Key }: Write): string {
    const item = (Key ?? Item)!;
    return JSON.stringify(this.options.tableKey.map((name) => item[name]));
  }
}

interface ConflictOptions {
  readonly tableKey: readonly string[];
  /** The mean time of a transaction. */
  readonly holdMs: number;
  /** The part of the transactions that conflict with a transaction of another application. */
  readonly foreign?: number;
}

const PREFIX = 'com.amazonaws.dynamodb.v20120810#';
const ONGOING = 'Transaction is ongoing for the item';
