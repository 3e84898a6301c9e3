import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { KeyShardedTable, type KeyShardedTableProps, ShardCounts } from '../../../lib';

/** A sharded table of invoice transactions, for tests that do not depend on its details. */
export function invoiceTable(scope: Construct, changes: Partial<KeyShardedTableProps> = {}): KeyShardedTable {
  return new KeyShardedTable(scope, 'Invoices', {
    partitionKey: { name: 'invoice', type: AttributeType.STRING },
    sortKey: { name: 'transaction', type: AttributeType.STRING },
    shardCounts: ShardCounts.uniform(5),
    ...changes,
  });
}
