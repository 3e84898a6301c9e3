import { App, Stack, Token } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { KeyspacesFanOutQueryFunction, ShardCounts } from '../../../lib';
import { InvalidArgumentError } from '../../../lib/core';
import { keyspacesTable } from '../../support/minimal-constructs';

const tableOf = (stack: Stack, tableName: string, shardCounts = ShardCounts.uniform(10)) =>
  keyspacesTable(stack, { tableName, shardCounts }, tableName);

describe('KeyspacesFanOutQueryFunction', () => {
  test('has the configuration of its tables in its environment', () => {
    const stack = new Stack(new App(), 'Stack', { env: { account: '111111111111', region: 'eu-west-1' } });
    const tables = [tableOf(stack, 'posts'), tableOf(stack, 'blogs')];
    new KeyspacesFanOutQueryFunction(stack, 'Query', { tables });
    const [query] = Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function'));
    const configs = JSON.parse(query!.Properties.Environment.Variables.EVEN_SHARDS_TABLES);
    expect(Object.keys(configs)).toEqual(['blogs', 'posts']);
  });

  test('has the allowed values in its environment', () => {
    const stack = new Stack(new App(), 'Stack');
    const values = [{ day: '2020-07-09' }];
    new KeyspacesFanOutQueryFunction(stack, 'Query', { tables: [tableOf(stack, 'blogs')], values });
    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { EVEN_SHARDS_VALUES: '[{"day":"2020-07-09"}]' } },
    });
  });

  test.each<[unknown, string]>([
    [[], 'values must be a non-empty array'],
    [[{}], 'values[0] must be a non-empty array of different objects'],
    [[{ day: '2020-07-09' }, { day: '2020-07-09' }], 'values[1] must be a non-empty array of different objects'],
    [[{ tenant: 'a' }], 'values[0] must be made of columns of the partition key of one of the tables'],
    [[{ day: 'today' }], 'values[0].day must be'],
    [[{ day: Token.asString({ Ref: 'Day' }) }], 'values[0][day] must be values, known at synthesis'],
  ])('rejects the allowed values %j', (values, message) => {
    const stack = new Stack(new App(), 'Stack');
    const tables = [tableOf(stack, 'blogs')];
    const construct = () => new KeyspacesFanOutQueryFunction(stack, 'Query', { tables, values: values as [] });
    expect(construct).toThrow(`Stack/Query: ${message}`);
  });

  test('rejects an empty list of tables, tables of another region, two tables with the same name, and a configuration of more than 4,096 bytes', () => {
    const stack = new Stack(new App(), 'Stack');
    const blogs = tableOf(stack, 'blogs');
    expect(() => new KeyspacesFanOutQueryFunction(stack, 'None', { tables: [] })).toThrow('at least one sharded table');
    const stackIn = (region: string) => new Stack(new App(), 'Far', { env: { account: '111111111111', region } });
    const far = stackIn('us-east-1');
    const near = tableOf(stackIn('eu-west-1'), 'near');
    expect(() => new KeyspacesFanOutQueryFunction(far, 'Near', { tables: [near] })).toThrow(
      'Far/Near: tables.near must be a table of the account and region aws://111111111111/us-east-1',
    );
    expect(() => new KeyspacesFanOutQueryFunction(stack, 'Twice', { tables: [blogs, blogs] })).toThrow(
      InvalidArgumentError,
    );

    const counts = Object.fromEntries(Array.from({ length: 200 }, (_, year) => [`${1_800 + year}-01-01`, 5]));
    const large = tableOf(stack, 'large', ShardCounts.byValue(counts, 1));
    new KeyspacesFanOutQueryFunction(stack, 'Large', { tables: [large] });
    expect(() => Template.fromStack(stack)).toThrow("Lambda's limit for environment variables (divide the tables");
  });
});
