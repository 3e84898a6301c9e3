import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { ShardCounts, ShardedTable } from '../../../lib';
import { planIndexReshard } from '../../../lib/core';
import { deployInTurn } from '../../support/fakes/deploy-in-turn';

const guide = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'guides', 'index-resharding.md'), 'utf8');
const oneLine = guide.replaceAll(/\s+/g, ' ');

/** Synthesizes each step of the guide, and compares the result with the text of the guide. */
describe('the guide to the shards of an index', () => {
  const orders =
    (shardCounts: ShardCounts) =>
    (stack: Stack): void => {
      const table = new ShardedTable(stack, 'Table', { partitionKey: { name: 'orderId', type: AttributeType.STRING } });
      const valueAttribute = { name: 'status', type: AttributeType.STRING };
      table.addShardedIndex({ indexName: 'byStatus', valueAttribute, shardCounts });
    };

  test('shows the steps of planIndexReshard', () => {
    const deployed = { default: { write: 1, read: 1 }, byValue: { pending: { write: 10, read: 10 } } };
    for (const step of planIndexReshard(deployed, { default: 1, byValue: { pending: 20 } })) {
      const { write, read } = (step as unknown as { shards: typeof deployed }).shards.byValue.pending;
      expect(guide).toContain(`// deploy { pending: { write: ${write}, read: ${read} } } ${step.reason}\n`);
    }
  });

  test.each([
    ['## Why one deployment', [10, 20]],
    ['## Fewer shards', [20, 10]],
  ])('has a table of deployments that give no warnings: %s', (heading, [from, to]) => {
    const section = guide.slice(guide.indexOf(heading)).split('\n## ')[0]!;
    const [writers, both] = [ShardCounts.uniform(to!), [from, to].sort().map((count) => ShardCounts.uniform(count!))];
    const first = both[0]!.alsoReading(both[1]!);
    expect(section).toContain('first deployment: `ShardCounts.uniform(10).alsoReading(ShardCounts.uniform(20))`');
    expect(deployInTurn(...[ShardCounts.uniform(from!), first, writers].map(orders)).flat()).toEqual([]);
  });

  test('quotes the warning of one deployment', () => {
    const [warning] = deployInTurn(orders(ShardCounts.uniform(10)), orders(ShardCounts.uniform(20))).flat();
    expect(oneLine).toContain(`WARNING ${warning!.text.split(' See ')[0]}`);
  });
});
