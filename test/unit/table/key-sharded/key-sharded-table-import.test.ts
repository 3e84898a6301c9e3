import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import {
  FanOutQueryFunction,
  type IKeyShardedTable,
  KeyShardedTable,
  type KeyShardedTableAttributes,
  ShardCounts,
  ShardingStrategy,
} from '../../../../lib';
import { InvalidIndexConfigError } from '../../../../lib/core/sharded-index/config/sharded-index-errors';
import { invoices as invoicesOfSeed } from '../../../support/fakes/invoices';

const ENV = { account: '111111111111', region: 'eu-west-1' };

describe('an imported KeyShardedTable', () => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards', { env: ENV });
  });

  const imported = (options: Partial<KeyShardedTableAttributes> = {}) =>
    KeyShardedTable.fromKeyShardedTableAttributes({
      table: options.table ?? TableV2.fromTableName(stack, 'Invoices', 'invoices'),
      tableKey: ['InvoiceNumber', 'ClientTransactionId'],
      shardCounts: ShardCounts.uniform(5),
      separator: '-',
      firstShard: 1,
      ...options,
    });
  const configOf = (table: IKeyShardedTable) => JSON.parse(stack.resolve(table.toConfigJson()));

  test('has the configuration that its attributes describe', () => {
    expect(configOf(imported())).toEqual({ ...invoicesOfSeed, tableName: 'invoices' });
  });

  test('has the same configuration as in the app that defines the table', () => {
    const options = {
      shardCounts: ShardCounts.byValue({ '121212': 5 }, 1),
      valueAttribute: 'invoice',
      shardedBy: ['client'],
      strategy: ShardingStrategy.CALCULATED,
    };
    const created = new KeyShardedTable(stack, 'Created', {
      partitionKey: { name: 'InvoiceNumber', type: AttributeType.STRING },
      sortKey: { name: 'ClientTransactionId', type: AttributeType.STRING },
      separator: '-',
      firstShard: 1,
      ...options,
    });
    const text = stack
      .resolve(created.toConfigJson())
      ['Fn::Join'][1].map((part: unknown) => (typeof part === 'string' ? part : 'invoices'));
    expect(configOf(imported(options))).toEqual(JSON.parse(text.join('')));
  });

  test('has its construct id, or the given queryName, as its name in a query function', () => {
    const again = TableV2.fromTableName(stack, 'Other', 'other');
    new FanOutQueryFunction(stack, 'Query', { tables: [imported(), imported({ queryName: 'Again', table: again })] });
    const [query] = Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function'));
    const tables = JSON.parse(query!.Properties.Environment.Variables.EVEN_SHARDS_TABLES);
    expect(Object.keys(tables)).toEqual(['Again', 'Invoices']);
  });

  test('gives a warning for a grant to another account, because this grant needs the resource policy of the table', () => {
    imported().shardGrants.query(iam.Role.fromRoleArn(stack, 'Far', 'arn:aws:iam::222222222222:role/far'));
    Annotations.fromStack(stack).hasWarning(
      '*',
      Match.stringLikeRegexp('cannot allow dynamodb:Query on the table Invoices.*KeyShardedTable.grantWithoutEffect'),
    );
  });

  test('is rejected without a key', () => {
    expect(() => imported({ tableKey: [] })).toThrow(InvalidIndexConfigError);
    stack = new Stack(new App(), 'Again', { env: ENV });
    expect(() => imported({ tableKey: [] })).toThrow(
      'Invoices: sharding.config.tableKey must be the partition key and the sort key',
    );
  });

  test('is rejected if a table of this app has another key', () => {
    const table = new TableV2(stack, 'Own', { partitionKey: { name: 'PK', type: AttributeType.STRING } });
    expect(() => imported({ table })).toThrow(
      'EvenShards/Own: tableKey must be the key of the table: ["PK"], got ["InvoiceNumber","ClientTransactionId"]',
    );
  });

  test('is rejected if the partition key of a table of this app is not a string', () => {
    const table = new TableV2(stack, 'Own', {
      partitionKey: { name: 'InvoiceNumber', type: AttributeType.NUMBER },
      sortKey: { name: 'ClientTransactionId', type: AttributeType.STRING },
    });
    expect(() => imported({ table })).toThrow(InvalidIndexConfigError);
    expect(() => imported({ table })).toThrow('EvenShards/Own: partitionKey.type must be S (the partition key');
  });
});

describe('a KeyShardedTable with a replica', () => {
  const app = new App();
  const home = new Stack(app, 'Home', { env: ENV });
  const far = new Stack(app, 'Far', { env: { ...ENV, region: 'us-east-1' }, crossRegionReferences: true });
  const table = new KeyShardedTable(home, 'Invoices', {
    tableName: 'invoices',
    partitionKey: { name: 'invoice', type: AttributeType.STRING },
    sortKey: { name: 'transaction', type: AttributeType.STRING },
    shardCounts: ShardCounts.uniform(5),
    replicas: [{ region: 'us-east-1' }],
  });

  test('is queried in the region of its replica with permissions for the replica only', () => {
    new FanOutQueryFunction(far, 'Query', { tables: [table.onReplica('us-east-1')] });
    const ofReplica = ':dynamodb:us-east-1:111111111111:table/';
    Template.fromStack(far).hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          {
            Effect: 'Allow',
            Action: 'dynamodb:Query',
            Resource: {
              'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, ofReplica, Match.anyValue()]],
            },
          },
        ]),
      },
    });
    expect(table.onReplica('us-east-1')).toBe(table.onReplica('us-east-1'));
    expect(table.onReplica('eu-west-1')).toBe(table);
  });

  test('is rejected by onReplica for a region without a replica, and by a query function in another region', () => {
    expect(() => table.onReplica('ap-south-1')).toThrow('ap-south-1');
    expect(() => new FanOutQueryFunction(far, 'Wrong', { tables: [table] })).toThrow(
      'tables.Invoices must be a table of the account and region',
    );
  });
});

test('onReplica of an imported table returns the ARN of the replica', () => {
  const stack = new Stack(new App(), 'EvenShards', { env: ENV });
  const table = KeyShardedTable.fromKeyShardedTableAttributes({
    table: TableV2.fromTableName(stack, 'Invoices', 'invoices'),
    tableKey: ['invoice', 'transaction'],
    shardCounts: ShardCounts.uniform(5),
  });
  const { tableArn } = table.onReplica('us-east-1').table;
  expect(stack.resolve(tableArn)).toEqual({
    'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, ':dynamodb:us-east-1:111111111111:table/invoices']],
  });
  expect(table.onReplica('us-east-1').queryName).toBe('Invoices');
});
