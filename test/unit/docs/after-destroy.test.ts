import { readFileSync } from 'node:fs';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import {
  CqlType,
  FanOutQueryFunction,
  HashKeyRegistry,
  OrderedProducerFunction,
  ShardCounts,
  ShardedKeyspacesTable,
  ShardedTable,
  ShardMonitoring,
  UniformStream,
} from '../../../lib';
import { LIST_PRICES } from '../../../lib/core/planning/list-prices';

const readme = readFileSync('README.md', 'utf8');
const section = readme.slice(readme.indexOf('### After `cdk destroy`'));
const rows = section.slice(0, section.indexOf('\n## ')).match(/^\| `AWS::[^|]+/gm) ?? [];

test('the README lists the resources that `cdk destroy` leaves behind', () => {
  const stack = new Stack(new App(), 'Left');
  const stream = new UniformStream(stack, 'Events', { shardCount: 8, deployedShardCount: 4 });
  stream.addReconciliation();
  const hashKeyRegistry = new HashKeyRegistry(stack, 'HashKeys', { stream });
  new OrderedProducerFunction(stack, 'Producer', { stream, hashKeyRegistry }).addFifoQueue('Queue');
  new ShardedKeyspacesTable(stack, 'Rows', {
    keyspaceName: 'keyspace',
    tableName: 'rows',
    partitionKey: [{ name: 'day', cqlType: CqlType.DATE }],
    clusteringColumns: [{ name: 'title', cqlType: CqlType.TEXT }],
    shardCounts: ShardCounts.uniform(4),
  });
  const table = new ShardedTable(stack, 'Table', { partitionKey: { name: 'id', type: AttributeType.STRING } });
  const index = table.addShardedIndex({
    indexName: 'byStatus',
    valueAttribute: { name: 'status', type: AttributeType.STRING },
    shardCounts: ShardCounts.uniform(4),
  });
  new FanOutQueryFunction(stack, 'Query', { indexes: [index] });
  new ShardMonitoring(stack, 'Monitoring').addStream(stream);

  const { Resources } = Template.fromStack(stack).toJSON();
  const retained = Object.values<{ Type: string; DeletionPolicy?: string }>(Resources)
    .filter(({ DeletionPolicy }) => DeletionPolicy?.startsWith('Retain'))
    .map(({ Type }) => Type);
  expect(new Set(rows.map((row) => /`([^`]+)`/.exec(row)![1]))).toEqual(new Set(retained));
});

test('the README gives the price of a shard that `cdk destroy` leaves behind', () => {
  expect(section).toContain(`$${(LIST_PRICES.shardHour * 730).toFixed(2)} a month for each shard`);
});
