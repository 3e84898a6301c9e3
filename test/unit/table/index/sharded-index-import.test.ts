import { App, CfnCondition, type CfnResource, Fn, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import {
  type Attribute,
  AttributeType,
  type GlobalSecondaryIndexPropsV2,
  type ITableV2,
  Table,
  type TableProps,
  type TablePropsV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import {
  type IShardedIndex,
  KeyLayout,
  ShardCounts,
  ShardedIndex,
  type ShardedIndexAttributes,
  ShardedTable,
  ShardingStrategy,
  ShardPlacement,
} from '../../../../lib';
import { checkShardedConfig } from '../../../../lib/core/sharded-index/config/check-sharded-config';
import type { ShardedIndexConfig } from '../../../../lib/core/sharded-index/config/sharded-index-config';
import { InvalidIndexConfigError } from '../../../../lib/core/sharded-index/config/sharded-index-errors';

const string = (name: string): Attribute => ({ name, type: AttributeType.STRING });
const number = (name: string): Attribute => ({ name, type: AttributeType.NUMBER });

type IndexKey = Pick<GlobalSecondaryIndexPropsV2, 'partitionKey' | 'partitionKeys' | 'sortKey' | 'sortKeys'>;

const TABLE_ARN = 'arn:aws:dynamodb:eu-west-1:111111111111:table/jobs';

describe('ShardedIndex.fromShardedIndexAttributes', () => {
  let stack: Stack;
  let table: ITableV2;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards', { env: { account: '111111111111', region: 'eu-west-1' } });
    table = TableV2.fromTableArn(stack, 'Jobs', TABLE_ARN);
  });

  function importIndex(attributes: Partial<ShardedIndexAttributes> = {}): IShardedIndex {
    return ShardedIndex.fromShardedIndexAttributes({
      table,
      tableKey: ['tenant', 'jobId'],
      indexName: 'byStatus',
      valueAttribute: string('status'),
      shardCounts: ShardCounts.uniform(10),
      ...attributes,
    });
  }

  function deployedConfig(index: IShardedIndex): ShardedIndexConfig {
    return JSON.parse(stack.resolve(index.toConfigJson()));
  }

  test('returns an index with its table, name and ARN, and adds nothing to the template', () => {
    const index = importIndex();

    expect(index.table).toBe(table);
    expect(index.indexName).toBe('byStatus');
    expect(index.indexArn).toBe(`${TABLE_ARN}/index/byStatus`);
    expect(Template.fromStack(stack).toJSON()).not.toHaveProperty('Resources');
  });

  test('returns a complete configuration, with default values', () => {
    const config = deployedConfig(importIndex());

    expect(config).toEqual({
      tableName: 'jobs',
      indexName: 'byStatus',
      tableKey: ['tenant', 'jobId'],
      keyLayout: 'multi-attribute',
      valueAttribute: 'status',
      shardAttribute: 'byStatusShard',
      sortKeyAttributes: [],
      shards: { default: { write: 10, read: 10 } },
      strategy: 'calculated',
    });
    expect(() => checkShardedConfig(config)).not.toThrow();
  });

  test('returns the same configuration as the index in the app that defines it', () => {
    const options = {
      indexName: 'byStatus',
      valueAttribute: string('status'),
      sortKey: string('createdAt'),
      tieBreakers: [number('priority')],
      shardCounts: ShardCounts.byValue({ succeeded: 35 }, 1),
      shardAttribute: 'statusShard',
      strategy: ShardingStrategy.RANDOM,
    };
    const owner = new Stack(stack.node.root as App, 'Owner');
    const owned = new ShardedTable(owner, 'Jobs', {
      tableName: 'jobs',
      partitionKey: string('tenant'),
      sortKey: string('jobId'),
    }).addShardedIndex(options);

    const imported = importIndex(options);
    expect(deployedConfig(imported)).toEqual({ ...owner.resolve(owned._config), tableName: 'jobs' });
  });

  test('returns the shard format of a table to which another application writes', () => {
    const shardFormat = { firstShard: 1, separator: '-', shardWidth: 2, shardPlacement: ShardPlacement.PREFIX };
    const config = deployedConfig(importIndex({ keyLayout: KeyLayout.SINGLE_ATTRIBUTE, ...shardFormat }));

    expect(config).toMatchObject(shardFormat);
    expect(() => checkShardedConfig(config)).not.toThrow();
  });

  describe.each([
    ['TableV2', (scope: Stack, props: TablePropsV2) => new TableV2(scope, 'Own', props)],
    ['Table', (scope: Stack, props: TablePropsV2) => new Table(scope, 'Own', props as TableProps)],
    ['ShardedTable', (scope: Stack, props: TablePropsV2) => new ShardedTable(scope, 'Own', props)],
  ])('of a %s of this app', (_, declare) => {
    let own: ReturnType<typeof declare>;
    beforeEach(() => {
      own = declare(stack, { partitionKey: string('tenant'), sortKey: string('jobId') });
    });

    test.each([[['tenant']], [['jobId', 'tenant']], [['tenant', 'id']]])('rejects the table key %j', (tableKey) => {
      const build = () => importIndex({ table: own, tableKey });
      expect(build).toThrow(InvalidIndexConfigError);
      expect(build).toThrow(
        `EvenShards/Own: byStatus.tableKey must be the key of the table: ["tenant","jobId"], got ${JSON.stringify(tableKey)}`,
      );
    });

    test.each([[[]], [['byTime', 'byType']]])('rejects at synthesis an index that is not one of %j', (others) => {
      importIndex({ table: own });
      // A local secondary index has no partitions of its own.
      own.addLocalSecondaryIndex({ indexName: 'byStatus', sortKey: string('status') });
      for (const indexName of others) own.addGlobalSecondaryIndex({ indexName, partitionKey: string(indexName) });
      expect(() => Template.fromStack(stack)).toThrow(
        `EvenShards/Own: indexName must be a global secondary index of the table: ${others.join(', ') || 'it has none'}, got "byStatus"`,
      );
    });

    test('accepts an index that is added to the table after the import', () => {
      const { indexArn } = importIndex({ table: own });
      own.addGlobalSecondaryIndex({
        indexName: 'byStatus',
        partitionKeys: [number('byStatusShard'), string('status')],
      });
      expect(() => Template.fromStack(stack)).not.toThrow();
      expect(stack.resolve(indexArn)).toEqual({ 'Fn::Join': ['', [stack.resolve(own.tableArn), '/index/byStatus']] });
    });

    const ofShard = { partitionKeys: [string('status'), number('byStatusShard')] };
    test.each<[string, Partial<ShardedIndexAttributes>, IndexKey, string]>([
      ['no shard', {}, { partitionKey: string('status') }, '{"partitionKey":["status S"],"sortKey":[]}'],
      [
        'the other key layout',
        { keyLayout: KeyLayout.SINGLE_ATTRIBUTE },
        ofShard,
        '{"partitionKey":["status S","byStatusShard N"],"sortKey":[]}',
      ],
      [
        'another type of the shard',
        {},
        { partitionKeys: [string('status'), string('byStatusShard')] },
        '{"partitionKey":["status S","byStatusShard S"],"sortKey":[]}',
      ],
      [
        'a sort key that the import lacks',
        {},
        { ...ofShard, sortKey: string('at') },
        '{"partitionKey":["status S","byStatusShard N"],"sortKey":["at S"]}',
      ],
      [
        'another order of the sort key',
        { sortKey: string('at'), tieBreakers: [string('id')] },
        { ...ofShard, sortKeys: [string('id'), string('at')] },
        '{"partitionKey":["status S","byStatusShard N"],"sortKey":["id S","at S"]}',
      ],
    ])('rejects at synthesis an index with %s', (_what, attributes, key, declared) => {
      importIndex({ table: own, ...attributes });
      own.addGlobalSecondaryIndex({ indexName: 'byStatus', ...key });
      expect(() => Template.fromStack(stack)).toThrow(
        `EvenShards/Own: byStatus.key must be the key of the index, which the table declares as ${declared}, got {"partitionKey":`,
      );
    });

    test('accepts indexes that are known only at deployment', () => {
      importIndex({ table: own });
      const resource = own.node.defaultChild as CfnResource;
      resource.addPropertyOverride(
        'GlobalSecondaryIndexes',
        Fn.conditionIf(new CfnCondition(stack, 'HasIndex').logicalId, [], []),
      );
      expect(() => Template.fromStack(stack)).not.toThrow();
    });
  });

  test.each([[[]], [['']], [['jobId', '']], [['jobId', 'jobId']], [['tenant', 'jobId', 'version']]])(
    'rejects the table key %j',
    (tableKey) => {
      expect(() => importIndex({ tableKey })).toThrow(InvalidIndexConfigError);
      expect(() => importIndex({ tableKey })).toThrow(
        'EvenShards/Jobs: byStatus.tableKey must be the name of the partition key, then the name of the sort key if the ' +
          `table has one, got ${JSON.stringify(tableKey)}`,
      );
    },
  );

  test.each<[string, Partial<ShardedIndexAttributes>, string]>([
    ['an invalid index name', { indexName: 'x' }, 'indexName must be 3 to 255 characters'],
    [
      'a shard attribute of the table key',
      { shardAttribute: 'jobId' },
      'byStatus.shardAttribute must be an attribute that is not part of the key',
    ],
    [
      'tie-breakers without a sort key',
      { tieBreakers: [string('priority')] },
      'byStatus.tieBreakers must be absent without a sort key',
    ],
  ])('rejects %s, as addShardedIndex does', (_, attributes, message) => {
    expect(() => importIndex(attributes)).toThrow(InvalidIndexConfigError);
    expect(() => importIndex(attributes)).toThrow(`EvenShards/Jobs: ${message}`);
  });
});
