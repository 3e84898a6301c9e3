import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { KeyShardedTable, type KeyShardedTableProps, ShardCounts } from '../../../lib';

/** A table of the transactions of invoices that is sharded by its own key: that of a test to which the table matters little. */
export function invoiceTable(scope: Construct, changes: Partial<KeyShardedTableProps> = {}): KeyShardedTable {
  return new KeyShardedTable(scope, 'Invoices', {
    partitionKey: { name: 'invoice', type: AttributeType.STRING },
    sortKey: { name: 'transaction', type: AttributeType.STRING },
    shardCounts: ShardCounts.uniform(5),
    ...changes,
  });
}
