import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { Client } from 'cassandra-driver';
import { Blogs } from '../../../examples/keyspaces-blogs/blogs';
import { BlogsStack } from '../../../examples/keyspaces-blogs/blogs-stack';
import type { ShardedKeyspacesConfig, StatementOptions } from '../../../lib/core';
import { FakeCassandra } from '../../support/fakes/fake-cassandra';

describe('examples/keyspaces-blogs', () => {
  const stack = new BlogsStack(new App(), 'Blogs');

  test('is a keyspace, a table and a function', () => {
    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::Cassandra::Keyspace', { KeyspaceName: 'tracker' });
    template.hasResourceProperties('AWS::Cassandra::Table', { TableName: 'blogs' });
    template.resourceCountIs('AWS::Lambda::Function', 1);
  });

  test('publishes blogs, finds one, and reads a day in order', async () => {
    const compare = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
    const table = new FakeCassandra({
      partitionKey: ['publish_date', 'shard'],
      clusteringColumns: [{ name: 'title', order: 'ASC', compare }],
    });
    const client = {
      async execute(query: string, parameters: unknown[], options: StatementOptions) {
        if (!query.startsWith('INSERT')) return table.execute(query, parameters, options);
        const [publish_date, shard, title, description] = parameters;
        table.insert({ publish_date, shard, title, description });
        return { rows: [] };
      },
    };
    const blogs = new Blogs(client as unknown as Client, configOf(stack));
    const publish_date = '2020-07-09';
    for (let number = 0; number < 60; number++) {
      await blogs.publish({ publish_date, title: `title ${String(number).padStart(2, '0')}`, description: number });
    }
    expect(await blogs.find(publish_date, 'title 07')).toEqual({ publish_date, title: 'title 07', description: 7 });
    const titles: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await blogs.ofDay(publish_date, cursor);
      titles.push(...page.rows.map(({ title }) => title));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(titles).toHaveLength(60);
    expect(titles).toEqual([...titles].sort());
  });
});

/** The keyspace's name is known when it is deployed. */
function configOf({ blogs }: BlogsStack): ShardedKeyspacesConfig {
  const parts: unknown[] = Stack.of(blogs).resolve(blogs.toConfigJson())['Fn::Join'][1];
  return JSON.parse(parts.map((part) => (typeof part === 'string' ? part : 'tracker')).join(''));
}
