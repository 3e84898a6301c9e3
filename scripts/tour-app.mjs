// The app of the tour: a stream with its producer and registry, an index whose counts are adaptive, and a stream of commits with an
// ordered consumer, which keeps a table of repositories.
import { createRequire } from 'node:module';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Runtime, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';

const require = createRequire(import.meta.url);
const {
  FanOutQueryFunction,
  HashKeyRegistry,
  KeyLayout,
  OrderedProducerFunction,
  OrderedStreamConsumer,
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

const commits = new UniformStream(stack, 'Commits', { shardCount: 2 });
new OrderedProducerFunction(stack, 'CommitsProducer', { stream: commits });
const repositories = new TableV2(stack, 'Repositories', {
  partitionKey: { name: 'repository', type: AttributeType.STRING },
});
const handler = new NodejsFunction(stack, 'StoreCommits', {
  entry: 'scripts/tour-consumer.mjs',
  runtime: Runtime.NODEJS_24_X,
  timeout: Duration.seconds(30),
  environment: { REPOSITORIES_TABLE_NAME: repositories.tableName },
});
const startingPosition = StartingPosition.TRIM_HORIZON;
new OrderedStreamConsumer(stack, 'Consumer', { handler, stream: commits, startingPosition, consumerName: 'cache' });
stack.node.root.synth();
