import { RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { CfnKeyspace } from 'aws-cdk-lib/aws-cassandra';
import { CqlType, KeyspacesFanOutQueryFunction, ShardCounts, ShardedKeyspacesTable } from 'cdk-even-shards';
import type { Construct } from 'constructs';

/**
 * A table of blogs by the day of their publication, with 200 partitions for each day, and a function that reads a day
 * in the order of the titles.
 */
export class BlogsStack extends Stack {
  readonly blogs: ShardedKeyspacesTable;
  readonly query: KeyspacesFanOutQueryFunction;

  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    const keyspace = new CfnKeyspace(this, 'Tracker', { keyspaceName: 'tracker' });
    keyspace.applyRemovalPolicy(RemovalPolicy.RETAIN);
    this.blogs = new ShardedKeyspacesTable(this, 'Blogs', {
      keyspaceName: keyspace.ref,
      tableName: 'blogs',
      partitionKey: [{ name: 'publish_date', cqlType: CqlType.DATE }],
      clusteringColumns: [{ name: 'title', cqlType: CqlType.TEXT }],
      regularColumns: [{ name: 'description', cqlType: CqlType.INT }],
      shardCounts: ShardCounts.uniform(200),
      firstShard: 1,
    });
    this.query = new KeyspacesFanOutQueryFunction(this, 'Query', { tables: [this.blogs] });
  }
}
