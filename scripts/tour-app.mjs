// The app of the tour: a stream with its producer and registry, and an index whose counts are adaptive.
import { createRequire } from 'node:module';
import { App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';

const require = createRequire(import.meta.url);
const {
  FanOutQueryFunction,
  HashKeyRegistry,
  KeyLayout,
  OrderedProducerFunction,
  AdaptiveShardCountController,
  ShardCounts,
  ShardedTable,
  UniformStream,
} = require('../dist/lib/index.js');

const stack = new Stack(new App(), 'Tour');
const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
const hashKeyRegistry = new HashKeyRegistry(stack, 'Accounts', { stream });
new OrderedProducerFunction(stack, 'Producer', { stream, hashKeyRegistry });
const jobs = new ShardedTable(stack, 'Jobs', { partitionKey: { name: 'jobId', type: AttributeType.STRING } });
const byStatus = jobs.addShardedIndex({
  indexName: 'byStatus',
  valueAttribute: { name: 'status', type: AttributeType.STRING },
  sortKey: { name: 'createdAt', type: AttributeType.STRING },
  keyLayout: KeyLayout.SINGLE_ATTRIBUTE,
  shardCounts: ShardCounts.adaptive({ maximum: 16 }),
});
new FanOutQueryFunction(stack, 'Query', { indexes: [byStatus] });
new AdaptiveShardCountController(stack, 'Controller', { index: byStatus });
stack.node.root.synth();
