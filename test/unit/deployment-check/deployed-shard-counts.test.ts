import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, CfnParameter, Stack, Stage } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { ShardCounts, ShardedTable } from '../../../lib';
import { deployInTurn, warningsOfChange } from '../../support/fakes/deploy-in-turn';
import { invoiceTable } from '../../support/fakes/invoice-table';

const DEPLOYED = 'even-shards:deployedAssembly';

describe('synthesis with the deployed template', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'even-shards-deployed-'));
  });

  function stackWith(shardCounts: ShardCounts, context: Record<string, unknown>): Stack {
    const stack = new Stack(new App({ outdir: folder, context }), 'Orders');
    orders(shardCounts)(stack);
    return stack;
  }

  const orders =
    (shardCounts: ShardCounts) =>
    (stack: Stack): void => {
      const table = new ShardedTable(stack, 'Table', { partitionKey: { name: 'orderId', type: AttributeType.STRING } });
      const valueAttribute = { name: 'status', type: AttributeType.STRING };
      table.addShardedIndex({ indexName: 'byStatus', valueAttribute, shardCounts });
    };
  const invoices =
    (shardCounts: ShardCounts) =>
    (stack: Stack): void => {
      invoiceTable(stack, { shardCounts });
    };

  const warningsAfter = (deployed: ShardCounts, next: ShardCounts): string[] =>
    warningsOfChange(orders(deployed), orders(next));
  const tableWarningsAfter = (deployed: ShardCounts, next: ShardCounts): string[] =>
    warningsOfChange(invoices(deployed), invoices(next));

  const uniform = ShardCounts.uniform;
  const byValue = ShardCounts.byValue;

  test('finds the template of a stack in a stage, and a downloaded template by the name of the stack', () => {
    const stageOf = (count: number, context: Record<string, unknown> = {}): Stack => {
      const stack = new Stack(new Stage(new App({ outdir: folder, context }), 'Prod'), 'Orders');
      const table = new ShardedTable(stack, 'Table', { partitionKey: { name: 'orderId', type: AttributeType.STRING } });
      table.addShardedIndex({ indexName: 'byTime', shardCounts: uniform(count) });
      return stack;
    };
    const warningsOf = (stack: Stack) => Annotations.fromStack(stack).findWarning('*', Match.anyValue());
    const template = Template.fromStack(stageOf(10));
    (stageOf(10).node.root as App).synth();
    expect(warningsOf(stageOf(20, { [DEPLOYED]: folder }))).toHaveLength(1);
    const fetched = join(folder, 'fetched');
    mkdirSync(fetched);
    expect(warningsOf(stageOf(20, { [DEPLOYED]: fetched }))).toEqual([]);
    writeFileSync(join(fetched, 'Prod-Orders.template.json'), JSON.stringify(template.toJSON()));
    expect(warningsOf(stageOf(20, { [DEPLOYED]: fetched }))).toHaveLength(1);
  });

  test('warns if adaptive counts become fixed, because synthesis does not know the current adaptive counts', () => {
    const [warning] = warningsAfter(ShardCounts.adaptive({ initial: 4 }), uniform(4));
    expect(warning).toContain(
      'queries of byStatus would miss items of values whose adaptive counts are above the fixed shardCounts',
    );
    expect(warning).toContain('adaptive-counts.md#back-to-fixed-counts');
  });

  test('does not warn if fixed counts become adaptive with the same initial counts', () => {
    expect(warningsAfter(uniform(4), ShardCounts.adaptive({ initial: 4 }))).toEqual([]);
    expect(
      warningsAfter(ShardCounts.adaptive({ initial: 4 }), ShardCounts.adaptive({ initial: 4, maximum: 9 })),
    ).toEqual([]);
  });

  test('warns if the initial counts of adaptive counts skip a step', () => {
    const [warning] = warningsAfter(ShardCounts.adaptive({ initial: 4 }), ShardCounts.adaptive({ initial: 2 }));
    expect(warning).toContain('ShardCounts.uniform(4) to ShardCounts.uniform(2) in one deployment');
  });

  test.each<[string, ShardCounts, ShardCounts, string]>([
    [
      'a count increases in one deployment',
      uniform(10),
      uniform(20),
      'ShardCounts.uniform(10) to ShardCounts.uniform(20) in one deployment: first deploy ' +
        'ShardCounts.uniform(10).alsoReading(ShardCounts.uniform(20))',
    ],
    [
      'a count decreases in one deployment',
      uniform(10),
      uniform(3),
      'ShardCounts.uniform(10) to ShardCounts.uniform(3) in one deployment: first deploy ' +
        'ShardCounts.uniform(3).alsoReading(ShardCounts.uniform(10))',
    ],
    [
      'the count of one value increases in one deployment',
      byValue({ failed: 2, pending: 5 }, 1),
      byValue({ failed: 9, pending: 5 }, 1),
      'deploy ShardCounts.byValue({"failed":2,"pending":5}, 1).alsoReading(ShardCounts.byValue({"failed":9,"pending":5}, 1))',
    ],
    [
      'readers have other counts than the next counts of writers',
      uniform(10).alsoReading(uniform(15)),
      uniform(20),
      'deploy ShardCounts.uniform(10).alsoReading(ShardCounts.uniform(20))',
    ],
  ])('warns if %s, and names the counts to deploy first', (_, deployed, next, advice) => {
    expect(warningsAfter(deployed, next)).toEqual([
      expect.stringMatching(/^queries of byStatus would miss items if its shardCounts changed from /),
    ]);
    expect(warningsAfter(deployed, next)[0]).toContain(advice);
  });

  test.each<[string, ShardCounts, ShardCounts]>([
    ['nothing changes', uniform(10), uniform(10)],
    ['readers change first', uniform(10), uniform(10).alsoReading(uniform(20))],
    ['writers follow', uniform(10).alsoReading(uniform(20)), uniform(20)],
    ['writers stop first', uniform(20), uniform(10).alsoReading(uniform(20))],
    ['readers follow after the drain', uniform(10).alsoReading(uniform(20)), uniform(10)],
  ])('does not warn if %s', (_, deployed, next) => {
    expect(warningsAfter(deployed, next)).toEqual([]);
  });

  test('does not warn if a count is a token', () => {
    const parameter = (stack: Stack) =>
      orders(uniform(new CfnParameter(stack, 'Count', { type: 'Number' }).valueAsNumber))(stack);
    expect(warningsOfChange(orders(uniform(10)), parameter)).toEqual([]);
    expect(warningsOfChange(parameter, orders(uniform(20)))).toEqual([]);
  });

  test('warns of a new index only that writers must be bound, and does not warn of a new stack', () => {
    const bare = (stack: Stack) => {
      new ShardedTable(stack, 'Table', { partitionKey: { name: 'orderId', type: AttributeType.STRING } });
    };
    expect(warningsOfChange(bare, orders(uniform(20)))).toEqual([
      expect.stringContaining('ShardedIndex.unboundWriters'),
    ]);
    Annotations.fromStack(stackWith(uniform(20), { [DEPLOYED]: folder })).hasNoWarning('*', Match.anyValue());
  });

  test.each(['/nowhere', 7])('rejects %s, which is not a folder', (notAFolder) => {
    expect(() => stackWith(uniform(1), { [DEPLOYED]: notAFolder })).toThrow(
      `context ${DEPLOYED} must be a folder with the deployed templates, got`,
    );
  });

  test('rejects a template that is not JSON', () => {
    writeFileSync(join(folder, 'Orders.template.json'), 'Resources:');
    const app = stackWith(uniform(1), { [DEPLOYED]: folder }).node.root as App;
    expect(() => app.synth()).toThrow(`context ${DEPLOYED} must be a folder whose templates are JSON objects`);
  });

  test.each<[string, ShardCounts, ShardCounts, string]>([
    ['increases', uniform(5), uniform(6), 'deploy ShardCounts.uniform(5).alsoReading(ShardCounts.uniform(6)).'],
    [
      'decreases',
      uniform(6),
      uniform(5),
      'changed from ShardCounts.uniform(6) to ShardCounts.uniform(5) in one deployment: first deploy ' +
        'ShardCounts.uniform(6).since(ShardCounts.uniform(5))',
    ],
    [
      'increases without since, which items of the earlier count need',
      uniform(5).alsoReading(uniform(6)),
      uniform(6),
      'deploy ShardCounts.uniform(6).since(ShardCounts.uniform(5))',
    ],
  ])('warns if the count of a KeyShardedTable %s in one deployment', (_, deployed, next, advice) => {
    expect(tableWarningsAfter(deployed, next)).toEqual([
      expect.stringMatching(
        /^readers would miss items, or writers would store items twice, .*KeyShardedTable.skippedStep\]$/,
      ),
    ]);
    expect(tableWarningsAfter(deployed, next)[0]).toContain(advice);
  });

  test('does not warn in any step of the plan for a KeyShardedTable', () => {
    const plan = [
      uniform(5),
      uniform(5).alsoReading(uniform(6)),
      uniform(6).since(uniform(5)),
      uniform(6),
      uniform(6).since(uniform(4)),
      uniform(4).since(uniform(6)),
      uniform(4),
    ];
    expect(deployInTurn(...plan.map(invoices)).flat()).toEqual([]);
  });
});
