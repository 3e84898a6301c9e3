// The app of the tour: a stream with its producer, and an index whose counts are adaptive.
import { createRequire } from 'node:module';
import { App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';

const require = createRequire(import.meta.url);
const { FanOutQueryFunction, KeyLayout, OrderedProducerFunction, ShardCounts, ShardedTable, UniformStream } =
  require('../dist/lib/index.js');

const stack = new Stack(new App(), 'Tour');
const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
new OrderedProducerFunction(stack, 'Producer', { stream });
const jobs = new ShardedTable(stack, 'Jobs', { partitionKey: { name: 'jobId', type: AttributeType.STRING } });
const byStatus = jobs.addShardedIndex({
  indexName: 'byStatus',
  valueAttribute: { name: 'status', type: AttributeType.STRING },
  sortKey: { name: 'createdAt', type: AttributeType.STRING },
  keyLayout: KeyLayout.SINGLE_ATTRIBUTE,
  shardCounts: ShardCounts.adaptive({ maximum: 16 }),
});
new FanOutQueryFunction(stack, 'Query', { indexes: [byStatus] });
stack.node.root.synth();
