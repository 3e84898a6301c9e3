import { App } from 'aws-cdk-lib';
import { type LocalStack, startLocal } from '../../bin/local/run-local';
import { type InvoiceHead, InvoiceHeads } from '../../examples/invoice-table/invoice-heads';
import { InvoiceStack } from '../../examples/invoice-table/invoice-stack';
import type { ShardedIndexConfig, ShardedTableConfig } from '../../lib/core';
import { allPages } from '../support/all-pages';

/**
 * Tests the section "Using Random number as PK" of "Designing Partition Keys" in the stack of the example: head rows,
 * and the invoices of a country.
 */
describe('the head rows of examples/invoice-table', () => {
  let stack: LocalStack;
  let heads: InvoiceHeads;

  /** The invoices of the document, and many more invoices of one country. */
  const DOCUMENT: InvoiceHead[] = [
    {
      InvoiceNumber: '121212',
      Invoice_Date: '2018-05-17 T1',
      Trans_country: 'USA',
      Amount_Due: 10_000,
      Currency: 'USD',
    },
    {
      InvoiceNumber: '121213',
      Invoice_Date: '2018-04-1 T2',
      Trans_country: 'USA',
      Amount_Due: 500_000,
      Currency: 'USD',
    },
    {
      InvoiceNumber: '121214',
      Invoice_Date: '2018-04-1 T2',
      Trans_country: 'FRA',
      Amount_Due: 500_000,
      Currency: 'EUR',
    },
  ];
  const MORE = Array.from(
    { length: 60 },
    (_, n): InvoiceHead => ({
      InvoiceNumber: String(300_000 + n),
      Invoice_Date: `2019-01-01 T${String(n).padStart(2, '0')}`,
      Trans_country: 'USA',
      Amount_Due: n,
      Currency: 'USD',
    }),
  );

  beforeAll(async () => {
    const app = new App();
    new InvoiceStack(app, 'Example');
    stack = await startLocal({ app: app.synth().directory });
    const { environment } = stack.functions.find(({ path }) => path === 'Example/Query/Function')!;
    const { byCountry }: Record<string, ShardedIndexConfig> = JSON.parse(environment.EVEN_SHARDS_INDEXES!);
    const { Invoices }: Record<string, ShardedTableConfig> = JSON.parse(environment.EVEN_SHARDS_TABLES!);
    heads = new InvoiceHeads(stack.clients.dynamodb, Invoices!, byCountry!);
    for (const head of [...DOCUMENT, ...MORE]) await heads.open(head);
  }, 60_000);
  afterAll(() => stack?.stop());

  async function all(country: string): Promise<string[]> {
    const pages = await allPages((cursor) => heads.ofCountry(country, cursor));
    return pages.flatMap(({ invoices }) => invoices.map(({ InvoiceNumber }) => InvoiceNumber));
  }

  test('a query returns the invoices of the USA in one order, the newest first', async () => {
    const newest = MORE.map(({ InvoiceNumber }) => InvoiceNumber).reverse();
    expect(await all('USA')).toEqual([...newest, '121212', '121213']);
  });

  test('a query of a country with few invoices returns the projected attributes', async () => {
    expect(await heads.ofCountry('FRA')).toEqual({
      invoices: [{ InvoiceNumber: '121214', Invoice_Date: '2018-04-1 T2', Amount_Due: 500_000, Currency: 'EUR' }],
    });
  });

  test('a hot country uses the shards 1 to 5, and other countries use shard 1', async () => {
    const { Items = [] } = await stack.clients.dynamodb.scan({ TableName: stack.tables[0]!.name });
    const numbersOf = (country: string) =>
      new Set(
        Items.flatMap(({ Trans_country, byCountryShard }) => (Trans_country?.S === country ? byCountryShard?.S : [])),
      );
    expect([...numbersOf('USA')].sort()).toEqual([1, 2, 3, 4, 5].map((shard) => `USA#${shard}`));
    expect([...numbersOf('FRA')]).toEqual(['FRA#1']);
  });
});
