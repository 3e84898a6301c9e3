import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import {
  type Attribute,
  AttributeType,
  Billing,
  Capacity,
  ContributorInsightsMode,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import {
  KeyLayout,
  ShardCounts,
  type ShardedIndexOptions,
  ShardedTable,
  type ShardedTableProps,
  ShardingStrategy,
} from '../../../lib';
import { InvalidShardCountError } from '../../../lib/core/kernel/errors';
import {
  InvalidIndexConfigError,
  InvalidIndexValueError,
} from '../../../lib/core/sharded-index/config/sharded-index-errors';

const string = (name: string): Attribute => ({ name, type: AttributeType.STRING });
const number = (name: string): Attribute => ({ name, type: AttributeType.NUMBER });
const shardCounts = ShardCounts.uniform(5);

describe('ShardedTable', () => {
  let stack: Stack;
  let table: ShardedTable;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
    table = new ShardedTable(stack, 'Jobs', { partitionKey: string('jobId') });
  });

  test('differs from a TableV2 in exactly the defaults that the docstring of its props lists', () => {
    new TableV2(stack, 'Plain', { partitionKey: string('jobId') });
    const [ours, plain] = Object.values(Template.fromStack(stack).findResources('AWS::DynamoDB::GlobalTable')).map(
      ({ Properties: { Replicas, ...others } }) => ({ ...others, ...Replicas[0] }),
    );
    const source = readFileSync(join(__dirname, '..', '..', '..', 'lib', 'table', 'sharded-table.ts'), 'utf8');
    const [docstring] = source.split('export interface ShardedTableProps');
    const listed = [...docstring!.matchAll(/^ \* - `(\w+)`:/gm)].map(([, name]) => name!.toLowerCase());

    const keys = new Set([...Object.keys(ours!), ...Object.keys(plain!)]);
    const different = [...keys].filter((key) => JSON.stringify(ours![key]) !== JSON.stringify(plain![key]));
    expect(different.map((key) => key.toLowerCase()).sort()).toEqual(listed.sort());
  });

  test.each<[string, Partial<ShardedTableProps>]>([
    [
      'the props',
      {
        pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: false },
        contributorInsightsSpecification: { enabled: false },
      },
    ],
    ['the deprecated props', { pointInTimeRecovery: false, contributorInsights: false }],
  ])('has no point-in-time recovery and no Contributor Insights if %s switch them off', (_, props) => {
    process.env.JSII_DEPRECATED ??= 'warn';
    const deprecations = jest.replaceProperty(process.env, 'JSII_DEPRECATED', 'quiet');
    const other = new Stack(new App(), 'Other');
    new ShardedTable(other, 'Jobs', { partitionKey: string('jobId'), ...props });
    deprecations.restore();

    Template.fromStack(other).hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [
        {
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false },
          ContributorInsightsSpecification: { Enabled: false, Mode: Match.absent() },
        },
      ],
    });
  });

  test('has the sharding of its indexes in its metadata, so that cdk diff shows a change', () => {
    const byStatus = {
      indexName: 'byStatus',
      valueAttribute: string('status'),
      sortKey: string('createdAt'),
      shardCounts: ShardCounts.byValue({ failed: 7 }, 2).alsoReading(ShardCounts.uniform(3)),
    };
    table.addShardedIndex(byStatus);

    Template.fromStack(stack).hasResource('AWS::DynamoDB::GlobalTable', {
      Metadata: {
        'EvenShards::ShardedIndexes': {
          byStatus: {
            keyLayout: 'multi-attribute',
            valueAttribute: 'status',
            shardAttribute: 'byStatusShard',
            sortKeyAttributes: ['createdAt'],
            shards: { default: { write: 2, read: 3 }, byValue: { failed: { write: 7, read: 7 } } },
            strategy: 'calculated',
          },
        },
      },
    });
  });

  test('passes the maximum units, the warm throughput and the Contributor Insights on to an index with on-demand billing', () => {
    table.addShardedIndex({
      indexName: 'byTime',
      shardCounts,
      maxReadRequestUnits: 100,
      maxWriteRequestUnits: 200,
      warmThroughput: { readUnitsPerSecond: 13_000, writeUnitsPerSecond: 5_000 },
      contributorInsightsSpecification: { enabled: false },
    });

    Template.fromStack(stack).hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      GlobalSecondaryIndexes: [
        {
          WarmThroughput: { ReadUnitsPerSecond: 13_000, WriteUnitsPerSecond: 5_000 },
          WriteOnDemandThroughputSettings: { MaxWriteRequestUnits: 200 },
        },
      ],
      Replicas: [
        {
          GlobalSecondaryIndexes: [
            {
              ContributorInsightsSpecification: { Enabled: false },
              ReadOnDemandThroughputSettings: { MaxReadRequestUnits: 100 },
            },
          ],
        },
      ],
    });
  });

  test('sets the Contributor Insights of one index, and keeps the Contributor Insights of other indexes and of replicas', () => {
    const other = new Stack(new App(), 'Other', { env: { account: '111111111111', region: 'eu-west-1' } });
    const global = new ShardedTable(other, 'Jobs', {
      partitionKey: string('jobId'),
      replicas: [{ region: 'us-east-1' }],
    });
    const mode = ContributorInsightsMode.ACCESSED_AND_THROTTLED_KEYS;
    const contributorInsightsSpecification = { enabled: true, mode };
    global.addShardedIndex({ indexName: 'byTime', shardCounts, contributorInsightsSpecification });
    global.addShardedIndex({ indexName: 'byAge', shardCounts, contributorInsightsSpecification: { enabled: false } });
    global.addShardedIndex({ indexName: 'byName', shardCounts });

    const throttled = { Enabled: true, Mode: 'THROTTLED_KEYS' };
    const insightsOf = (specifications: object[]) => ({
      GlobalSecondaryIndexes: ['byTime', 'byAge', 'byName'].map((IndexName, position) => ({
        IndexName,
        ContributorInsightsSpecification: specifications[position],
      })),
    });
    Template.fromStack(other).hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [
        { Region: 'us-east-1', ...insightsOf([throttled, throttled, throttled]) },
        {
          Region: 'eu-west-1',
          ...insightsOf([{ Enabled: true, Mode: 'ACCESSED_AND_THROTTLED_KEYS' }, { Enabled: false }, throttled]),
        },
      ],
    });
  });

  test('passes the capacity of an index on if the table is provisioned', () => {
    const other = new Stack(new App(), 'Other');
    const provisioned = new ShardedTable(other, 'Jobs', {
      partitionKey: string('jobId'),
      billing: Billing.provisioned({
        readCapacity: Capacity.fixed(10),
        writeCapacity: Capacity.autoscaled({ maxCapacity: 10 }),
      }),
    });
    provisioned.addShardedIndex({
      indexName: 'byTime',
      shardCounts,
      readCapacity: Capacity.fixed(20),
      writeCapacity: Capacity.autoscaled({ maxCapacity: 30 }),
    });

    Template.fromStack(other).hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      GlobalSecondaryIndexes: [
        {
          WriteProvisionedThroughputSettings: {
            WriteCapacityAutoScalingSettings: Match.objectLike({ MaxCapacity: 30 }),
          },
        },
      ],
      Replicas: [{ GlobalSecondaryIndexes: [{ ReadProvisionedThroughputSettings: { ReadCapacityUnits: 20 } }] }],
    });
  });

  test('accepts every property of a TableV2 index except the key', () => {
    const declared = (file: string, name: string) => {
      const [, body] = new RegExp(`interface ${name}\\b[^{]*\\{(.*?)\\n\\}`, 's').exec(readFileSync(file, 'utf8'))!;
      return [...body!.matchAll(/^ +readonly (\w+)\??:/gm)].map(([, property]) => property!);
    };
    const cdk = require.resolve('aws-cdk-lib/aws-dynamodb').replace(/index\.js$/, 'lib/table-v2.d.ts');
    const taken = declared(cdk, 'GlobalSecondaryIndexPropsV2');
    const key = ['partitionKey', 'sortKey', 'partitionKeys', 'sortKeys'];
    const ours = declared(
      join(__dirname, '..', '..', '..', 'lib', 'table', 'index', 'sharded-index-options.ts'),
      'ShardedIndexOptions',
    );
    expect(taken).toContain('warmThroughput');
    expect(ours).toEqual(expect.arrayContaining(taken.filter((property) => !key.includes(property))));
  });

  describe('addShardedIndex', () => {
    function expectIndex(keySchema: string[], ...attributes: string[]): void {
      Template.fromStack(stack).hasResourceProperties('AWS::DynamoDB::GlobalTable', {
        GlobalSecondaryIndexes: [
          {
            KeySchema: keySchema.map((key) => {
              const [AttributeName, KeyType] = key.split(' ');
              return { AttributeName, KeyType };
            }),
          },
        ],
        AttributeDefinitions: Match.arrayWith(
          attributes.map((attribute) => {
            const [AttributeName, AttributeType] = attribute.split(' ');
            return { AttributeName, AttributeType };
          }),
        ),
      });
    }

    test('in the multi-attribute layout, creates a partition key of the value and the shard', () => {
      table.addShardedIndex({
        indexName: 'byStatus',
        valueAttribute: string('status'),
        sortKey: string('createdAt'),
        tieBreakers: [number('priority'), string('jobId')],
        shardCounts,
      });

      expectIndex(
        ['status HASH', 'byStatusShard HASH', 'createdAt RANGE', 'priority RANGE', 'jobId RANGE'],
        'status S',
        'byStatusShard N',
      );
    });

    test('in the single-attribute layout, creates a partition key of one string that contains the value and the shard', () => {
      table.addShardedIndex({
        indexName: 'byStatus',
        valueAttribute: number('status'),
        sortKey: string('createdAt'),
        keyLayout: KeyLayout.SINGLE_ATTRIBUTE,
        shardCounts,
      });

      expectIndex(['byStatusShard HASH', 'createdAt RANGE'], 'byStatusShard S');
    });

    test('lets two indexes with the same sharding share a shard attribute', () => {
      const alike = { valueAttribute: string('status'), shardAttribute: 'statusShard', shardCounts };
      table.addShardedIndex({ indexName: 'byCreation', sortKey: string('createdAt'), ...alike });
      // One of the indexes states the default shard format.
      table.addShardedIndex({ indexName: 'byUpdate', sortKey: string('updatedAt'), ...alike, firstShard: 0 });

      Template.fromStack(stack).hasResourceProperties('AWS::DynamoDB::GlobalTable', {
        GlobalSecondaryIndexes: [{ IndexName: 'byCreation' }, { IndexName: 'byUpdate' }],
      });
    });

    test.each(['ab', 'a'.repeat(256), 'by/status', 'byStätus'])('rejects the index name "%s"', (indexName) => {
      const add = () => table.addShardedIndex({ indexName, shardCounts });

      expect(add).toThrow(InvalidIndexConfigError);
      expect(add).toThrow(
        'EvenShards/Jobs: indexName must be 3 to 255 characters of a-z, A-Z, 0-9, underscore, hyphen and dot, got "',
      );
    });

    const status = string('status');
    const createdAt = string('createdAt');
    const adding = (options: Partial<ShardedIndexOptions>) => () =>
      table.addShardedIndex({ indexName: 'byStatus', valueAttribute: status, shardCounts, ...options });
    test.each<[string, Partial<ShardedIndexOptions>, string]>([
      [
        'the strategy PRODUCT_OF_CODE_POINTS, which is for imported Keyspaces tables only',
        { strategy: ShardingStrategy.PRODUCT_OF_CODE_POINTS },
        'byStatus.strategy must be CALCULATED or RANDOM',
      ],
      [
        'the name of another index',
        { indexName: 'other' },
        'indexName must be different from the names of all other indexes of the table, got "other"',
      ],
      [
        'a binary value attribute',
        { valueAttribute: { name: 'status', type: AttributeType.BINARY } },
        'byStatus.valueAttribute.type must be S (string) or N (number), got "B"',
      ],
      [
        'tie-breakers without a sort key',
        { sortKey: undefined, tieBreakers: [number('priority')] },
        'byStatus.tieBreakers must be absent without a sort key, got [{"name":"priority","type":"N"}]',
      ],
      [
        'tie-breakers in the single-attribute layout',
        { tieBreakers: [number('priority')], keyLayout: KeyLayout.SINGLE_ATTRIBUTE },
        'byStatus.tieBreakers must be absent in the single-attribute layout (only KeyLayout.MULTI_ATTRIBUTE has tie-breakers), got [',
      ],
      [
        'more sort key attributes than DynamoDB allows',
        { tieBreakers: ['a', 'b', 'c', 'd'].map(string) },
        'byStatus.tieBreakers must be at most 3 attributes (DynamoDB allows 4 in a sort key), got [',
      ],
      [
        'an attribute that is in the key twice',
        { tieBreakers: [createdAt] },
        'byStatus.sortKey must be different from every other key attribute, got ["status","createdAt","createdAt"]',
      ],
      [
        'the same attribute as value attribute and sort key',
        { valueAttribute: createdAt },
        'byStatus.sortKey must be different from every other key attribute, got ["createdAt","createdAt"]',
      ],
      [
        'a shard attribute that is also the value attribute',
        { shardAttribute: 'status' },
        'byStatus.shardAttribute must be an attribute that is not part of the key of the table or of an index, got "status"',
      ],
      [
        'a value attribute without a name',
        { valueAttribute: { ...createdAt, name: '' } },
        'byStatus.valueAttribute.name must be a name of 1 to 255 bytes, got ""',
      ],
      [
        'a sort key with a name too long for a key',
        { sortKey: { ...createdAt, name: 's'.repeat(256) } },
        'byStatus.sortKey.name must be a name of 1 to 255 bytes, got "sss',
      ],
      [
        'a shard attribute without a name',
        { shardAttribute: '' },
        'byStatus.shardAttribute must be a name of 1 to 255 bytes, got ""',
      ],
      [
        'a shard attribute with a name too long for a key',
        { indexName: 'a'.repeat(255) },
        '.shardAttribute must be a name of 1 to 255 bytes, got "aaa',
      ],
      [
        'the shard attribute of an index that shards differently',
        { shardAttribute: 'otherShard', strategy: ShardingStrategy.RANDOM },
        'byStatus.shardAttribute must be another attribute than the shard attribute of other (two indexes may share it only with the same valueAttribute, keyLayout, fixed shardCounts, strategy and shard format), got "otherShard"',
      ],
      [
        'the shard attribute of an index with another shard format',
        { shardAttribute: 'otherShard', firstShard: 1 },
        'byStatus.shardAttribute must be another attribute than the shard attribute of other (two indexes may share it only with the same valueAttribute, keyLayout, fixed shardCounts, strategy and shard format), got "otherShard"',
      ],
      [
        'counts by value without a value attribute',
        { valueAttribute: undefined, shardCounts: ShardCounts.byValue({ failed: 2 }, 1) },
        'byStatus.shardCounts must be ShardCounts.uniform for an index without a valueAttribute (counts by value need a valueAttribute), got {',
      ],
    ])('rejects %s', (_, props, message) => {
      table.addShardedIndex({ indexName: 'other', valueAttribute: status, shardCounts });
      const add = adding({ sortKey: createdAt, ...props });

      expect(add).toThrow(InvalidIndexConfigError);
      expect(add).toThrow(`EvenShards/Jobs: ${message.startsWith('.') ? 'a'.repeat(255) : ''}${message}`);
    });

    test.each<[string, Partial<ShardedIndexOptions>, string]>([
      ['value', { valueAttribute: number('otherShard') }, 'valueAttribute'],
      ['sort key', { sortKey: number('otherShard') }, 'sortKey'],
      ['tie-breaker', { tieBreakers: [string('jobId'), number('otherShard')] }, 'tieBreakers'],
    ])('rejects a %s that is the shard attribute of another index', (_, props, property) => {
      table.addShardedIndex({ indexName: 'other', valueAttribute: status, shardCounts });
      const add = adding({ sortKey: createdAt, ...props });

      expect(add).toThrow(InvalidIndexConfigError);
      expect(add).toThrow(
        `EvenShards/Jobs: byStatus.${property} must be another attribute than the shard attribute of other, got "otherShard"`,
      );
    });

    test.each<[string, (attribute: Attribute) => void]>([
      ['value', (valueAttribute) => table.addShardedIndex({ indexName: 'other', valueAttribute, shardCounts })],
      ['sort key', (sortKey) => table.addShardedIndex({ indexName: 'other', sortKey, shardCounts })],
      [
        'tie-breaker',
        (tieBreaker) =>
          table.addShardedIndex({ indexName: 'other', sortKey: string('a'), tieBreakers: [tieBreaker], shardCounts }),
      ],
      [
        'partition key (without sharding)',
        (partitionKey) => table.addGlobalSecondaryIndex({ indexName: 'other', partitionKey }),
      ],
    ])('rejects a shard attribute that is the %s of another index', (_, addOther) => {
      addOther(number('createdAt'));
      expect(adding({ shardAttribute: 'createdAt' })).toThrow(
        'EvenShards/Jobs: byStatus.shardAttribute must be an attribute that is not part of the key of the table or of an index, got "createdAt"',
      );
    });

    test.each(['failed', '07', 'NaN', 'Infinity'])(
      'rejects a count for the value "%s" of a number attribute, because the value is not a finite number',
      (value) => {
        const add = adding({ valueAttribute: number('status'), shardCounts: ShardCounts.byValue({ [value]: 2 }, 1) });

        expect(add).toThrow(InvalidIndexValueError);
        expect(add).toThrow(
          `EvenShards/Jobs: byStatus.shardCounts.byValue must be a finite number as JavaScript writes it, such as "7" (the value attribute is a number), got "${value}"`,
        );
      },
    );

    test.each([undefined, null, 8, {}])('rejects %j instead of shard counts', (given) => {
      const add = adding({ shardCounts: given as never });

      expect(add).toThrow(InvalidShardCountError);
      expect(add).toThrow('EvenShards/Jobs: byStatus.shardCounts must be shard counts, such as ShardCounts.uniform(8)');
    });

    test('does not create a table of counts for an index that it rejects', () => {
      const adaptive = ShardCounts.adaptive();
      expect(() => table.addShardedIndex({ indexName: 'x', shardCounts: adaptive })).toThrow(InvalidIndexConfigError);

      Template.fromStack(stack).resourceCountIs('AWS::DynamoDB::GlobalTable', 1);
    });
  });
});
