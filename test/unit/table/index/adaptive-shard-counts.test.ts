import { App, Lazy, RemovalPolicies, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { type Attribute, AttributeType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Key } from 'aws-cdk-lib/aws-kms';
import {
  type AdaptiveShardCountsOptions,
  FanOutQueryFunction,
  type IShardedIndex,
  ShardCounts,
  ShardedIndex,
  ShardedTable,
  type ShardedTableProps,
} from '../../../../lib';
import { AdaptiveIndex } from '../../../../lib/core';
import { InvalidShardCountError } from '../../../../lib/core/kernel/errors';
import { invoiceTable } from '../../../support/fakes/invoice-table';
import { keyspacesTable, plainFunction, warningsOf } from '../../../support/minimal-constructs';

const string = (name: string): Attribute => ({ name, type: AttributeType.STRING });
const status = string('status');

describe('ShardCounts.adaptive', () => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards', { env: { account: '111111111111', region: 'eu-west-1' } });
  });

  const tableWith = (props: Partial<ShardedTableProps> = {}) =>
    new ShardedTable(stack, 'Orders', { partitionKey: string('orderId'), ...props });
  const indexOf = (table: ShardedTable, options: AdaptiveShardCountsOptions = {}, indexName = 'byStatus') =>
    table.addShardedIndex({ indexName, valueAttribute: status, shardCounts: ShardCounts.adaptive(options) });
  /** The configuration that a reader gets, with the text "known" instead of each token. */
  const configOf = (index: IShardedIndex) => {
    const text = stack.resolve(index.toConfigJson());
    if (typeof text === 'string') return JSON.parse(text);
    return JSON.parse(text['Fn::Join'][1].map((part: unknown) => (typeof part === 'string' ? part : 'known')).join(''));
  };
  const countTables = () =>
    Template.fromStack(stack).findResources('AWS::DynamoDB::GlobalTable', {
      Properties: { KeySchema: [{ AttributeName: 'index' }, { AttributeName: 'value' }].map(Match.objectLike) },
    });

  describe('an index', () => {
    test('starts with one shard for each value, and allows at most 64', () => {
      const config = configOf(indexOf(tableWith({ tableName: 'orders' })));
      expect(config).toMatchObject({
        version: 2,
        shards: { default: { write: 1, read: 1 } },
        adaptive: { tableName: expect.any(String), maximum: 64 },
      });
      expect(() => new AdaptiveIndex(config, { readCounts: async () => [] })).not.toThrow();
    });

    test('uses the initial counts and the maximum of the options', () => {
      const { shards, adaptive } = configOf(
        indexOf(tableWith(), { initial: 2, initialByValue: { open: 8 }, maximum: 100 }),
      );
      expect(shards).toEqual({ default: { write: 2, read: 2 }, byValue: { open: { write: 8, read: 8 } } });
      expect(adaptive.maximum).toBe(100);
    });

    test('shares one table of counts with the other indexes; this table is retained, and has deletion protection and point-in-time recovery', () => {
      const table = tableWith();
      const [byStatus, byState] = [indexOf(table), indexOf(table, {}, 'byState')];
      expect(byStatus.shardCountTable).toBe(byState.shardCountTable);
      const [counts, ...others] = Object.values(countTables());
      expect(others).toEqual([]);
      expect(counts).toMatchObject({
        DeletionPolicy: 'Retain',
        UpdateReplacePolicy: 'Retain',
        Properties: {
          BillingMode: 'PAY_PER_REQUEST',
          Replicas: [
            {
              DeletionProtectionEnabled: true,
              PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
            },
          ],
        },
      });
    });

    test('creates its table of counts with the encryption key and the removal policy of the sharded table', () => {
      const key = new Key(stack, 'Key');
      indexOf(
        tableWith({ encryption: TableEncryptionV2.customerManagedKey(key), removalPolicy: RemovalPolicy.DESTROY }),
      );
      const [counts] = Object.values(countTables());
      expect(counts).toMatchObject({
        DeletionPolicy: 'Delete',
        Properties: {
          SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
          Replicas: [{ DeletionProtectionEnabled: false }],
        },
      });
    });

    test('has a table of counts that is deleted if the stack has the removal policy DESTROY', () => {
      indexOf(tableWith());
      RemovalPolicies.of(stack).destroy();
      const [counts] = Object.values(countTables());
      expect(counts).toMatchObject({
        DeletionPolicy: 'Delete',
        Properties: { Replicas: [{ DeletionProtectionEnabled: false }] },
      });
    });

    test('uses the shardCountTable of its options', () => {
      const shardCountTable = TableV2.fromTableName(stack, 'Counts', 'counts');
      const index = tableWith().addShardedIndex({
        indexName: 'byStatus',
        shardCounts: ShardCounts.adaptive(),
        shardCountTable,
      });
      expect(configOf(index).adaptive).toEqual({ tableName: 'counts', maximum: 64 });
      expect(countTables()).toEqual({});
    });

    test('has no table of counts if its counts are fixed', () => {
      const index = tableWith().addShardedIndex({ indexName: 'byTime', shardCounts: ShardCounts.uniform(2) });
      expect(configOf(index)).not.toHaveProperty('version');
      expect(index.shardCountTable).toBeUndefined();
      expect(countTables()).toEqual({});
    });

    test('writes the maximum into the metadata of the table', () => {
      indexOf(tableWith(), { maximum: 10 });
      Template.fromStack(stack).hasResource('AWS::DynamoDB::GlobalTable', {
        Metadata: { 'EvenShards::ShardedIndexes': { byStatus: { adaptive: { maximum: 10 } } } },
      });
    });

    test('with alsoReading, keeps the write count and reads the larger count', () => {
      const counts = ShardCounts.adaptive({ initial: 4, maximum: 32 }).alsoReading(ShardCounts.uniform(8));
      const { shards, adaptive } = configOf(
        tableWith().addShardedIndex({ indexName: 'byStatus', valueAttribute: status, shardCounts: counts }),
      );
      expect(shards).toEqual({ default: { write: 4, read: 8 } });
      expect(adaptive.maximum).toBe(32);
    });
  });

  describe('invalid input', () => {
    test.each<[AdaptiveShardCountsOptions, string]>([
      [{ initial: 0 }, 'shardCounts.initial must be a whole number from 1 to 10000, got 0'],
      [{ initialByValue: { open: 1.5 } }, 'shardCounts.initialByValue["open"] must be a whole number'],
      [
        { maximum: 10_001 },
        'shardCounts.maximum must be a whole number from 1 to 10000 (a query reads every shard for each page), got 10001',
      ],
      [{ initial: 8, maximum: 4 }, 'shardCounts.maximum must be at least 8, the largest initial count, got 4'],
      [{ initialByValue: { open: 65 } }, 'shardCounts.maximum must be at least 65, the largest initial count, got 64'],
    ])('ShardCounts.adaptive rejects the options %j', (options, message) => {
      expect(() => ShardCounts.adaptive(options)).toThrow(InvalidShardCountError);
      expect(() => ShardCounts.adaptive(options)).toThrow(message);
    });

    const adaptive = { shardCounts: ShardCounts.adaptive() };
    const byTime = { indexName: 'byTime', shardCounts: ShardCounts.uniform(2) };
    const counts = (region = 'eu-west-1') =>
      TableV2.fromTableArn(stack, 'Counts', `arn:aws:dynamodb:${region}:111111111111:table/counts`);

    test.each<[string, () => unknown, string, string]>([
      [
        'adaptive counts of a KeyShardedTable',
        () => invoiceTable(stack, adaptive),
        'INVALID_INDEX_CONFIG',
        'shardCounts must be fixed (a new count changes the keys of items',
      ],
      [
        'adaptive counts of a ShardedKeyspacesTable',
        () => keyspacesTable(stack, adaptive),
        'INVALID_SHARD_COUNT',
        'shardCounts must be fixed (Amazon Keyspaces does not report',
      ],
      [
        'alsoReading of fixed counts with adaptive counts',
        () => ShardCounts.uniform(4).alsoReading(ShardCounts.adaptive()),
        'INVALID_SHARD_COUNT',
        'shardCounts must be fixed in both counts, or adaptive in both',
      ],
      [
        'an imported index with adaptive counts and no shardCountTable',
        () =>
          ShardedIndex.fromShardedIndexAttributes({
            table: TableV2.fromTableName(stack, 'Imported', 'orders'),
            tableKey: ['orderId'],
            indexName: 'byStatus',
            ...adaptive,
          }),
        'INVALID_INDEX_CONFIG',
        'byStatus.shardCountTable must be the table of counts of an index',
      ],
      [
        'a shardCountTable of an index with fixed counts',
        () => tableWith().addShardedIndex({ ...byTime, shardCountTable: counts() }),
        'INVALID_INDEX_CONFIG',
        'byTime.shardCountTable must be absent with fixed shardCounts',
      ],
      [
        'two indexes with adaptive counts and the same shard attribute',
        () => {
          const shared = { valueAttribute: status, shardAttribute: 'shard', ...adaptive };
          const table = tableWith();
          for (const indexName of ['byStatus', 'byState']) table.addShardedIndex({ indexName, ...shared });
        },
        'INVALID_INDEX_CONFIG',
        'byState.shardAttribute must be another attribute than the shard attribute of byStatus',
      ],
      [
        'onReplica of an index with adaptive counts',
        () => indexOf(tableWith({ replicas: [{ region: 'us-east-1' }] })).onReplica('us-east-1'),
        'INVALID_INDEX_CONFIG',
        'byStatus.shardCounts must be fixed for readers and writers in another',
      ],
      [
        'a reader in another Region than the shardCountTable',
        () => {
          const options = { ...byTime, ...adaptive, shardCountTable: counts('us-east-1') };
          return new FanOutQueryFunction(stack, 'Query', { indexes: [tableWith().addShardedIndex(options)] });
        },
        'INVALID_ARGUMENT',
        'the shardCountTable of an index',
      ],
      [
        'changeShardCounts of fixed counts',
        () => tableWith().addShardedIndex(byTime).grants.changeShardCounts(plainFunction(stack)),
        'INVALID_INDEX_CONFIG',
        'byTime.shardCounts must be ShardCounts.adaptive (only adaptive counts can change without a deployment)',
      ],
      ...[
        ['["index S"]', { partitionKey: string('index') }] as const,
        ['["value S","index S"]', { partitionKey: string('value'), sortKey: string('index') }] as const,
        [
          '["index S","value N"]',
          { partitionKey: string('index'), sortKey: { name: 'value', type: AttributeType.NUMBER } },
        ] as const,
      ].map(([declared, key]): [string, () => unknown, string, string] => [
        `a shardCountTable of this app with the key ${declared}`,
        () => {
          const shardCountTable = new TableV2(stack, 'Counts', key);
          return tableWith().addShardedIndex({ ...byTime, ...adaptive, shardCountTable });
        },
        'INVALID_INDEX_CONFIG',
        `byTime.shardCountTable must be a table with the key ["index S","value S"], got ${declared}`,
      ]),
    ])('rejects %s', (_, make, code, message) => {
      expect(make).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }));
    });
  });

  describe('expected traffic', () => {
    const expectedTraffic = { writesPerSecond: 5_000, shares: { succeeded: 70, failed: 29, pending: 1 } };
    const add = (maximum: number) => {
      const shardCounts = ShardCounts.adaptive({ maximum });
      tableWith().addShardedIndex({ indexName: 'byStatus', valueAttribute: status, shardCounts, expectedTraffic });
    };

    test('adds a warning with the maximum that the traffic needs', () => {
      add(20);
      expect(warningsOf(stack)).toEqual([
        expect.stringContaining('set its shardCounts to ShardCounts.adaptive with a maximum of 53'),
      ]);
    });

    test('adds no warning if the maximum is large enough for the traffic', () => {
      add(53);
      expect(warningsOf(stack)).toEqual([]);
    });
  });

  test('keeps tokens of the options in the configuration', () => {
    const token = Lazy.number({ produce: () => 7 });
    const index = indexOf(tableWith(), { initial: token, initialByValue: { open: token }, maximum: token });
    const { shards, adaptive } = configOf(index);
    expect([shards.default.read, shards.byValue.open.write, adaptive.maximum]).toEqual([7, 7, 7]);
  });
});
