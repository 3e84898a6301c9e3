import { Annotations, CfnOutput, CfnResource, NestedStack, type Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { ShardCounts, ShardedTable, UniformStream } from '../../../lib';
import { deployInTurn } from '../../support/fakes/deploy-in-turn';

const RENAMED = 'cdk-even-shards:Deployment.renamed';
const REMOVED = 'cdk-even-shards:Deployment.removed';

const table =
  (id: string) =>
  (scope: Stack): ShardedTable =>
    new ShardedTable(scope, id, { partitionKey: { name: 'orderId', type: AttributeType.STRING } });

function idsOf(...deployments: ((stack: Stack) => unknown)[]): [path: string, id: string][] {
  const warnings = deployInTurn(...deployments.map((define) => (stack: Stack) => void define(stack)))[1]!;
  return warnings.map(({ path, text }) => [path, /\[ack: (.*)\]$/.exec(text)![1]!]);
}

describe('synthesis after a deployment', () => {
  test('warns at the resource of a construct if its construct id has changed', () => {
    expect(idsOf(table('Orders'), table('Invoices'))).toEqual([['/Orders/Invoices/Resource', RENAMED]]);
  });

  test('warns of a removed resource at a construct path in its stack', () => {
    const [[path, id]] = idsOf(table('Jobs'), (stack) => new UniformStream(stack, 'Events', { shardCount: 1 })) as [
      [string, string],
    ];
    expect(path).toMatch(/^\/Orders\/Deployed\/Jobs[0-9A-F]{8}$/);
    expect(id).toBe(REMOVED);
  });

  test.each<[string, (stack: Stack) => void]>([
    ['the construct', (stack) => Annotations.of(table('Invoices')(stack)).acknowledgeWarning(RENAMED, 'it is empty')],
    [
      'its stack, before the construct exists',
      (stack) => {
        Annotations.of(stack).acknowledgeWarning(RENAMED, 'it is empty');
        table('Invoices')(stack);
      },
    ],
  ])('does not warn if the warning is acknowledged at %s', (_, acknowledging) => {
    expect(idsOf(table('Jobs'), acknowledging)).toEqual([]);
  });

  test('does not warn of a removed resource if the stack acknowledges the warning', () => {
    expect(
      idsOf(table('Jobs'), (stack) => {
        Annotations.of(stack).acknowledgeWarning(REMOVED, 'it stays in the account');
        new UniformStream(stack, 'Events', { shardCount: 1 });
      }),
    ).toEqual([]);
  });

  test('compares nested stacks and the references to them', () => {
    const nested = (indexNames: string[]) => (stack: Stack) => {
      const inside = new NestedStack(stack, 'Inside');
      const jobs = table('Jobs')(inside);
      for (const indexName of indexNames) jobs.addShardedIndex({ indexName, shardCounts: ShardCounts.uniform(2) });
      new CfnOutput(stack, 'TableName', { value: jobs.tableName });
    };
    expect(idsOf(nested([]), nested(['one', 'two']))).toEqual([
      ['/Orders/Inside/Jobs/Resource', 'cdk-even-shards:Deployment.severalIndexes'],
      ['/Orders/Inside/Jobs/Resource', 'cdk-even-shards:ShardedIndex.unboundWriters'],
      ['/Orders/Inside/Jobs/Resource', 'cdk-even-shards:ShardedIndex.unboundWriters'],
    ]);
  });

  test('names the parts of a template that it cannot compare', () => {
    const including = (stack: Stack) => {
      table('Jobs')(stack);
      stack.addTransform('AWS::Include');
      new CfnResource(stack, 'Topic', { type: 'AWS::SNS::Topic' }).addOverride('Metadata', 'text');
    };
    const warnings = deployInTurn(including, including)[1]!.map(({ text }) => text);
    const ending = 'is not compared with the deployed template';
    expect(warnings).toEqual([
      expect.stringContaining(`AWS::Include (Transform) ${ending}: only CloudFormation runs this macro`),
      expect.stringContaining(`Topic (AWS::SNS::Topic) ${ending}: Metadata must be an object`),
    ]);
  });
});
