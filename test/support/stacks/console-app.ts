import { App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import {
  AdaptiveShardCountController,
  FanOutQueryFunction,
  HashKeyRegistry,
  KeyShardedTable,
  OrderedProducerFunction,
  ShardCounts,
  ShardedTable,
  UniformStream,
} from '../../../lib';

/**
 * Synthesizes an app with everything that the local console shows: a registry, fixed and adaptive counts, and a table
 * that is sharded by its own key.
 */
export function synthesizeConsoleApp({ shardCount }: { shardCount: number }): string {
  const app = new App();
  const stack = new Stack(app, 'App');
  const text = (name: string) => ({ name, type: AttributeType.STRING });

  const stream = new UniformStream(stack, 'Events', { shardCount });
  const hashKeyRegistry = new HashKeyRegistry(stack, 'Accounts', { stream });
  new OrderedProducerFunction(stack, 'Producer', { stream, hashKeyRegistry });

  const jobs = new ShardedTable(stack, 'Jobs', { partitionKey: text('jobId') });
  const byStatus = jobs.addShardedIndex({
    indexName: 'byStatus',
    valueAttribute: text('status'),
    sortKey: text('createdAt'),
    shardCounts: ShardCounts.byValue({ pending: 10, failed: 4 }, 1),
  });
  const byTime = jobs.addShardedIndex({
    indexName: 'byTime',
    sortKey: text('createdAt'),
    shardCounts: ShardCounts.uniform(5),
  });
  const byTenant = jobs.addShardedIndex({
    indexName: 'byTenant',
    valueAttribute: text('tenant'),
    sortKey: text('createdAt'),
    shardCounts: ShardCounts.adaptive({ maximum: 8 }),
  });
  const sessions = new KeyShardedTable(stack, 'Sessions', {
    partitionKey: text('day'),
    sortKey: text('session'),
    shardCounts: ShardCounts.uniform(3),
  });
  new FanOutQueryFunction(stack, 'Query', { indexes: [byStatus, byTime, byTenant], tables: [sessions] });
  new AdaptiveShardCountController(stack, 'Controller', { index: byTenant });
  return app.synth().directory;
}
