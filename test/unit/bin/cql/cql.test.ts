import { readFileSync } from 'node:fs';
import { App, Stack } from 'aws-cdk-lib';
import { CfnKeyspace } from 'aws-cdk-lib/aws-cassandra';
import { cql } from '../../../../bin/cql';
import { BlogsStack } from '../../../../examples/keyspaces-blogs/blogs-stack';
import { CqlType, ShardCounts, ShardedKeyspacesTable } from '../../../../lib';
import { printed as printedBy } from '../../../support/command';

const printed = (app: App) => printedBy(cql, '--app', app.synth().directory);

test('even-shards cql prints the table of the guide: the rows of a day are spread over shards, and ordered by title', async () => {
  const app = new App();
  new BlogsStack(app, 'KeyspacesBlogs');
  const text = await printed(app);
  expect(text).toContain('\n  PRIMARY KEY ((publish_date, shard), title)\n) WITH CLUSTERING ORDER BY (title ASC);');
  const guide = readFileSync('docs/guides/keyspaces.md', 'utf8');
  expect(guide).toContain(`\`\`\`\n$ npx even-shards cql\n\n${text}\n\`\`\`\n`);
});

test('even-shards cql quotes names that need quotes, and generates the same names as CloudFormation', async () => {
  const app = new App();
  const stack = new Stack(app, 'Stack');
  const keyspace = new CfnKeyspace(stack, 'Keyspace');
  new ShardedKeyspacesTable(stack, 'Table', {
    keyspaceName: keyspace.ref,
    tableName: 'Events',
    partitionKey: [{ name: 'Day', cqlType: CqlType.DATE }],
    clusteringColumns: [{ name: 'order', cqlType: CqlType.INT }],
    shardCounts: ShardCounts.uniform(2),
  });
  const text = await printed(app);
  expect(text).toContain('PRIMARY KEY (("Day", shard), "order")');
  expect(text).toMatch(/CREATE TABLE IF NOT EXISTS "Stack_Keyspace_[0-9A-F]{12}"\."Events" \(/);
});

test('even-shards cql rejects an app without a table of Amazon Keyspaces', async () => {
  const app = new App();
  new Stack(app, 'Stack');
  await expect(printed(app)).rejects.toThrow(/has no table of Amazon Keyspaces/);
});
