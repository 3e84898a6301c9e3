import type { ShardedTableConfig } from '../../../lib/core';

/**
 * The invoice table of "Designing Partition Keys". The items of an invoice are in the partitions `121212-1` to
 * `121212-5`, sorted by client and transaction.
 */
export const invoices: ShardedTableConfig = {
  tableName: 'Invoices',
  tableKey: ['InvoiceNumber', 'ClientTransactionId'],
  keyLayout: 'single-attribute',
  valueAttribute: 'InvoiceNumber',
  shardAttribute: 'InvoiceNumber',
  sortKeyAttributes: ['ClientTransactionId'],
  shardedBy: ['ClientTransactionId'],
  separator: '-',
  firstShard: 1,
  shards: { default: { write: 5, read: 5 } },
  strategy: 'calculated',
};
