import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { type Attribute, AttributeType, MultiRegionConsistency } from 'aws-cdk-lib/aws-dynamodb';
import {
  FanOutQueryFunction,
  KeyShardedTable,
  ShardCounts,
  ShardedTable,
  ShardingStrategy,
  ShardPlacement,
} from '../../../../lib';
import { checkShardedConfig } from '../../../../lib/core/sharded-index/config/check-sharded-config';
import type { ShardedTableConfig } from '../../../../lib/core/sharded-index/config/sharded-index-config';
import { InvalidIndexConfigError } from '../../../../lib/core/sharded-index/config/sharded-index-errors';
import { invoices as invoicesOfSeed } from '../../../support/fakes/invoices';

const string = (name: string): Attribute => ({ name, type: AttributeType.STRING });

describe('KeyShardedTable', () => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
  });

  const invoiceProps = {
    partitionKey: string('InvoiceNumber'),
    sortKey: string('ClientTransactionId'),
    shardCounts: ShardCounts.uniform(5),
  };
  const invoices = (props: object = {}) => new KeyShardedTable(stack, 'Invoices', { ...invoiceProps, ...props });

  function configOf(table: KeyShardedTable): ShardedTableConfig {
    const [separator, parts] = stack.resolve(table.toConfigJson())['Fn::Join'];
    return JSON.parse(parts.map((part: unknown) => (typeof part === 'string' ? part : 'invoices')).join(separator));
  }

  test('rejects missing shard counts', () => {
    expect(() => invoices({ shardCounts: undefined })).toThrow(
      'EvenShards/Invoices: shardCounts must be shard counts, such as ShardCounts.uniform(8)',
    );
  });

  const grown = ShardCounts.uniform(6).since(ShardCounts.uniform(5));
  test.each<[string, object, object]>([
    [
      'the shard format of another writer',
      { separator: '-', firstShard: 1 },
      { ...invoicesOfSeed, tableName: 'invoices' },
    ],
    [
      'the separator # and the first shard 0 by default, and the strategy RANDOM',
      { strategy: ShardingStrategy.RANDOM },
      { separator: '#', firstShard: 0, strategy: 'random', shardedBy: [] },
    ],
    [
      'a width and a placement of the shard',
      { shardWidth: 2, shardPlacement: ShardPlacement.PREFIX },
      { shardWidth: 2, shardPlacement: 'prefix' },
    ],
    ['an earlier count', { shardCounts: grown }, { shards: { default: { write: 6, read: 6, since: 5 } } }],
  ])('emits a configuration that the core accepts: %s', (_, props, expected) => {
    const config = configOf(invoices(props));
    expect(config).toMatchObject(expected);
    expect(() => checkShardedConfig(config)).not.toThrow();
  });

  test.each<[string, object, string]>([
    [
      'a partition key of type number',
      { partitionKey: { name: 'no', type: AttributeType.NUMBER } },
      'partitionKey.type',
    ],
    ['no sort key', { sortKey: undefined }, 'sharding.config.tableKey must be the partition key and the sort key'],
    [
      'the strategy PRODUCT_OF_CODE_POINTS, which is for imported Keyspaces tables only',
      { strategy: ShardingStrategy.PRODUCT_OF_CODE_POINTS },
      'strategy must be CALCULATED or RANDOM',
    ],
  ])('rejects %s', (_, props, message) => {
    expect(() => invoices(props)).toThrow(InvalidIndexConfigError);
    stack = new Stack(new App(), 'Again');
    expect(() => invoices(props)).toThrow(message);
  });

  describe('with multi-Region strong consistency, which rejects transactions', () => {
    const strong = {
      multiRegionConsistency: MultiRegionConsistency.STRONG,
      replicas: [{ region: 'us-east-2' }],
      witnessRegion: 'us-west-2',
    };
    beforeEach(() => {
      stack = new Stack(new App(), 'Global', { env: { account: '111111111111', region: 'us-east-1' } });
    });

    test.each<[string, object]>([
      ['changing counts', { shardCounts: grown }],
      ['changing counts of a value', { shardCounts: ShardCounts.byValue({ a: 6 }, 5).since(ShardCounts.uniform(5)) }],
    ])('rejects %s', (_, props) => {
      expect(() => invoices({ ...strong, ...props })).toThrow('shardCounts must be counts that are not changing');
    });

    test.each<[string, object]>([
      ['counts that do not change', {}],
      ['random shards', { shardCounts: grown, strategy: ShardingStrategy.RANDOM }],
    ])('accepts %s, and warns that the counts cannot change', (_, props) => {
      invoices({ ...strong, ...props });
      const warning = Match.stringLikeRegexp('rejects transactions.*the shard counts of this table cannot change');
      Annotations.fromStack(stack).hasWarning('/Global/Invoices', warning);
    });
  });

  test('addShardedIndex rejects shard counts with since', () => {
    const table = new ShardedTable(stack, 'Jobs', { partitionKey: string('jobId') });
    expect(() => table.addShardedIndex({ indexName: 'byTime', shardCounts: grown })).toThrow(
      'byTime.shardCounts must be counts without since',
    );
  });

  test('has its construct id as its name in a query function', () => {
    new FanOutQueryFunction(stack, 'Query', { tables: [invoices()] });
    const [query] = Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function'));
    expect(JSON.stringify(query!.Properties.Environment.Variables.EVEN_SHARDS_TABLES)).toContain('{\\"Invoices\\":{');
  });

  test('a query function is rejected if it has no index and no table, or two tables with the same name', () => {
    expect(() => new FanOutQueryFunction(stack, 'None', {})).toThrow('at least one sharded index or table');
    const other = new Stack(stack, 'Nested');
    const tables = [invoices(), new KeyShardedTable(other, 'Invoices', invoiceProps)];
    expect(() => new FanOutQueryFunction(stack, 'Two', { tables })).toThrow('tables with different names');
  });
});
