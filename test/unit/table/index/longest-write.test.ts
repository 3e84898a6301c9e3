import { App, Aspects, CfnParameter, Duration, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { FanOutQueryFunction, ShardCounts, ShardedIndex, ShardedTable } from '../../../../lib';
import { checkShardedConfig } from '../../../../lib/core/sharded-index/config/check-sharded-config';
import { SHARDED_INDEXES } from '../../../../lib/deployment-check/sharding-metadata';
import { warningsOfChange } from '../../../support/fakes/deploy-in-turn';
import { plainFunction } from '../../../support/minimal-constructs';

const text = (name: string) => ({ name, type: AttributeType.STRING });

function addFunction(stack: Stack, id: string, seconds?: number): lambda.Function {
  return plainFunction(stack, id, seconds === undefined ? {} : { timeout: Duration.seconds(seconds) });
}

function addIndex(stack: Stack): ShardedIndex {
  const table = new ShardedTable(stack, 'Orders', { partitionKey: text('orderId') });
  return table.addShardedIndex({
    indexName: 'byStatus',
    valueAttribute: text('status'),
    shardCounts: ShardCounts.adaptive({ initial: 1, maximum: 8 }),
  });
}

describe('the longest write in the configuration of an index', () => {
  let app: App;
  let stack: Stack;
  let byStatus: ShardedIndex;
  beforeEach(() => {
    app = new App();
    stack = new Stack(app, 'Shop', { env: { account: '111111111111', region: 'eu-west-1' } });
    byStatus = addIndex(stack);
  });

  /** The longest write in the metadata of the table. Checks that the configurations of the functions have the same value. */
  function longestWrite(): number | undefined {
    const template = Template.fromStack(stack);
    const tables = Object.values(template.findResources('AWS::DynamoDB::GlobalTable'));
    const [{ Metadata }] = tables.filter((table) => table.Metadata?.[SHARDED_INDEXES] !== undefined) as [
      { Metadata: Record<string, { byStatus: { longestWriteSeconds?: number } }> },
    ];
    const { longestWriteSeconds } = Metadata[SHARDED_INDEXES]!.byStatus;
    const json = JSON.stringify(stack.resolve(byStatus.toConfigJson()));
    expect(json.includes('longestWriteSeconds')).toBe(longestWriteSeconds !== undefined);
    if (longestWriteSeconds !== undefined) expect(json).toContain(`longestWriteSeconds\\":${longestWriteSeconds}`);
    return longestWriteSeconds;
  }

  test.each<[string, (add: (seconds?: number) => lambda.Function) => unknown, number | undefined]>([
    [
      'the longest timeout of several writers',
      (add) => [30, 5_400, undefined].map((seconds) => byStatus.bindWriter(add(seconds))),
      5_400,
    ],
    ['the default timeout of a Lambda function for a writer without a timeout', (add) => byStatus.bindWriter(add()), 3],
    ['the timeout of a function of the app with grants.write', (add) => byStatus.grants.write(add(45)), 45],
    [
      'the timeout of a reader beside a writer, because the reader may also have write permissions',
      (add) => [byStatus.bindWriter(add(3)), byStatus.bindReader(add(900))],
      900,
    ],
    ['absent for a reader without a writer', (add) => byStatus.bindReader(add(10)), undefined],
  ])('is %s', (_, bind, seconds) => {
    let functions = 0;
    bind((timeout) => addFunction(stack, `Function${functions++}`, timeout));
    expect(longestWrite()).toBe(seconds);
  });

  test('bindWriter – other functions already have the configuration – changes the configuration of all functions', () => {
    const first = addFunction(stack, 'First', 10);
    byStatus.bindWriter(first);
    byStatus.bindReader(first, { environmentVariable: 'AGAIN' });
    new FanOutQueryFunction(stack, 'Query', { indexes: [byStatus] });
    byStatus.bindWriter(addFunction(stack, 'Second', 20));
    expect(longestWrite()).toBe(20);
    const functions = Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function'));
    const environments = functions.map(({ Properties }) => JSON.stringify(Properties.Environment));
    expect(environments).toHaveLength(3);
    expect(environments.every((environment) => /longestWriteSeconds\W+:20/.test(environment))).toBe(true);
  });

  test.each<[string, (writer: lambda.CfnFunction) => void]>([
    [
      'as a property',
      (writer) => {
        writer.timeout = 900;
      },
    ],
    ['as an override', (writer) => writer.addPropertyOverride('Timeout', 900)],
    [
      'by an aspect',
      (writer) =>
        Aspects.of(writer).add({
          visit: (node) => {
            (node as lambda.CfnFunction).timeout = 900;
          },
        }),
    ],
  ])('bindWriter – the timeout of the function changes later, %s – writes the new timeout', (_, change) => {
    const writer = addFunction(stack, 'Writer', 10);
    byStatus.bindWriter(writer);
    change(writer.node.defaultChild as lambda.CfnFunction);
    expect(longestWrite()).toBe(900);
  });

  test('bindWriter – a function in another stack – includes the timeout of the function, and adds no reference between the stacks', () => {
    const other = new Stack(app, 'Other', { env: { account: '111111111111', region: 'eu-west-1' } });
    byStatus.bindWriter(addFunction(other, 'Writer', 120));
    expect(longestWrite()).toBe(120);
    Template.fromStack(stack);
    expect(stack.dependencies).toEqual([]);
  });

  test.each<[string, (writer: lambda.Function) => iam.IGrantable]>([
    ['a role', () => new iam.Role(stack, 'Role', { assumedBy: new iam.ServicePrincipal('ecs-tasks.amazonaws.com') })],
    ['the role of a function', (writer) => writer.role!],
    ['a version, which keeps the timeout that it was published with', (writer) => writer.currentVersion],
    ['an alias, which can point to an earlier version', (writer) => writer.addAlias('live')],
    [
      'an imported function',
      () =>
        lambda.Function.fromFunctionAttributes(stack, 'Imported', {
          functionArn: 'arn:aws:lambda:eu-west-1:111111111111:function:imported',
          role: iam.Role.fromRoleArn(stack, 'ImportedRole', 'arn:aws:iam::111111111111:role/imported'),
        }),
    ],
  ])('grants.write – %s – omits the longest write, so that decreaseShardCount waits 90 minutes', (_, granteeOf) => {
    const writer = addFunction(stack, 'Writer', 10);
    byStatus.bindWriter(writer);
    byStatus.grants.write(granteeOf(writer));
    expect(longestWrite()).toBeUndefined();
  });

  test('bindWriter – a timeout that is a token – omits the longest write', () => {
    const timeout = new CfnParameter(stack, 'Timeout', { type: 'Number' }).valueAsNumber;
    byStatus.bindWriter(addFunction(stack, 'Writer', 10));
    const writer = addFunction(stack, 'Unknown');
    (writer.node.defaultChild as lambda.CfnFunction).timeout = timeout;
    byStatus.bindWriter(writer);
    expect(longestWrite()).toBeUndefined();
  });

  test('fromShardedIndexAttributes – any index – omits the longest write, because other apps can have writers', () => {
    const imported = ShardedIndex.fromShardedIndexAttributes({
      ...{ table: byStatus.table, tableKey: ['orderId'], indexName: 'byTime' },
      shardCounts: ShardCounts.uniform(2),
    });
    imported.bindWriter(addFunction(stack, 'Writer', 10));
    expect(JSON.stringify(stack.resolve(imported.toConfigJson()))).not.toContain('longestWriteSeconds');
  });

  test('onReplica – a writer in another region – includes the timeout of the writer in the configuration of every region', () => {
    const table = new ShardedTable(stack, 'Global', { partitionKey: text('id'), replicas: [{ region: 'us-east-1' }] });
    const byTime = table.addShardedIndex({ indexName: 'byTime', shardCounts: ShardCounts.uniform(2) });
    const abroad = new Stack(app, 'Abroad', { env: { account: '111111111111', region: 'us-east-1' } });
    byTime.onReplica('us-east-1').bindWriter(addFunction(abroad, 'Writer', 77));
    expect(JSON.stringify(stack.resolve(byTime.toConfigJson()))).toContain('longestWriteSeconds\\":77');
  });

  test('a configuration – with a longest write – is accepted by readers and writers', () => {
    byStatus.bindWriter(addFunction(stack, 'Writer', 10));
    const { version: _, adaptive: __, ...config } = stack.resolve(byStatus._config);
    expect(() => checkShardedConfig({ ...config, tableName: 'Orders' })).not.toThrow();
  });

  test.each([
    [5_400, 3],
    [3, 5_400],
    [undefined, 30],
    [30, undefined],
  ])(
    'a deployment – the longest write changes from %p to %p – is compatible, so synthesis gives no warning',
    (deployed, next) => {
      const withWriter = (seconds: number | undefined) => (of: Stack) => {
        const index = addIndex(of);
        if (seconds !== undefined) index.bindWriter(addFunction(of, 'Writer', seconds));
      };
      expect(warningsOfChange(withWriter(deployed), withWriter(next))).toEqual([]);
    },
  );
});

describe('the option sparse of an index', () => {
  const settings = { indexName: 'byStatus', valueAttribute: text('status'), shardCounts: ShardCounts.uniform(2) };
  const add = (stack: Stack, more: object) =>
    new ShardedTable(stack, 'Orders', { partitionKey: text('orderId') }).addShardedIndex({ ...settings, ...more });

  test.each([
    [true, true],
    [false, undefined],
    [undefined, undefined],
  ])('addShardedIndex – the option sparse is %p – the configuration has sparse: %p', (sparse, expected) => {
    expect(add(new Stack(), { sortKey: text('createdAt'), sparse })._config.sparse).toBe(expected);
  });

  test('addShardedIndex – the option sparse, but no sort key – throws', () => {
    expect(() => add(new Stack(), { sparse: true })).toThrow(
      'byStatus.sparse must be absent without a sort key (the index contains every item that has a shard), got true',
    );
  });

  test.each([
    [true, undefined],
    [undefined, true],
  ])('a deployment – sparse changes from %p to %p – is compatible, so synthesis gives no warning', (deployed, next) => {
    const withSparse = (sparse?: boolean) => (stack: Stack) =>
      void add(stack, { sortKey: text('createdAt'), ...(sparse && { sparse }) });
    expect(warningsOfChange(withSparse(deployed), withSparse(next))).toEqual([]);
  });
});
