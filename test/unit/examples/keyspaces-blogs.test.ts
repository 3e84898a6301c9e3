import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { Client } from 'cassandra-driver';
import { Blogs } from '../../../examples/keyspaces-blogs/blogs';
import { BlogsStack } from '../../../examples/keyspaces-blogs/blogs-stack';
import type { ShardedKeyspacesConfig, StatementOptions } from '../../../lib/core';
import { allPages } from '../../support/all-pages';
import { FakeCassandra } from '../../support/fakes/fake-cassandra';

describe('examples/keyspaces-blogs', () => {
  const stack = new BlogsStack(new App(), 'Blogs');

  test('has a keyspace, a table and a function', () => {
    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::Cassandra::Keyspace', { KeyspaceName: 'tracker' });
    template.hasResourceProperties('AWS::Cassandra::Table', { TableName: 'blogs' });
    template.resourceCountIs('AWS::Lambda::Function', 1);
  });

  describe('with the day 2020-07-09 of the AWS page "Write sharding"', () => {
    const publish_date = '2020-07-09';
    const TITLES = Array.from({ length: 60 }, (_, number) => `title ${String(number).padStart(2, '0')}`);
    const compare = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
    let table: FakeCassandra;
    let client: Client;

    beforeEach(() => {
      table = new FakeCassandra({
        partitionKey: ['publish_date', 'shard'],
        clusteringColumns: [{ name: 'title', order: 'ASC', compare }],
      });
      client = {
        async execute(query: string, parameters: unknown[], options: StatementOptions) {
          if (!query.startsWith('INSERT')) return table.execute(query, parameters, options);
          const [publish_date, shard, title, description] = parameters;
          table.insert({ publish_date, shard, title, description });
          return { rows: [] };
        },
      } as unknown as Client;
    });

    const publishAll = async (blogs: Blogs) => {
      for (const [description, title] of TITLES.entries()) await blogs.publish({ publish_date, title, description });
    };

    async function titlesOf(blogs: Blogs): Promise<string[]> {
      const pages = await allPages((cursor) => blogs.ofDay(publish_date, cursor));
      return pages.flatMap(({ rows }) => rows.map(({ title }) => title));
    }

    const queriedShards = () => new Set(table.sent.map(({ parameters }) => parameters[1]));

    test('"random values": a query for all rows of a day sends a SELECT for each key from (2020-07-09, 1) to (2020-07-09, 200)', async () => {
      const blogs = new Blogs(client, { ...configOf(stack), strategy: 'random' });
      await publishAll(blogs);
      expect(await titlesOf(blogs)).toEqual(TITLES);
      expect([...queriedShards()].sort((a, b) => Number(a) - Number(b))).toEqual(
        Array.from({ length: 200 }, (_, index) => index + 1),
      );
      await expect(blogs.find(publish_date, 'title 07')).rejects.toMatchObject({ field: 'config.strategy' });
    });

    test('"calculated values": one SELECT finds a row by its title, and a query for the whole day sends 200 SELECTs', async () => {
      const blogs = new Blogs(client, configOf(stack));
      await publishAll(blogs);
      expect(await blogs.find(publish_date, 'title 07')).toEqual({ publish_date, title: 'title 07', description: 7 });
      expect(table.sent).toHaveLength(1);
      expect(await titlesOf(blogs)).toEqual(TITLES);
      expect(queriedShards().size).toBe(200);
    });

    test('"the product of the code points": one SELECT finds a row in the shard that the page calculates', async () => {
      const blogs = new Blogs(client, { ...configOf(stack), strategy: 'product' });
      await publishAll(blogs);
      const product = [...'title 06'].reduce((all, character) => all * BigInt(character.codePointAt(0)!), 1n);
      expect(product % 200n).not.toBe(0n);
      expect(await blogs.find(publish_date, 'title 06')).toMatchObject({ description: 6 });
      expect(table.sent.map(({ parameters }) => parameters[1])).toEqual([Number(product % 200n) + 1]);
      expect(await titlesOf(blogs)).toEqual(TITLES);
    });
  });
});

/** The configuration with "tracker" instead of the token of the keyspace name. */
function configOf({ blogs }: BlogsStack): ShardedKeyspacesConfig {
  const parts: unknown[] = Stack.of(blogs).resolve(blogs.toConfigJson())['Fn::Join'][1];
  return JSON.parse(parts.map((part) => (typeof part === 'string' ? part : 'tracker')).join(''));
}
