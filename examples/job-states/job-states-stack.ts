import { Stack, type StackProps } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { FanOutQueryFunction, KeyLayout, ShardCounts, ShardedTable, ShardingStrategy } from 'cdk-even-shards';
import { weightedShards } from 'cdk-even-shards/planning';
import type { Construct } from 'constructs';

export interface JobStatesProps extends StackProps {
  /** The share of the jobs in each state, in any unit. */
  readonly shares: Readonly<Record<string, number>>;

  /** The total number of shards of all states, before the number of each state is rounded up. */
  readonly shards: number;
}

/** Jobs by state, ordered by creation time and by update time. The share of shards of a state is its share of jobs. */
export class JobStatesStack extends Stack {
  constructor(scope: Construct, id: string, { shares, shards, ...props }: JobStatesProps) {
    super(scope, id, props);
    const jobs = new ShardedTable(this, 'Jobs', { partitionKey: { name: 'job_id', type: AttributeType.STRING } });
    const byState = {
      valueAttribute: { name: 'status', type: AttributeType.STRING },
      shardAttribute: 'statusShard', // one attribute for both indexes
      shardCounts: ShardCounts.byValue(weightedShards({ shards, shares }), 1),
      firstShard: 1, // the article's random numbers begin with 1
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
