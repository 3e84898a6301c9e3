import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import {
  fanOutItems,
  fanOutQuery,
  lightQueryClient,
  plainItem,
  type QueryClient,
  type ShardedTableConfig,
  type TransactGet,
  type TransactWrite,
  transactDelete,
  transactGet,
  transactPut,
} from 'cdk-even-shards/sharded-index';

/** A transaction of a client on an invoice. `changedAt` changes with every write, because `reshardItems` needs it. */
export interface Transaction {
  InvoiceNumber: string;
  ClientTransactionId: string;
  amount: number;
  changedAt: string;
}

/**
 * The transactions of invoices, in a table that is sharded by its own key: the invoice 121212 is spread over the
 * partitions 121212-1 to 121212-5. Every write and every read of a single item calculates the partition of the item,
 * also while the shard count changes.
 *
 *     const invoices = new Invoices(new DynamoDB({}), JSON.parse(process.env.INVOICES!));
 */
export class Invoices {
  private readonly documents: DynamoDBDocument;
  private readonly queries: QueryClient;

  constructor(
    dynamoDb: DynamoDB,
    private readonly config: ShardedTableConfig,
  ) {
    this.documents = DynamoDBDocument.from(dynamoDb);
    this.queries = lightQueryClient(dynamoDb);
  }

  /** Adds a transaction. Fails if the invoice already has this transaction. */
  async add(transaction: Transaction): Promise<void> {
    await this.write(transactPut(this.config, transaction, { ifAbsent: true }));
  }

  async find(invoice: string, ClientTransactionId: string): Promise<Transaction | undefined> {
    const item = await this.read(transactGet(this.config, invoice, { ClientTransactionId }));
    return item && ({ ...item, InvoiceNumber: invoice } as Transaction);
  }

  async remove(invoice: string, ClientTransactionId: string): Promise<void> {
    await this.write(transactDelete(this.config, invoice, { ClientTransactionId }));
  }

  /**
   * A page of the transactions whose ids begin with a text, in order. As in the document, `Client1` finds Client1_trans1
   * and Client1-trans2. It also finds Client10_trans1, so let a client's name have a fixed length.
   */
  async beginningWith(invoice: string, text: string, cursor?: string): Promise<{ ids: string[]; cursor?: string }> {
    const request = { value: invoice, sortKey: { beginsWith: text }, limit: 25, consistentRead: true, cursor };
    const page = await fanOutQuery(this.queries, this.config, request);
    const ids = page.items.map((item) => plainItem<Transaction>(item).ClientTransactionId);
    return { ids, cursor: page.cursor };
  }

  /** The sum of the amounts of all transactions of an invoice. */
  async total(invoice: string): Promise<number> {
    let total = 0;
    for await (const item of fanOutItems(this.queries, this.config, { value: invoice, consistentRead: true })) {
      total += plainItem<Transaction>(item).amount;
    }
    return total;
  }

  /**
   * Sends one write without a transaction, because a transaction costs twice as much. Several writes are necessary only
   * while the shard count changes, when an item can have several places.
   */
  private async write(writes: TransactWrite[]): Promise<void> {
    const [only] = writes;
    if (writes.length > 1) await this.documents.transactWrite({ TransactItems: writes });
    else if ('Put' in only!) await this.documents.put(only.Put);
    else if ('Delete' in only!) await this.documents.delete(only.Delete);
  }

  private async read(reads: TransactGet[]): Promise<Record<string, unknown> | undefined> {
    const [only] = reads;
    if (reads.length === 1) return (await this.documents.get({ ...only!.Get, ConsistentRead: true })).Item;
    const { Responses = [] } = await this.documents.transactGet({ TransactItems: reads });
    return Responses.find(({ Item }) => Item !== undefined)?.Item;
  }
}
