import { App, Stack, Token } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { FanOutQueryFunction, ShardCounts, ShardedIndex, ShardedTable } from '../../../../lib';
import { InvalidArgumentError } from '../../../../lib/core/kernel/errors';

const jobId = { name: 'jobId', type: AttributeType.STRING };
const status = { name: 'status', type: AttributeType.STRING };

describe('FanOutQueryFunction', () => {
  let stack: Stack;
  let table: ShardedTable;
  let byStatus: ShardedIndex;
  let byTime: ShardedIndex;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
    table = new ShardedTable(stack, 'Jobs', { partitionKey: jobId });
    byStatus = table.addShardedIndex({
      indexName: 'byStatus',
      valueAttribute: status,
      shardCounts: ShardCounts.uniform(10),
    });
    byTime = table.addShardedIndex({ indexName: 'byTime', shardCounts: ShardCounts.uniform(5) });
  });

  test('has the configuration of each index, by the name of the index, in its environment', () => {
    new FanOutQueryFunction(stack, 'Query', { indexes: [byStatus, byTime] });

    const [query] = Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function'));
    const [separator, parts] = query!.Properties.Environment.Variables.EVEN_SHARDS_INDEXES['Fn::Join'];
    expect(parts[1]).toEqual(stack.resolve(table.tableName));
    const indexes = JSON.parse(
      parts.map((part: unknown) => (typeof part === 'string' ? part : 'jobs')).join(separator),
    );
    expect(Object.keys(indexes)).toEqual(['byStatus', 'byTime']);
    expect(indexes.byStatus).toMatchObject({ tableName: 'jobs', indexName: 'byStatus', valueAttribute: 'status' });
    expect(indexes.byTime).toMatchObject({ tableName: 'jobs', indexName: 'byTime' });
  });

  test('rejects two indexes with the same name', () => {
    const other = new ShardedTable(stack, 'Events', { partitionKey: jobId });
    const sameName = other.addShardedIndex({ indexName: 'byTime', shardCounts: ShardCounts.uniform(2) });
    const construct = (id: string) => () => new FanOutQueryFunction(stack, id, { indexes: [byTime, sameName] });

    expect(construct('Query')).toThrow(
      'EvenShards/Query: indexes must be sharded indexes with different names ' +
        '(use one function for each table if names repeat), got ["byTime","byTime"]',
    );
    expect(construct('Again')).toThrow(InvalidArgumentError);
  });

  describe('the allowed values', () => {
    const construct = (values: unknown, indexes = [byStatus]) =>
      new FanOutQueryFunction(stack, 'Query', { indexes, values: values as string[] });

    test('are in the environment of the function', () => {
      construct(['a', 1, 'a#b', '1']);
      const template = Template.fromStack(stack);
      template.hasResourceProperties('AWS::Lambda::Function', {
        Environment: { Variables: { EVEN_SHARDS_VALUES: '["a",1,"a#b","1"]' } },
      });
    });

    test('are absent from the environment if the function allows any value', () => {
      construct(undefined);
      const [query] = Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function'));
      expect(query!.Properties.Environment.Variables).not.toHaveProperty('EVEN_SHARDS_VALUES');
    });

    test.each<[unknown, string]>([
      [[], 'values must be a non-empty array of different values'],
      ['a', 'values must be a non-empty array'],
      [[''], 'values[0] must be'],
      [['a', 'a'], 'values[1] must be'],
      [[1, 1], 'values[1] must be'],
      [['a', null], 'values[1] must be'],
      [['a', { N: '1' }], 'values[1] must be'],
      [[Number.NaN], 'values[0] must be'],
      [[2 ** 53], 'values[0] must be'],
      [[Token.asString({ Ref: 'Tenant' })], 'values[0] must be values, known at synthesis'],
      [[Token.asNumber({ Ref: 'Tenant' })], 'values[0] must be values, known at synthesis'],
      [[`tenant-${Token.asString({ Ref: 'Tenant' })}`], 'values[0] must be values, known at synthesis'],
      [['{{resolve:ssm:/tenant}}'], 'values must be a value known at synthesis, without a dynamic reference'],
      [Token.asList({ Ref: 'Tenants' }), 'values must be values, known at synthesis'],
    ])('are rejected if they are %j', (values, message) => {
      expect(() => construct(values)).toThrow(`EvenShards/Query: ${message}`);
      expect(
        () => new FanOutQueryFunction(stack, 'Again', { indexes: [byStatus], values: values as string[] }),
      ).toThrow(InvalidArgumentError);
    });

    test('cannot be given for an index that covers the whole table', () => {
      expect(() => construct(['a'], [byStatus, byTime])).toThrow(
        'EvenShards/Query: values must be absent because index byTime covers the whole table, got ["a"]',
      );
    });

    test('fail synthesis if they are longer than 4,096 bytes', () => {
      construct(Array.from({ length: 500 }, (_, tenant) => `tenant-${tenant}`));
      expect(() => Template.fromStack(stack)).toThrow(
        /at most 4096 bytes of configuration, .*divide the indexes or the values among several functions/,
      );
    });
  });

  test('fails at synthesis if the configuration is too long for the environment of a Lambda function', () => {
    const counts = Object.fromEntries(Array.from({ length: 150 }, (_, tenant) => [`tenant-${tenant}`, 2]));
    const byTenant = table.addShardedIndex({
      indexName: 'byTenant',
      valueAttribute: { name: 'tenant', type: AttributeType.STRING },
      shardCounts: ShardCounts.byValue(counts, 1),
    });
    new FanOutQueryFunction(stack, 'Query', { indexes: [byTenant] });

    expect(() => Template.fromStack(stack)).toThrow(
      /EvenShards\/Query: indexes must be at most 4096 bytes of configuration, Lambda's limit for environment variables \(divide the indexes among several functions, or set shard counts for fewer values\), got "\d{4} bytes"$/,
    );
  });

  test.each([
    [3_000, true],
    [4_000, false],
  ])('includes the variables of the user in the size of the environment: %d bytes', (bytes, fits) => {
    new FanOutQueryFunction(stack, 'Query', { indexes: [byStatus], environment: { OWN: 'x'.repeat(bytes) } });

    const synthesis = expect(() => Template.fromStack(stack));
    if (fits) synthesis.not.toThrow();
    else synthesis.toThrow('indexes must be at most 4096 bytes');
  });

  test.each([
    ['jobs', true],
    ['j'.repeat(255), false],
  ])('includes the name of the table in the size of the environment: %s', (tableName, fits) => {
    const counts = Object.fromEntries(Array.from({ length: 110 }, (_, tenant) => [`tenant-${tenant}`, 2]));
    const byTenant = ShardedIndex.fromShardedIndexAttributes({
      table: TableV2.fromTableName(stack, 'Table', tableName),
      tableKey: ['jobId'],
      indexName: 'byTenant',
      valueAttribute: { name: 'tenant', type: AttributeType.STRING },
      shardCounts: ShardCounts.byValue(counts, 1),
    });
    new FanOutQueryFunction(stack, 'Query', { indexes: [byTenant] });

    const synthesis = expect(() => Template.fromStack(stack));
    if (fits) synthesis.not.toThrow();
    else synthesis.toThrow('indexes must be at most 4096 bytes');
  });

  test('can query an index of another stack', () => {
    const other = new Stack(stack.node.root as App, 'Other');
    new FanOutQueryFunction(other, 'Query', { indexes: [byStatus] });

    const functions = Template.fromStack(other).findResources('AWS::Lambda::Function');
    const [query] = Object.values(functions);
    expect(query!.Properties.Environment.Variables.EVEN_SHARDS_INDEXES['Fn::Join'][1]).toContainEqual({
      'Fn::ImportValue': expect.stringMatching(/^EvenShards:ExportsOutputRefJobs/),
    });
  });
});
