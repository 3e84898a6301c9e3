import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import {
  CqlType,
  ShardCounts,
  ShardedKeyspacesTable,
  type ShardedKeyspacesTableProps,
  ShardingStrategy,
} from '../../../lib';
import { deployInTurn, warningsOfChange } from '../../support/fakes/deploy-in-turn';

const table =
  (changes: Partial<ShardedKeyspacesTableProps> = {}) =>
  (stack: Stack): void => {
    new ShardedKeyspacesTable(stack, 'Blogs', {
      keyspaceName: 'tracker',
      tableName: 'blogs',
      partitionKey: [{ name: 'publish_date', cqlType: CqlType.DATE }],
      clusteringColumns: [
        { name: 'title', cqlType: CqlType.TEXT },
        { name: 'author', cqlType: CqlType.TEXT },
      ],
      shardCounts: ShardCounts.uniform(20),
      ...changes,
    });
  };

describe('synthesis of a Keyspaces table with the deployed template', () => {
  test('writes the sharding into the metadata of the table, so that cdk diff shows a change', () => {
    const stack = new Stack();
    table()(stack);
    Template.fromStack(stack).hasResource('AWS::Cassandra::Table', {
      Metadata: {
        'EvenShards::KeyspacesSharding': {
          shards: { default: { write: 20, read: 20 } },
          firstShard: 0,
          strategy: 'calculated',
          calculatedFrom: ['title', 'author'],
        },
      },
    });
  });

  test('gives a warning for counts that skip a step, and no warning for the steps of the plan', () => {
    const counts = (shardCounts: ShardCounts) => table({ shardCounts });
    const [few, many] = [ShardCounts.uniform(20), ShardCounts.uniform(30)];
    const [text, ...others] = warningsOfChange(counts(few), counts(many));
    expect(text).toMatch(/^queries of the table would miss items .*ShardedKeyspacesTable.skippedStep\]$/);
    expect(text).toContain('first deploy ShardCounts.uniform(20).alsoReading(ShardCounts.uniform(30)).');
    expect(others).toEqual([]);
    expect(deployInTurn(counts(few), counts(few.alsoReading(many)), counts(many)).flat()).toEqual([]);
  });

  test.each<[Partial<ShardedKeyspacesTableProps>, string]>([
    [{ firstShard: 1 }, 'firstShard of the table would change from 0 to 1: readers would miss existing rows'],
    [
      { calculatedFrom: ['title'] },
      'calculatedFrom of the table would change from ["title","author"] to ["title"]: selectRow would not find',
    ],
    [
      { strategy: ShardingStrategy.RANDOM },
      'strategy of the table would change from "calculated" to "random": selectRow would not find',
    ],
  ])('gives a warning for %j', (changes, warning) => {
    expect(warningsOfChange(table(), table(changes))).toEqual([expect.stringContaining(warning)]);
  });

  test('gives no warning if calculatedFrom lists all clustering columns, as the default does', () => {
    expect(warningsOfChange(table(), table({ calculatedFrom: ['title', 'author'] }))).toEqual([]);
  });
});
