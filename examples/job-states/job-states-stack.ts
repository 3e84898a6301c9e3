import { Stack, type StackProps } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { FanOutQueryFunction, KeyLayout, ShardCounts, ShardedTable, ShardingStrategy } from 'cdk-even-shards';
import { weightedShards } from 'cdk-even-shards/planning';
import type { Construct } from 'constructs';

export interface JobStatesProps extends StackProps {
  /** The share of the jobs in each state, in any unit. */
  readonly shares: Readonly<Record<string, number>>;

  /** The total number of shards of all states. The construct rounds the number of each state up. */
  readonly shards: number;
}

/**
 * A table of jobs with two indexes by state, one ordered by creation time and one by update time. Each state gets
 * shards in proportion to its share of the jobs.
 */
export class JobStatesStack extends Stack {
  constructor(scope: Construct, id: string, { shares, shards, ...props }: JobStatesProps) {
    super(scope, id, props);
    const jobs = new ShardedTable(this, 'Jobs', { partitionKey: { name: 'job_id', type: AttributeType.STRING } });
    const byState = {
      valueAttribute: { name: 'status', type: AttributeType.STRING },
      shardAttribute: 'statusShard', // both indexes use the same shard attribute
      shardCounts: ShardCounts.byValue(weightedShards({ shards, shares }), 1),
      firstShard: 1, // the random numbers of the article begin with 1
      strategy: ShardingStrategy.RANDOM,
      keyLayout: KeyLayout.SINGLE_ATTRIBUTE, // for emulators without multi-attribute keys
    };
    const byCreation = jobs.addShardedIndex({
      ...byState,
      indexName: 'byCreation',
      sortKey: { name: 'create_time', type: AttributeType.STRING },
    });
    const byUpdate = jobs.addShardedIndex({
      ...byState,
      indexName: 'byUpdate',
      sortKey: { name: 'update_time', type: AttributeType.STRING },
    });
    new FanOutQueryFunction(this, 'Query', { indexes: [byCreation, byUpdate] });
  }
}
