import { Duration, Stack, type StackProps } from 'aws-cdk-lib';
import { AttributeType, ProjectionType } from 'aws-cdk-lib/aws-dynamodb';
import { FanOutQueryFunction, KeyLayout, KeyShardedTable, ShardCounts, ShardingStrategy } from 'cdk-even-shards';
import type { Construct } from 'constructs';

/**
 * Each invoice gets up to 5,000 transactions of 1 KB a second. By the formula of the documents, the partition keys of
 * the invoice end with -1 to -5.
 */
export class InvoiceStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    const table = new KeyShardedTable(this, 'Invoices', {
      partitionKey: { name: 'InvoiceNumber', type: AttributeType.STRING },
      sortKey: { name: 'ClientTransactionId', type: AttributeType.STRING },
      // suffixRange({ writesPerSecond: 5_000, itemKb: 1 }) of cdk-even-shards/planning
      shardCounts: ShardCounts.uniform(5),
      separator: '-',
      firstShard: 1,
    });
    // The section "Using Random number as PK" of the guide: each invoice has one head row, with its country and a random
    // number from 1 to N. The other rows have no country.
    const byCountry = table.addShardedIndex({
      indexName: 'byCountry',
      valueAttribute: { name: 'Trans_country', type: AttributeType.STRING },
      sortKey: { name: 'Invoice_Date', type: AttributeType.STRING },
      shardCounts: ShardCounts.byValue({ USA: 5 }, 1),
      firstShard: 1,
      strategy: ShardingStrategy.RANDOM,
      projectionType: ProjectionType.INCLUDE,
      nonKeyAttributes: ['Amount_Due', 'Currency'],
      keyLayout: KeyLayout.SINGLE_ATTRIBUTE, // for emulators without multi-attribute keys
    });
    new FanOutQueryFunction(this, 'Query', { tables: [table], indexes: [byCountry], cache: Duration.seconds(1) });
  }
}
