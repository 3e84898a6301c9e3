import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import {
  fanOutQuery,
  lightQueryClient,
  plainItem,
  type QueryClient,
  type ShardedIndexConfig,
  type ShardedTableConfig,
  shardAttributes,
} from 'cdk-even-shards/sharded-index';

/** The head row of an invoice, with the attributes of the whole invoice. */
export interface InvoiceHead {
  InvoiceNumber: string;
  Invoice_Date: string;
  Trans_country: string;
  Amount_Due: number;
  Currency: string;
}

/** An invoice in the index. Its table key ends with a random number, such as 121212-3. */
export type InvoiceOfCountry = Omit<InvoiceHead, 'Trans_country'>;

/**
 * Stores head rows of invoices, and queries the invoices of a country, as in "Designing Partition Keys to Distribute
 * Your Workload Evenly". Some countries have far more invoices than other countries. So each head row has a random
 * number in addition to its country, and a query reads the head rows of all numbers of a country in one ordered page.
 */
export class InvoiceHeads {
  private readonly documents: DynamoDBDocument;
  private readonly queries: QueryClient;

  constructor(
    dynamoDb: DynamoDB,
    private readonly invoices: ShardedTableConfig,
    private readonly byCountry: ShardedIndexConfig,
  ) {
    this.documents = DynamoDBDocument.from(dynamoDb);
    this.queries = lightQueryClient(dynamoDb);
  }

  async open(head: InvoiceHead): Promise<void> {
    const row = { ...head, ClientTransactionId: 'head' };
    const Item = { ...row, ...shardAttributes(this.invoices, row), ...shardAttributes(this.byCountry, row) };
    await this.documents.put({ TableName: this.invoices.tableName, Item });
  }

  /** A page of the invoices of a country. The newest invoice is first. */
  async ofCountry(country: string, cursor?: string): Promise<{ invoices: InvoiceOfCountry[]; cursor?: string }> {
    const request = { value: country, order: 'descending' as const, limit: 25, cursor };
    const page = await fanOutQuery(this.queries, this.byCountry, request);
    return { invoices: page.items.map((item) => this.invoiceOf(plainItem(item))), cursor: page.cursor };
  }

  private invoiceOf({ InvoiceNumber, Invoice_Date, Amount_Due, Currency }: InvoiceOfCountry): InvoiceOfCountry {
    const [number = ''] = InvoiceNumber.split(this.invoices.separator);
    return { InvoiceNumber: number, Invoice_Date, Amount_Due, Currency };
  }
}
